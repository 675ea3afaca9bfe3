// What is to be sent, as instructions: each function is one statement over a whole set. Neighbour:
// plan.ts, the step.

import { HOLD_REASONS } from '../core/instructions/decision.js';
import type { Policy } from '../core/instructions/policy.js';
import type { Db } from '../database/db.js';
import { relationsOf, relationsOfRun } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import { DONE } from '../instructions/instructionsStore.js';

/** Withdraws what waits although nobody asks for it any more. */
export async function withdrawNeedless(
  db: Db,
  runId: bigint,
  pullId: bigint,
  now: Date,
): Promise<number> {
  const text = statement('plan/withdraw', relationsOf(db, runId, pullId));
  return (await db.query(text, [runId, pullId, now])).rowCount;
}

export async function planInstructions(
  db: Db,
  runId: bigint,
  now: Date,
  policies: readonly Policy[],
  partialCapture: boolean,
  payouts: readonly PlannedPayout[] = [],
): Promise<number> {
  const asJson = policies.map((policy) => ({
    operation: policy.operation,
    policy: policy.policy,
    above: policy.above,
    max_count: policy.maxCount,
    max_amount: policy.maxAmount,
  }));
  const result = await db.query(statement('plan/plan', await relationsOfRun(db, runId)), [
    runId,
    now,
    JSON.stringify(asJson),
    partialCapture,
    DONE,
    Object.entries(HOLD_REASONS).flatMap(([name, { isApprovable }]) =>
      isApprovable ? [] : [name],
    ),
    JSON.stringify(payouts.map(payoutRow)),
  ]);
  return result.rowCount;
}

/** A payout request as it is planned; `problem` says why it can never be sent. */
export interface PlannedPayout {
  accountId: string;
  requestId: string;
  currency: string;
  amount: string;
  requestedAt: Date | null;
  problem: string | null;
  payload: Readonly<Record<string, unknown>>;
  /** what leaves the payer's account, in its own currency; null: the request does not say */
  source: { currency: string; amount: string | null } | null;
  isInTotals: boolean;
}

function payoutRow(payout: PlannedPayout) {
  return {
    account_id: payout.accountId,
    request_id: payout.requestId,
    currency: payout.currency,
    amount: payout.amount,
    requested_at: payout.requestedAt,
    problem: payout.problem,
    payload: payout.payload,
    source_currency: payout.source?.currency ?? null,
    source_amount: payout.source?.amount ?? null,
    is_in_totals: payout.isInTotals,
  };
}
