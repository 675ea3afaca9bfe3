// The books of accounts that left the configuration while money of theirs was not settled, apart
// from those of the configured accounts. Neighbours: movements/leftMoneyStore.ts says which, and
// settlementWords.ts has the words.

import type { Db } from '../database/db.js';
import { leftMoney } from '../movements/leftMoneyStore.js';
import type { SettlementRules } from './settlement.js';
import type { OldestOpen, SettlementDocument } from './settlementStore.js';
import { oldestOpen, settlementFigures } from './settlementStore.js';

export interface LeftBooks {
  readonly accounts: SettlementDocument['accounts'];
  readonly oldest: readonly OldestOpen[];
}

/** `accountIds` are those of the configuration. */
export async function leftBooks(
  db: Db,
  { settings: settlement, times }: SettlementRules,
  accountIds: readonly string[],
): Promise<LeftBooks> {
  const left = await leftMoney(db, { settlement }, accountIds);
  if (left.length === 0) return { accounts: [], oldest: [] };
  // Nobody looks at them, so that nothing of it is called overdue or in time.
  const settled = left.map(({ accountId }) => {
    return { account_id: accountId, due_until: null, seen_until: null };
  });
  const { accounts } = await settlementFigures(db, settled, times);
  return { accounts, oldest: await oldestOpen(db, settled) };
}
