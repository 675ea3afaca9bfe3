// The key of this database with which the rows of its workbooks are sealed, so that what comes back
// can be told from what somebody altered. It never leaves the program. Neighbours:
// core/decisions/rowBinding.ts seals, src/decide reads what came back.

import type { Db } from '../database/db.js';

/** In hexadecimal. */
export async function workbookKey(db: Db): Promise<string> {
  const { rows } = await db.query<{ secret: string }>('select secret from tieout.workbook_key');
  const [key] = rows;
  if (key === undefined) throw new Error('the database has no key for its workbooks');
  return key.secret;
}
