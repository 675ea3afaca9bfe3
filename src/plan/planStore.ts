// What is to be sent, as instructions: each function is one statement over a whole set. Neighbour:
// plan.ts, the step.

import { type HoldReason, NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import type { Policy } from '../core/instructions/policy.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Db } from '../database/db.js';
import { relationsOf, relationsOfRun } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import type { AccountChange } from '../instructions/freedStore.js';
import { DONE } from '../instructions/instructionsStore.js';
import { REQUEST_ID_BYTES_MAX } from '../instructions/payoutsStore.js';
import type { AccountRules } from '../runs/deps.js';

/** Withdraws what waits although nobody asks for it any more. */
export async function withdrawNeedless(
  db: Db,
  runId: bigint,
  pullId: bigint,
  now: Date,
  policies: readonly Policy[],
): Promise<number> {
  const off = policies.filter(({ policy }) => policy === 'off').map(({ operation }) => operation);
  const text = statement('plan/withdraw', relationsOf(db, runId, pullId));
  return (await db.query(text, [runId, pullId, now, off])).rowCount;
}

/**
 * Notes when the ledger ceased to have the request of a payout; answers of how many it did. Of all
 * accounts, unless some are given.
 */
export async function notePayoutsLeft(
  db: Db,
  now: Date,
  accountIds: readonly string[] | null = null,
): Promise<number> {
  const { rows } = await db.query<{ changed: number }>(statement('plan/notePayoutsLeft'), [
    now,
    accountIds,
  ]);
  return rows[0]?.changed ?? 0;
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
    NOT_APPROVABLE,
    JSON.stringify(payouts.map(payoutRow)),
  ]);
  await hideCards(db, runId);
  return result.rowCount;
}

/**
 * What waits for an approval says that it is off: one that is given now would send nothing. A plan
 * weighs it anew once it is on; not what came back from a backup, which waits on for its own sheet.
 */
export async function holdPayoutsOff(db: Db, accountIds: readonly string[]): Promise<void> {
  const reason: HoldReason = 'operation_off';
  await db.query(
    `update tieout.instructions set hold_reason = $2, changed_by = 'tieout'
     where operation = 'payout' and state = 'held' and account_id = any ($1::text[])
       and hold_reason <> all ($3::text[])`,
    [accountIds, reason, [...NOT_APPROVABLE, 'restored']],
  );
}

/**
 * Notes by which settings the accounts of a run were planned: the next plan is compared with them.
 * Not while a page of the snapshot is missing, or an order could not be compared that shows what
 * means something else by `changes`, for what would stand on it was not weighed, nor of an account
 * that may not send. From when on requests were not history is kept in either case: of an account
 * that is only observed, or whose liveFrom lies ahead, all were until now.
 */
export async function noteWeighed(
  db: Db,
  runId: bigint,
  accounts: readonly AccountRules[],
  now: Date,
  { isWhole, changes }: { isWhole: boolean; changes: readonly AccountChange[] },
): Promise<void> {
  const codes = changes.flatMap(({ accountId, change }) =>
    'values' in change ? [{ account_id: accountId, kind: change.kind, codes: change.values }] : [],
  );
  await db.query(statement('plan/noteWeighed', await relationsOfRun(db, runId)), [
    runId,
    JSON.stringify(accounts),
    now,
    isWhole,
    JSON.stringify(codes),
  ]);
}

/** After noteWeighed: from when on requests were not history is asked of its row. */
export async function notePayoutsBefore(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<void> {
  await db.query(statement('plan/notePayoutsBefore'), [runId, accountIds, REQUEST_ID_BYTES_MAX]);
}

/** A shop's own table or view may bring card numbers in people's words; no instruction has one. */
async function hideCards(db: Db, runId: bigint): Promise<void> {
  const { rows } = await db.query<{ id: bigint; reason: string; by: string[]; ids: string[] }>(
    `select instruction_id as id, coalesce(refund_reason, '') as reason, asked_by as by,
       array_remove(array[order_no, refund_id, transaction_id], null) as ids
     from tieout.instructions where run_id = $1
       and (length(refund_reason) >= 13 or length(array_to_string(asked_by, ' ')) >= 13)`,
    [runId],
  );
  const hidden = rows.flatMap(({ id, reason, by, ids }) => {
    const kept = { reason: withoutCards(reason, ids), by: by.map((one) => withoutCards(one, ids)) };
    const isSame = kept.reason === reason && kept.by.every((one, at) => one === by[at]);
    return isSame ? [] : [{ id: String(id), ...kept }];
  });
  if (hidden.length === 0) return;
  await db.query(
    `update tieout.instructions i
     set refund_reason = case when i.refund_reason is not null then h.reason end, asked_by = h.by
     from jsonb_to_recordset($1::jsonb) as h (id bigint, reason text, by text[])
     where i.instruction_id = h.id`,
    [JSON.stringify(hidden)],
  );
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
  /** why it may be a payout that was made already */
  doubled: 'twin_request' | null;
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
    doubled: payout.doubled,
  };
}
