// Decisions of people about instructions, in the database: what they decide about is held still,
// the decision is written with what was seen, then the instruction moves. All of it in the caller's
// one transaction; the guards of the database refuse what core/instructions/decision.ts should have
// refused.

import type { Decider } from '../core/instructions/decider.js';
import type { Decidable, DecisionKind, Finding } from '../core/instructions/decision.js';
import { APPROVAL_DAYS } from '../core/instructions/decision.js';
import type { InstructionState } from '../core/instructions/instruction.js';
import type { AskedPayout, Payee } from '../core/instructions/payouts/payoutAsked.js';
import type { Db, Tx } from '../database/db.js';
import { statement } from '../database/statements.js';
import { signDecided } from '../signatures/signaturesStore.js';

/** An instruction that somebody decides about. */
export interface DecidableInstruction extends Decidable {
  instructionId: bigint;
  accountId: string;
  orderNo: string;
  transactionId: string;
  currency: string;
  amount: string;
  refundId: string | null;
  refundAmount: string | null;
  reviewDecision: string | null;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  createdAt: Date;
  /** the business date of the run that planned it */
  plannedFor: string;
  /** of a payout, where it goes; null: it is none, or the ledger has no such request any more */
  payee: Payee | null;
  seen: Seen;
}

/** What the person sees, and what the decision is bound to (function seen_of in the database). */
export interface Seen {
  ledger: {
    expected: string;
    currency: string;
    amount: string;
    captureAmount: string | null;
    transaction: string | null;
    reviewDecision: string | null;
    placedAt: string;
  } | null;
  refundRequests:
    | {
        refundId: string;
        amount: string;
        reason: string | null;
        requestedBy: string | null;
        requestedAt: string;
      }[]
    | null;
  gateway:
    | {
        transaction: string | null;
        state: string | null;
        code: string | null;
        currency: string | null;
        amount: string | null;
        fraudRejected: boolean;
      }[]
    | null;
  /** refunds only; absent where there is none */
  disputes?: SeenDispute[];
  /** what a person moved of the order or its transaction with `tieout gateway`; absent: nothing */
  byHand?: SeenCall[];
  /** payouts only; null: the ledger has no such request any more */
  payout?: AskedPayout | null;
}

interface SeenCall {
  operation: string;
  amount: string | null;
  currency: string | null;
  by: string;
  /** UTC, without a zone */
  at: string;
}

export interface SeenDispute {
  /** of a line of a settlement its id within the batch */
  disputeId: string | null;
  /** the settlement in which it was charged back, or that was reversed */
  batch?: string | null;
  stage: string | null;
  currency: string | null;
  amount: string | null;
  order: string | null;
  transaction: string | null;
  at: string | null;
}

/** Until the transaction ends nobody decides: what it weighs is decided about before, or after. */
export async function holdDecisions(tx: Db): Promise<void> {
  await tx.query('lock table tieout.decisions in share mode');
}

/** While a run plans, or adds up its figures, a decision waits, before it holds any instruction. */
export async function waitForFigures(tx: Tx): Promise<void> {
  await tx.query('lock table tieout.decisions in row exclusive mode');
}

/** Those of the instructions that exist, in order of their numbers, locked. */
export async function holdInstructions(
  tx: Tx,
  ids: readonly bigint[],
  accountIds: readonly string[] | null,
): Promise<DecidableInstruction[]> {
  const { rows } = await tx.query<RawDecidable>(statement('instructions/decidable'), [
    ids.map(String),
    accountIds,
  ]);
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    accountId: row.account_id,
    orderNo: row.order_no,
    operation: row.operation,
    state: row.state,
    holdReason: row.hold_reason,
    transactionId: row.transaction_id,
    currency: row.currency,
    amount: row.amount,
    refundId: row.refund_id,
    refundAmount: row.refund_amount,
    reviewDecision: row.review_decision,
    isInTotals: row.is_in_totals,
    askedBy: row.asked_by,
    disprovedBy: row.disproved_by,
    isReplanned: row.is_replanned,
    isSuperseded: row.is_superseded,
    hasDispute: row.has_dispute,
    isPending: row.is_pending,
    createdAt: row.created_at,
    plannedFor: row.planned_for,
    payee: row.payee,
    seen: row.seen,
    seenSha256: row.seen_sha256,
  }));
}

interface RawDecidable {
  instruction_id: bigint;
  account_id: string;
  order_no: string;
  operation: string;
  state: InstructionState;
  hold_reason: string | null;
  transaction_id: string;
  currency: string;
  amount: string;
  refund_id: string | null;
  refund_amount: string | null;
  review_decision: string | null;
  is_in_totals: boolean;
  asked_by: string[];
  disproved_by: string | null;
  is_replanned: boolean;
  planned_for: string;
  is_superseded: boolean;
  has_dispute: boolean;
  is_pending: boolean;
  created_at: Date;
  payee: Payee | null;
  seen: Seen;
  seen_sha256: string;
}

/** A decision that was taken since an instruction was seen. */
export interface LaterDecision {
  instructionId: bigint;
  decision: DecisionKind;
  by: string;
  reason: string | null;
}

/**
 * What was decided since, in order; of all accounts where none are given. `last` is the newest
 * decision that was known then.
 */
