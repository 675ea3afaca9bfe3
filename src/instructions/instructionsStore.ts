// Instructions: cut into batches, settled by snapshots. Each function is one statement over a whole
// set; the database refuses illegal moves and writes the trail by itself.

import type { QueuedBatch } from '../core/instructions/batch.js';
import { BATCH_ENTRIES_MAX, PARTIAL_REFUND_ENTRIES_MAX } from '../core/instructions/batch.js';
import { PROOFS, RESENDABLE, refundAfter } from '../core/instructions/instruction.js';
import type { InstructionOperation } from '../core/orders/order.js';
import { askedFor } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/**
 * What shows each kind of instruction done, as rows that statements join; a payout is done when the
 * gateway says so.
 */
export const DONE = JSON.stringify([
  ...PROOFS,
  ...[true, false].map((completes) => {
    return { operation: 'refund', completes, after: refundAfter(completes) };
  }),
  { operation: 'payout', after: ['completed'] },
]);
const SENT_AGAIN = JSON.stringify(askedFor(RESENDABLE));

/**
 * Settles what was sent by what the gateway shows now; null: between two runs (law 2 of
 * ARCHITECTURE.md). Asked by compare (what was sent before this run), by confirm, and after
 * `tieout send` (sendApproved.ts).
 */
export async function settleBySnapshot(
  db: Db,
  runId: bigint | null,
  pullId: bigint,
  now: Date,
  /** an unknown capture or cancel may be planned again after so long; null: a person decides */
  resendAfterHours: number | null = null,
): Promise<void> {
  const values = [runId, pullId, now, resendAfterHours, SENT_AGAIN];
  await db.query(statement('instructions/settle'), values);
}

/** Puts planned instructions into batches and makes them queued; answers how many batches. */
export async function cutBatches(
  db: Db,
  accountIds: readonly string[],
  now: Date,
): Promise<number> {
  const result = await db.query(statement('instructions/cutBatches'), [
    accountIds,
    now,
    JSON.stringify(BATCH_ENTRIES_MAX),
    PARTIAL_REFUND_ENTRIES_MAX,
    null,
  ]);
  return result.rowCount;
}

/** The same for these instructions alone, whose approval was just written. */
export async function cutApproved(
  db: Db,
  instructionIds: readonly bigint[],
  now: Date,
): Promise<QueuedBatch[]> {
  const { rows } = await db.query<{
    operation: InstructionOperation;
    batch_id: bigint;
    account_id: string;
  }>(statement('instructions/cutBatches'), [
    null,
    now,
    JSON.stringify(BATCH_ENTRIES_MAX),
    PARTIAL_REFUND_ENTRIES_MAX,
    instructionIds.map(String),
  ]);
  const inOrder = rows.sort((a, b) => (a.batch_id < b.batch_id ? -1 : 1));
  return inOrder.map(({ batch_id: batchId, account_id: accountId, operation }) => ({
    batchId,
    accountId,
    operation,
  }));
}

/** Approved ones: `planned` are in no batch, since a run that did not end had taken it apart. */
export async function approvedIn(
  db: Db,
  accountIds: readonly string[],
  state: 'planned' | 'queued',
): Promise<bigint[]> {
  const { rows } = await db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions
     where is_open and approval_id is not null and account_id = any ($1) and state = $2
     order by instruction_id`,
    [accountIds, state],
  );
  return rows.map((row) => row.instruction_id);
}

export interface SentInstruction {
  instructionId: bigint;
  accountId: string;
  orderNo: string;
  operation: InstructionOperation;
  state: string;
  money: string;
  currency: string;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  reason: string | null;
}

/** Those that their sender left on their way, or that no look has shown; a payout shows in none. */
export async function approvedUnderWay(db: Db, accountIds: readonly string[]): Promise<bigint[]> {
  const { rows } = await db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions
     where is_open and approval_id is not null and account_id = any ($1)
       and (state = 'sending' or (state = 'accepted' and operation <> 'payout'))
     order by instruction_id`,
    [accountIds],
  );
  return rows.map((row) => row.instruction_id);
}

/** What became of these instructions. */
export async function sentInstructions(
  db: Db,
  instructionIds: readonly bigint[],
): Promise<SentInstruction[]> {
  const { rows } = await db.query<{
    instruction_id: bigint;
    account_id: string;
    order_no: string;
    operation: InstructionOperation;
    state: string;
    money: string;
    currency: string;
    is_in_totals: boolean;
    reason: string | null;
  }>(
    `select i.instruction_id, i.account_id, i.order_no, i.operation, i.state,
       coalesce(i.refund_amount, i.amount)::text as money, i.currency, i.is_in_totals,
       coalesce(i.reason, i.hold_reason, b.reason) as reason
     from tieout.instructions i left join tieout.batches b using (batch_id)
     where i.instruction_id = any ($1::bigint[]) order by i.instruction_id`,
    [instructionIds.map(String)],
  );
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    accountId: row.account_id,
    orderNo: row.order_no,
    operation: row.operation,
    state: row.state,
    money: row.money,
    currency: row.currency,
    isInTotals: row.is_in_totals,
    reason: row.reason,
  }));
}

/**
 * What is to be looked at again before the run is told. First, what is accepted and not settled,
 * whenever it left and whatever its order looked like. Second, what is unknown and was claimed at
 * or after `since`, or whose order stands as if nothing were unknown. Third, what was refused since
 * then, where its order does not plainly match.
 */
export async function sentToConfirm(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  since: Date,
): Promise<bigint[]> {
  const { rows } = await db.query<{ instruction_id: bigint }>(
    statement('instructions/sentToConfirm'),
    [accountIds, since, runId],
  );
  return rows.map((row) => row.instruction_id);
}
