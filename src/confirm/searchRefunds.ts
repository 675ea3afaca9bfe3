// Asks the gateway about refunds that are unknown, where the profile says how (searchRefund). The
// document shows neither what to ask with nor what is answered, so the two ids go out that every
// operation knows, and what comes back is kept for a person to read: it moves no state (law 2 of
// ARCHITECTURE.md). A search that fails is no failure of the run.

import { refundsToSearch, storeEvidence } from '../instructions/refundEvidenceStore.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import type { SendDeps } from '../send/deps.js';

export type SearchDeps = Pick<SendDeps, 'config' | 'db' | 'gateway' | 'log'>;

/** So many a run; unknown refunds are few, and each search is a connection of its own. */
const SEARCHES_MAX = 50;

export async function searchRefunds(deps: SearchDeps, run: Run): Promise<void> {
  if (run.isDry || deps.config.gateway.profile.operations.searchRefund === null) return;
  const refunds = await refundsToSearch(deps.db, run.runId, accountIdsOf(run), SEARCHES_MAX);
  for (const refund of refunds) {
    const account = run.accounts.find((one) => one.accountId === refund.accountId);
    if (account === undefined) continue;
    const answer = await deps.gateway.searchRefund(account, {
      transaction_id: refund.transactionId,
      order_no: refund.orderNo,
    });
    await storeEvidence(deps.db, refund.instructionId, run.runId, {
      outcome: answer.kind,
      reason: answer.kind === 'answered' ? null : answer.reason,
      httpStatus: answer.kind === 'answered' ? answer.status : null,
      body: answer.kind === 'answered' ? answer.body : null,
    });
  }
  if (refunds.length > 0) {
    const count = refunds.length;
    deps.log(
      `searched for ${count} unknown refund(s); \`tieout instructions show\` has the answers`,
    );
  }
}
