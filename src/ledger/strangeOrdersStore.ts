// What the ledger has of accounts that nobody configured: requests and orders that no run looks at.
// Read only; neighbour: core/runs/strangeOrders.ts has the words.

import type { StrangeAccountFacts, StrangeOrdersFacts } from '../core/runs/strangeOrders.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** By account, requests for money that no run looks at. */
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
  }>(statement('ledger/strangeAccounts'), [configured, lookbackFrom]);
  return rows.map(({ account_id: accountId, kind, requests, sample }) => {
    return { accountId, kind, requests: Number(requests), sample };
  });
}

/** By account, orders that no run looks at; of an account in `left` that is told with the rest. */
export async function strangeOrders(
  db: Db,
  configured: readonly string[],
  left: readonly { accountId: string }[],
  lookbackFrom: Date,
): Promise<StrangeOrdersFacts[]> {
  const { rows } = await db.query<{ account_id: string; orders: bigint; sample: string }>(
    statement('ledger/strangeOrders'),
    [[...configured, ...left.map(({ accountId }) => accountId)], lookbackFrom],
  );
  return rows.map(({ account_id: accountId, orders, sample }) => {
    return { accountId, orders: Number(orders), sample };
  });
}
