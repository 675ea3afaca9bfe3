// Rows that nothing is done about: refunds whose order the ledger lacks, which are breaks, and
// requests and orders of accounts that are not configured. Read off the ledger as it stands.
// Neighbours: compare/compare.ts, total/total.ts.

import type { StrangeAccountFacts } from '../core/runs/notices.js';
import type { StrangeOrdersFacts } from '../core/runs/strangeOrders.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../pull/rows/pullsStore.js';

export async function updateStrayRefunds(
  db: Db,
  runId: bigint,
  accounts: readonly AccountRules[],
  now: Date,
): Promise<void> {
  await db.query(statement('compare/strayRefunds'), [runId, JSON.stringify(accounts), now]);
}

export async function strangeAccounts(
  db: Db,
  configured: readonly string[],
  lookbackFrom: Date,
): Promise<StrangeAccountFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    kind: 'refund' | 'payout';
    requests: bigint;
    sample: string;
  }>(statement('compare/strangeAccounts'), [configured, lookbackFrom]);
  return rows.map(({ account_id: accountId, kind, requests, sample }) => {
    return { accountId, kind, requests: Number(requests), sample };
  });
}

/** By account, orders that no night looks at. */
export async function strangeOrders(
  db: Db,
  configured: readonly string[],
  lookbackFrom: Date,
): Promise<StrangeOrdersFacts[]> {
  const { rows } = await db.query<{ account_id: string; orders: bigint; sample: string }>(
    statement('compare/strangeOrders'),
    [configured, lookbackFrom],
  );
  return rows.map(({ account_id: accountId, orders, sample }) => {
    return { accountId, orders: Number(orders), sample };
  });
}
