// Payout requests of the ledger and what became of them. A request has at most one payout that may
// have had an effect: the unique index on (account, transaction, operation), in which the request's
// id stands for the transaction, sees to it; that no other account pays it again, what is asked
// here. Neighbours: plan.sql weighs them, plan/payouts.ts.

import type { BatchInstruction } from '../core/instructions/batch.js';
import type { ApprovalLapse } from '../core/instructions/decision.js';
import type { HoldReason } from '../core/instructions/holdReasons.js';
import { type OnRecord, stillHeld } from '../core/instructions/policy.js';
import type { PayoutsLeftOut, PendingPayouts } from '../core/runs/pendingPayouts.js';
import type { Db } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';
import type { RawInstruction } from './batchRow.js';
import { batchInstruction } from './batchRow.js';

export interface PayoutRequest {
  accountId: string;
  requestId: string;
  payload: Readonly<Record<string, unknown>>;
  /** null: it has none */
  requestedAt: Date | null;
  /** why the row itself cannot be used; null: it can */
  problem: string | null;
  /** another account for which the ledger has it, or which paid it or may have; null: none */
  elsewhere: string | null;
  /** who paid it by hand (`tieout gateway payout`), or may have; null: nobody */
  byHandOf: string | null;
  /** one that left the ledger asked for the same, and was paid, may have been, or was refused */
  isTwin: boolean;
}

interface RawRequest {
  account_id: string;
  request_id: string;
  payload: Readonly<Record<string, unknown>>;
  requested_at: Date | null;
  problem: string | null;
  copies: bigint;
  elsewhere: string | null;
  by_hand_of: string | null;
  is_twin: boolean;
  left_out: { account_id: string; requests: number; oldest: string | null }[] | null;
}

/** A UUID has 36; of a longer one a view knows more than an index holds. */
export const REQUEST_ID_BYTES_MAX = 64;
/** A request that comes within so long of one of the same payload that left may be that one. */
const LOADED_ANEW_WITHIN = '3 days';
/** By the clock of another host that request may seem to have come before the one left. */
const NOTED_LATE_WITHIN = '1 hour';

/**
 * Requests that wait for a payout, oldest first: not history, not paid or on its way, and not one
 * that the gateway or a person refused, unless a person wants it planned again. With what more than
 * `limit` there is, beside what is held.
 */
export async function waitingPayouts(
  db: Db,
  accounts: readonly AccountRules[],
  { limit, now }: { limit: number; now: Date },
): Promise<{ requests: PayoutRequest[]; leftOut: PayoutsLeftOut[] }> {
  const { rows } = await db.query<RawRequest>(statement('instructions/waitingPayouts'), [
    JSON.stringify(accounts),
    limit,
    REQUEST_ID_BYTES_MAX,
    now,
    LOADED_ANEW_WITHIN,
    NOTED_LATE_WITHIN,
  ]);
  // A view may have a request twice, and nobody can say which of them is meant: held, and once.
  const distinct = new Map(rows.map((row) => [`${row.account_id} ${row.request_id}`, row]));
  const leftOut = (rows[0]?.left_out ?? []).map(({ account_id: accountId, requests, oldest }) => {
    return { accountId, requests, oldest: oldest === null ? null : new Date(oldest) };
  });
  return { requests: [...distinct.values()].map(requestOf), leftOut };
}

function requestOf(row: RawRequest): PayoutRequest {
  return {
    accountId: row.account_id,
    requestId: row.request_id,
    payload: row.payload,
    requestedAt: row.requested_at,
    problem: row.copies > 1n ? 'it stands in the ledger more than once' : row.problem,
    elsewhere: row.elsewhere,
    byHandOf: row.by_hand_of,
    isTwin: row.is_twin,
  };
}

/** Withdraws payouts that wait although the ledger no longer asks for just them. */
export async function withdrawPayouts(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  now: Date,
): Promise<void> {
  await db.query(
    `update tieout.instructions i set state = 'withdrawn', hold_reason = null,
       reason = 'no longer asked for', settled_at = $3, settled_run_id = $1, changed_by = 'tieout'
     where i.is_open and i.operation = 'payout' and i.account_id = any ($2)
       and i.state in ('planned', 'held', 'queued') and not exists (
         select from tieout.ledger_payouts() p
         where p.account_id collate "C" = i.account_id and p.request_id = i.transaction_id
           and p.payload = i.payload)`,
    [runId, accountIds, now],
  );
}

interface ReadPayout {
  accountId: string;
  requestId: string;
  payload: Readonly<Record<string, unknown>>;
  amount: string;
  source: { amount: string | null } | null;
  isInTotals: boolean;
}

/**
 * Withdraws payouts that wait with another amount than the profile reads in their request by now:
 * what people saw of them, and approved, was that amount. They are planned anew.
 */
export async function withdrawOtherwiseRead(
  db: Db,
  runId: bigint,
  payouts: readonly ReadPayout[],
  now: Date,
): Promise<void> {
  const rows = payouts.map(({ accountId, requestId, payload, amount, source, isInTotals }) => ({
    account_id: accountId,
    request_id: requestId,
    amount,
    source_amount: source?.amount ?? null,
    payload,
    is_in_totals: isInTotals,
  }));
  await db.query(
    `update tieout.instructions i set state = 'withdrawn', hold_reason = null,
       reason = 'the profile reads its amount otherwise by now', settled_at = $3,
       settled_run_id = $1, changed_by = 'tieout'
     from jsonb_to_recordset($2::jsonb)
       as p (account_id text, request_id text, amount numeric, source_amount numeric,
         payload jsonb, is_in_totals boolean)
     where i.operation = 'payout' and i.account_id = p.account_id
       and i.transaction_id = p.request_id and i.state in ('planned', 'held', 'queued')
       and i.payload = p.payload and i.is_in_totals and (i.amount <> p.amount or not p.is_in_totals
         or i.source_amount is distinct from p.source_amount)`,
    [runId, JSON.stringify(rows), now],
  );
}

