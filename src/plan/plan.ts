// Step 3, plan: what waits needlessly is withdrawn; what the verdicts need becomes an instruction,
// planned or held with its reason. At most one an order and run; whole sets, one statement each.

import { historyReason } from '../core/instructions/freeing/freeingChange.js';
import type { PayoutsLeftOut } from '../core/runs/pendingPayouts.js';
import { inTransaction } from '../database/db.js';
import { changesSince } from '../instructions/changedSettings.js';
import { holdDecisions } from '../instructions/decisionsStore.js';
import type { AccountChange } from '../instructions/freedStore.js';
import { holdFreed, withdrawHistory } from '../instructions/freedStore.js';
import { ownPolicies } from '../instructions/policies.js';
import type { Snapshot } from '../pull/snapshot/snapshotsStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules } from '../runs/deps.js';
import { payoutsToPlan, REQUESTS_MAX } from './payouts.js';
import {
  holdPayoutsOff,
  notePayoutsBefore,
  noteWeighed,
  planInstructions,
  withdrawNeedless,
} from './planStore.js';

type PlanDeps = Pick<RunDeps, 'config' | 'gateway' | 'now' | 'progress'>;

/** Answers the payout requests that it did not come to. */
export async function plan(
  deps: PlanDeps,
  run: Run,
  snapshot: Snapshot,
): Promise<PayoutsLeftOut[]> {
  deps.progress('plan', 0, 1);
  const now = deps.now();
  const changes = await changesSince(deps, run);
  await withdrawHistory(run.db, run.runId, historyRules(run, changes), now);
  const { policies } = ownPolicies(deps);
  await withdrawNeedless(run.db, run.runId, snapshot.pullId, now, policies);
  const { partialCapture } = deps.config.gateway.profile;
  const { payouts, leftOut } = await payoutsToPlan(deps, run, now);
  const { runId } = run;
  // Nobody may find in between what waits until somebody has seen it.
  await inTransaction(run.db, async (tx) => {
    // Nor be approved, in sight of less than this weighs, while it is weighed.
    if (!run.isDry) await holdDecisions(tx);
    await planInstructions(tx, runId, now, policies, partialCapture, payouts);
    await holdFreed(tx, runId, snapshot.pullId, changes);
    if (deps.config.operations.mode.payout === 'off') await holdPayoutsOff(tx, accountIdsOf(run));
    const isWhole = payouts.length < REQUESTS_MAX;
    await noteWeighed(tx, runId, accountRules(run.accounts), now, { isWhole, changes });
    await notePayoutsBefore(tx, runId, accountIdsOf(run));
  });
  deps.progress('plan', 1, 1);
  return leftOut;
}

/** The accounts with what is said where a request of theirs became history. */
function historyRules(run: Run, changes: readonly AccountChange[]) {
  return accountRules(run.accounts).map((account) => {
    const mine = changes.filter(({ accountId }) => accountId === account.account_id);
    const reason = historyReason(
      mine.map(({ change }) => change),
      account.live_from,
    );
    return { ...account, reason };
  });
}
