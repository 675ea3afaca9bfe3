// How many rows each table of the program holds: to see that a command left no trace.

import type { Database } from '../../src/database/db.js';

/** Requests that were really made count against the limit, whoever made them. */
const NOT_A_TRACE = ['rate_buckets'];

export async function rowCounts(db: Database): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('tieout', 'ledger') and tablename <> all ($1)
       -- the whole counts what its partitions hold, and an empty one is no trace
       and not exists (select from pg_inherits
         where inhrelid = format('%I.%I', schemaname, tablename)::regclass)
     order by 1`,
    [NOT_A_TRACE],
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const found = await db.query<{ count: bigint }>(`select count(*) as count from ${name}`);
    counts[name] = Number(found.rows[0]?.count ?? 0n);
  }
  return counts;
}