interface PayoutFacts extends BatchInstruction {
  lapse: ApprovalLapse | null;
  isApproved: boolean;
  /** why it waited as it was approved */
  approvedFor: string | null;
  isInTotals: boolean;
  /** what leaves the payer's account, as it was planned; amount null: nobody knows it */
  source: { currency: string; amount: string | null } | null;
  /** the ledger still asks for exactly this, and neither another account nor a hand paid it */
  isAsked: boolean;
  requestedAt: Date | null;
  /** one of the same content was paid, or may have been, and its request has left the ledger */
  isTwin: boolean;
  /** why it waits by what is on record of it, where no approval was given in sight of that */
  stillHeld: HoldReason | null;
}

/** What is true now of the payout that waits in a batch. */
export async function payoutFacts(db: Db, batchId: bigint, now: Date): Promise<PayoutFacts[]> {
  const { rows } = await db.query<
    RawInstruction &
      OnRecord & {
        lapse: ApprovalLapse | null;
        is_approved: boolean;
        approved_for: string | null;
        is_in_totals: boolean;
        source_currency: string | null;
        source_amount: string | null;
        is_asked: boolean;
        requested_at: Date | null;
        is_twin: boolean;
      }
  >(statement('instructions/payoutFacts'), [batchId, now, NOTED_LATE_WITHIN, LOADED_ANEW_WITHIN]);
  return rows.map((row) => ({
    ...batchInstruction(row),
    lapse: row.lapse,
    isApproved: row.is_approved,
    approvedFor: row.approved_for,
    source:
      row.source_currency === null
        ? null
        : { currency: row.source_currency, amount: row.source_amount },
    isInTotals: row.is_in_totals,
    isAsked: row.is_asked,
    requestedAt: row.requested_at,
    isTwin: row.is_twin,
    stillHeld: stillHeld(row),
  }));
}

/**
 * The answer to a payout is all there will ever be, since it cannot be queried: what it calls done
 * is confirmed, and what it calls pending waits for a person. Which run counts it is said when one
 * sums up.
 */
export async function confirmAcceptedPayouts(
  db: Db,
  accountIds: readonly string[],
  now: Date,
): Promise<void> {
  await db.query(
    `update tieout.instructions i set state = 'confirmed', settled_at = $2, settled_run_id = null,
       reason = 'the gateway answered that it is completed', changed_by = 'tieout'
     where is_open and operation = 'payout' and state = 'accepted' and account_id = any ($1)
       and not tieout.is_pending(i)`,
    [accountIds, now],
  );
}

/**
 * What no break tells of, and somebody has to look at: payouts that are unknown since an earlier
 * run, those refused in this one, and what else is unknown since then of an order that ledger and
 * gateway have both dropped.
 */
export async function toLookAt(db: Db, runId: bigint): Promise<Map<string, number>> {
  const { instructions, run_accounts: accounts, breaks } = relationsOf(db);
  const { rows } = await db.query<{ account_id: string; count: bigint }>(
    named`select i.account_id, count(*) as count from ${instructions} i
     join ${accounts} a on a.run_id = $1 and a.account_id = i.account_id
     where i.operation = 'payout' and i.state = 'rejected' and i.settled_run_id = $1
         and i.replan_id is null
       or i.state = 'unknown' and i.run_id <> $1 and i.is_open
         and (i.operation = 'payout' or not exists (
           select from ${breaks} b where b.account_id = i.account_id and b.order_no = i.order_no
             and b.state in ('open', 'waived') and not tieout.stands_apart(b.kind)))
     group by i.account_id`,
    [runId],
  );
  return new Map(rows.map((row) => [row.account_id, Number(row.count)]));
}

/** Pending payouts of an account that a notice names as hinted at. */
const HINTED_MAX = 5;

/** Payouts that the gateway took and has not done yet, by account. */
export async function pendingPayouts(
  db: Db,
  accountIds: readonly string[],
): Promise<PendingPayouts[]> {
  const { rows } = await db.query<{
    account_id: string;
    payouts: bigint;
    oldest_id: bigint;
    since: string;
    hinted_ids: bigint[] | null;
  }>(
    `select i.account_id, count(*) as payouts, min(i.instruction_id) as oldest_id,
       to_char(min(t.claimed_at) at time zone 'UTC', 'YYYY-MM-DD') as since,
       (array_agg(i.instruction_id order by i.instruction_id)
         filter (where h.instruction_id is not null))[1:$2] as hinted_ids
     from tieout.instructions i
     cross join lateral (
       select * from tieout.attempts t where t.batch_id = i.batch_id
       order by t.attempt_no desc limit 1) t
     left join tieout.payout_hints h using (instruction_id)
     where i.is_open and i.operation = 'payout' and i.account_id = any ($1)
       and tieout.is_pending(i)
     group by i.account_id order by i.account_id`,
    [accountIds, HINTED_MAX],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    payouts: Number(row.payouts),
    oldestId: String(row.oldest_id),
    since: row.since,
    hintedIds: (row.hinted_ids ?? []).map(String),
  }));
}