export async function decidedSince(
  db: Db,
  seen: readonly { id: string; last: string }[],
  accountIds: readonly string[] | null,
): Promise<LaterDecision[]> {
  const { rows } = await db.query<LaterDecision>(
    `select d.instruction_id as "instructionId", d.decision, d.decided_by as by, d.reason
     from unnest($1::bigint[], $2::bigint[]) as s (instruction_id, last)
     join tieout.instructions i using (instruction_id)
     join tieout.decisions d on d.instruction_id = s.instruction_id and d.decision_id > s.last
     where $3::text[] is null or i.account_id = any ($3)
     order by d.decision_id`,
    [seen.map(({ id }) => id), seen.map(({ last }) => last), accountIds],
  );
  return rows;
}

interface OrderOfInstruction {
  id: string;
  accountId: string;
  orderNo: string;
  transactionId: string;
  amount: string | null;
  currency: string | null;
  operation: string;
  /** null: it is not held */
  holdReason: string | null;
  /** of a payout; null: of another operation, or the ledger has no such request any more */
  payout: AskedPayout | null;
}

/** Of those that exist, with the money that would move where that is known; null: all accounts. */
export async function ordersOfInstructions(
  db: Db,
  ids: readonly string[],
  accountIds: readonly string[] | null,
): Promise<OrderOfInstruction[]> {
  const { rows } = await db.query<OrderOfInstruction>(
    `select instruction_id::text as id, account_id as "accountId", order_no as "orderNo", operation,
       transaction_id as "transactionId",
       case when operation <> 'review' and is_in_totals
         then round(coalesce(refund_amount, amount), 2)::text end as amount, currency,
       case when state = 'held' then hold_reason end as "holdReason",
       case when operation = 'payout' then tieout.seen_of(i) -> 'payout' end as payout
     from tieout.instructions i
     where instruction_id = any ($1::bigint[]) and ($2::text[] is null or account_id = any ($2))`,
    [ids, accountIds],
  );
  return rows;
}

interface WrittenDecision {
  kind: DecisionKind;
  who: Decider;
  reason: string | null;
  reference: string | null;
  finding: Finding | null;
}

/** Writes the decision on each of them, then moves them; all or none. */
export async function writeDecisions(
  tx: Tx,
  ids: readonly bigint[],
  decision: WrittenDecision,
): Promise<void> {
  const { kind, who, reason, reference, finding } = decision;
  const { rows } = await tx.query<{ decision_id: bigint }>(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim,
       reason, reference, finding, answers_known, seen, seen_sha256, row_before, expires_at)
     select i.instruction_id, i.account_id, $2, $3, $4, $5, $6, $7,
       case when $7::text is not null
         then tieout.answers_to(i) end, seen,
       tieout.seen_sha256(seen), to_jsonb(i),
       case when $2 = 'approve' then clock_timestamp() + make_interval(days => $8) end
     from tieout.instructions i cross join lateral (select tieout.seen_of(i) as seen) as saw
     where i.instruction_id = any ($1::bigint[]) order by i.instruction_id
     returning decision_id`,
    [
      ids.map(String),
      kind,
      who.name.trim(),
      who.isClaim,
      reason,
      reference,
      finding,
      APPROVAL_DAYS,
    ],
  );
  const written = rows.map((row) => row.decision_id);
  await signDecided(tx, who, 'decision', written);
  const moved = kind === 'resolve' ? RESOLUTIONS[finding ?? 'not_happened'] : CHANGES[kind];
  await tx.query(moved, [ids.map(String)]);
}

/** A person settles between two runs: which run counts it is said when the next one sums up. */
const CHANGES: Readonly<Record<Exclude<DecisionKind, 'resolve'>, string>> = {
  approve: `update tieout.instructions i set changed_by = d.decided_by, state = 'planned',
      hold_reason = null, approval_id = d.decision_id, reason = d.reason
    from tieout.newest_decisions($1) d where i.instruction_id = d.instruction_id`,
  // What was to be sent a second time is unknown again, as its trigger says: it is not refused.
  reject: `update tieout.instructions i set changed_by = d.decided_by, state = 'withdrawn',
      hold_reason = null, is_refused = i.resends = 0, reason = d.reason, settled_at = d.at,
      settled_run_id = null
    from tieout.newest_decisions($1) d where i.instruction_id = d.instruction_id`,
  replan: `update tieout.instructions i set changed_by = d.decided_by, replan_id = d.decision_id
    from tieout.newest_decisions($1) d where i.instruction_id = d.instruction_id`,
};

const RESOLUTIONS: Readonly<Record<Finding, string>> = {
  happened: `update tieout.instructions i set changed_by = d.decided_by, state = 'confirmed',
      reason = d.reason, gateway_reference = coalesce(i.gateway_reference, d.reference),
      settled_at = d.at, settled_run_id = null
    from tieout.newest_decisions($1) d where i.instruction_id = d.instruction_id`,
  not_happened: `update tieout.instructions i set changed_by = d.decided_by, state = 'rejected',
      settled_at = d.at, settled_run_id = null, reason = 'proven by ' || d.decided_by
        || ' not to have happened (' || d.reference || '): ' || d.reason
    from tieout.newest_decisions($1) d where i.instruction_id = d.instruction_id`,
};

/** Settled and counted by no run yet: since the last one, or by one that was left untold. */
export async function countSettledBetween(db: Pick<Tx, 'query'>, runId: bigint): Promise<void> {
  await db.query(statement('instructions/countSettledBetween'), [runId]);
}
