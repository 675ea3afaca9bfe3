// Settlement batches that came after a revision of a day's workbook was written, which is signed
// without them. Neighbours: core/runs/closingChecklist.ts (the words), shownDay.ts (who signs).

import type { LateBatches } from '../core/runs/closingChecklist.js';
import type { SinceClosed } from '../core/runs/sinceClosed.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Batches that are named. */
const NAMED_MAX = 5;

/** Lines whose money is summed: somebody waits for it. */
const LINES_MAX = 50_000;

/** Of one day of one account. */
interface LateOfDay extends LateBatches {
  accountId: string;
  businessDate: string;
  /** of a closed day: since the revision that it was closed on was written */
  changes: SinceClosed['changes'];
}

/** A day that is not among them has none. */
export async function lateBatches(
  db: Db,
  accountIds: readonly string[],
  dates: readonly string[],
): Promise<LateOfDay[]> {
  const values = [accountIds, dates, NAMED_MAX, LINES_MAX];
  return (await db.query<LateOfDay>(statement('days/lateBatches'), values)).rows;
}
