// The books of accounts that left the configuration while something of theirs was open, apart from
// those of the configured accounts: money that is not settled, and lines of the acquirer that
// settle nothing. Neighbour: settlementWords.ts has the words; movements/leftMoneyStore.ts says
// what of it each night tells.

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import { unconfiguredAccounts } from '../runs/leftAccountsStore.js';
import type { SettlementRules } from './settlement.js';
import type { OldestOpen, SettlementDocument } from './settlementStore.js';
import { oldestOpen, settlementFigures } from './settlementStore.js';

type Books = SettlementDocument['accounts'][number];

export interface LeftBooks {
  readonly accounts: readonly Books[];
  readonly oldest: readonly OldestOpen[];
}

/** `accountIds` are those of the configuration. */
export async function leftBooks(
  db: Db,
  { times }: SettlementRules,
  accountIds: readonly string[],
): Promise<LeftBooks> {
  const settled = await leftOpen(db, accountIds);
  if (settled.length === 0) return { accounts: [], oldest: [] };
  const { accounts: found } = await settlementFigures(db, settled, times);
  const accounts = found.filter(isOpen);
  const ids = new Set(accounts.map(({ accountId }) => accountId));
  const oldest = await oldestOpen(db, settled);
  return { accounts, oldest: oldest.filter(({ accountId }) => ids.has(accountId)) };
}

/** Nobody looks at them, so that nothing of it is called overdue or in time. */
async function leftOpen(db: Db, accountIds: readonly string[]) {
  const left = await unconfiguredAccounts(db, accountIds);
  if (left.length === 0) return [];
  const { rows } = await db.query<{ account_id: string }>(statement('settlement/leftOpen'), [left]);
  return rows.map(({ account_id }) => ({ account_id, due_until: null, seen_until: null }));
}

function isOpen({ atGateway, movements }: Books): boolean {
  if (movements.open > 0 || movements.differs > 0) return true;
  return atGateway.some(({ closing, suspense }) => suspense > 0 || /[1-9]/.test(closing));
}
