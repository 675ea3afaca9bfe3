// What the planner knows of a table is counted anew, also where another role owns it: ANALYZE
// passes over the tables of others with no more than a warning, and the night would be planned by
// what an empty table told. Neighbour: migrations/0340_database_roles.sql, which says who owns.

import type { Db } from './db.js';
import { columnList, named, type Quoted } from './identifiers.js';

/** Tables of a session are its own; all others are the owner's. */
const TEMPORARY = /^"?pg_temp/;

/** Counts these columns anew; of a table that is not a session's own all, where none is named. */
export async function analyse(
  db: Db,
  relation: Quoted,
  columns: readonly string[] = [],
): Promise<void> {
  if (TEMPORARY.test(String(relation))) {
    await db.query(named`analyze ${relation} (${columnList(columns)})`);
  } else {
    await db.query('select tieout.analyse($1, $2)', [String(relation), columns]);
  }
}
