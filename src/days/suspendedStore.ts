// Refunds in suspense at the end of a business day, by the orders that they are of: who signs looks
// at them. Neighbours: daysStore.ts counts them, shownDay.ts shows them to who signs.

import type { ClosingFacts } from '../core/runs/closingChecklist.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Orders that are named. */
const NAMED_MAX = 20;

/** By account; of one that has none nothing is asked. */
export async function suspendedOrders(
  db: Db,
  facts: ReadonlyMap<string, Pick<ClosingFacts, 'suspense'>>,
  date: string,
): Promise<Map<string, string[]>> {
  const accountIds = [...facts].flatMap(([id, { suspense }]) => (suspense > 0 ? [id] : []));
  if (accountIds.length === 0) return new Map();
  const { rows } = await db.query<{ accountId: string; orderNos: string[] }>(
    statement('days/suspended'),
    [accountIds, date, NAMED_MAX],
  );
  return new Map(rows.map(({ accountId, orderNos }) => [accountId, orderNos]));
}
