// Refunds that nothing is done about, which are breaks: their order is not in the ledger, or nobody
// configured their account. Read off the ledger as it stands. Neighbours: compare.ts,
// ledger/strangeOrdersStore.ts (what else such accounts have).

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';

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

/** Those of them of which such a break is not over: most of what is asked may be done. */
export async function withStrayRefunds(db: Db, accountIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from tieout.breaks
     where kind = 'refund_without_order' and state <> 'resolved' and account_id = any ($1)`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}
