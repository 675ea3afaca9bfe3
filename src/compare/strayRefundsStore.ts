// Rows that nothing is done about: refunds whose order the ledger lacks or whose account nobody
// configured, which are breaks, and payouts and orders of such accounts. Read off the ledger as it
// stands.
// Neighbours: compare/compare.ts, total/total.ts.

import type { StrangeAccountFacts, StrangeOrdersFacts } from '../core/runs/strangeOrders.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../pull/snapshot/snapshotsStore.js';

/** In which books such requests stand: an account that nobody configured has some, too. */
interface StrayBooks {
  accounts: readonly AccountRules[];
  unconfigured: readonly string[];
  lookbackFrom: Date;
}

export async function updateStrayRefunds(
  db: Db,
  runId: bigint,
  { accounts, unconfigured, lookbackFrom }: StrayBooks,
  now: Date,
): Promise<void> {
  const strange = unconfigured.map((account_id) => {
    return { account_id, live_from: lookbackFrom, is_strange: true };
  });
  const books = JSON.stringify([...accounts, ...strange]);
  await db.query(statement('compare/strayRefunds'), [runId, books, now]);
}

/** Accounts that nobody configured and of which the ledger asks for refunds. */
export async function strangeRefunds(
  db: Db,
  configured: readonly string[],
  lookbackFrom: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(statement('compare/strangeRefunds'), [
    configured,
    lookbackFrom,
  ]);
  return rows.map((row) => row.account_id);
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

/** By account, orders that no run looks at. */
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
