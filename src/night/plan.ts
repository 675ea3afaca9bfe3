// Step 3, plan: what waits needlessly is withdrawn; what the verdicts need becomes an instruction,
// planned or held with its reason. At most one an order and run; whole sets, one statement each.

import type { AmountByCurrency } from '../config.js';
import { formatAmount } from '../core/money.js';
import { MOVEMENTS } from '../core/order.js';
import type { Policy } from '../store/instructions.js';
import { planInstructions, withdrawNeedless } from '../store/instructions.js';
import type { PullRow } from '../store/pulls.js';
import type { Night, NightDeps } from './deps.js';
import { payoutsToPlan } from './payouts.js';

export async function plan(deps: NightDeps, night: Night, pull: PullRow): Promise<void> {
  deps.progress('plan', 0, 1);
  const now = deps.now();
  await withdrawNeedless(night.db, night.runId, pull.pullId, now);
  const { partialCapture } = deps.config.gateway.profile;
  const payouts = await payoutsToPlan(deps, night);
  await planInstructions(night.db, night.runId, now, policiesOf(deps), partialCapture, payouts);
  deps.progress('plan', 1, 1);
}

/** The merchant's settings for each operation that this step can plan. */
export function policiesOf(deps: NightDeps): Policy[] {
  const { mode, approveAbove, maxPerRun } = deps.config.operations;
  return MOVEMENTS.map((operation) => ({
    operation,
    policy: mode[operation],
    above: asText(approveAbove[operation]),
    maxCount: maxPerRun[operation]?.count ?? null,
    maxAmount: asText(maxPerRun[operation]?.amount ?? null),
  }));
}

function asText(amounts: AmountByCurrency | null): Record<string, string> | null {
  if (amounts === null) return null;
  return Object.fromEntries(
    Object.entries(amounts).map(([currency, amount]) => [currency, formatAmount(amount)]),
  );
}
