// Requests that nothing is done about: refunds whose order the ledger lacks, which are breaks, and
// requests of accounts that are not configured. Both are read off the ledger as it stands.
// Neighbours: compare/compare.ts, total/total.ts.

import type { StrangeAccountFacts } from '../core/runs/notices.js';
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
