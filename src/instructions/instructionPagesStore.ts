// Instructions as the console lists them: those that wait for approval with what an approver has to
// see and the digest the approval will be bound to, and all of them by filter with a count. Read
// only; every statement takes the accounts of the reader. Neighbour: instructionListStore.ts has
// one.

import type { InstructionState } from '../core/instructions/instruction.js';
import type { Db } from '../database/db.js';
import type { Seen } from './decisionsStore.js';

export interface HeldInstruction {
  id: bigint;
  accountId: string;
  orderNo: string;
  operation: string;
  transactionId: string;
  currency: string;
  amount: string;
  refundId: string | null;
  reviewDecision: string | null;
  holdReason: string;
  askedBy: string[];
  since: Date;
  seen: Seen;
  seenSha256: string;
  snapshotAt: Date | null;
}

/** Those that wait for a person, oldest first. */
export async function heldInstructions(
  db: Db,
  accountIds: readonly string[],
  page: { limit: number; offset: number },
): Promise<HeldInstruction[]> {
  const { rows } = await db.query<HeldInstruction>(
    `select h.instruction_id as id, h.account_id as "accountId", h.order_no as "orderNo",
       h.operation, h.transaction_id as "transactionId", h.currency,
       coalesce(h.refund_amount, h.amount)::text as amount, h.refund_id as "refundId",
       h.review_decision as "reviewDecision", h.hold_reason as "holdReason",
       h.asked_by as "askedBy", h.created_at as since, s.seen,
       tieout.seen_sha256(s.seen) as "seenSha256",
       (select p.as_of from tieout.pulls p where p.pull_id = h.newest) as "snapshotAt"
     from (select i.*, i as whole, case when operation <> 'payout' then
         tieout.newest_look(account_id, order_no) end as newest
       from tieout.instructions i
       where is_open and state = 'held' and account_id = any ($1)
       order by instruction_id limit $2 offset $3) h
     cross join lateral (select tieout.seen_at(h.whole, h.newest) as seen offset 0) s
     order by h.instruction_id`,
    [accountIds, page.limit, page.offset],
  );
  return rows;
}

export interface InstructionCounts {
  state: InstructionState;
  count: number;
}

/** Of the open ones only: the settled ones grow with every run. */
export async function countOpen(
  db: Db,
  accountIds: readonly string[],
): Promise<InstructionCounts[]> {
  const { rows } = await db.query<{ state: InstructionState; count: bigint }>(
    `select state, count(*) as count from tieout.instructions
     where is_open and account_id = any ($1)
     group by state`,
    [accountIds],
  );
  return rows.map(({ state, count }) => ({ state, count: Number(count) }));
}

/** The account of an instruction; null when there is none of that number. */
export async function accountOfInstruction(db: Db, id: bigint): Promise<string | null> {
  const { rows } = await db.query<{ account_id: string }>(
    'select account_id from tieout.instructions where instruction_id = $1',
    [id],
  );
  return rows[0]?.account_id ?? null;
}
