// Numbers of rows go on behind those that are there: a logical replica that was promoted has the
// rows of its database, and its sequences begin anew.

import type { Db } from '../db.js';

/** Which tables' numbers had fallen behind and go on now; none, nearly always. */
export async function bringNumbersForward(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ moved: string[] }>(
    'select tieout.bring_numbers_forward() as moved',
  );
  return rows[0]?.moved ?? [];
}
