// Step 3, plan: what waits needlessly is withdrawn; what the verdicts need becomes an instruction,
// planned or held with its reason. At most one an order and run; whole sets, one statement each.

import { planInstructions, withdrawNeedless } from '../store/instructions.js';
import type { PullRow } from '../store/pulls.js';
import type { Night, NightDeps } from './deps.js';
import { payoutsToPlan } from './payouts.js';
import { ownPolicies } from './policies.js';

export async function plan(deps: NightDeps, night: Night, pull: PullRow): Promise<void> {
  deps.progress('plan', 0, 1);
  const now = deps.now();
  await withdrawNeedless(night.db, night.runId, pull.pullId, now);
  const { partialCapture } = deps.config.gateway.profile;
  const payouts = await payoutsToPlan(deps, night);
  const { policies } = ownPolicies(deps);
  await planInstructions(night.db, night.runId, now, policies, partialCapture, payouts);
  deps.progress('plan', 1, 1);
}
