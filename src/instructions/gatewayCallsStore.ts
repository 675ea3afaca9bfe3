// What people did at the gateway by hand, written down before it happened. A call that cannot be
// written down is not made. Neighbours: cli/gateway/gateway.ts calls, historyStore.ts shows it with
// its order.

import type { Decider } from '../core/instructions/decider.js';
import type { InstructionOperation } from '../core/orders/order.js';
import type { Db } from '../database/db.js';

/** One thing that a call names; texts as they went out. */
export type CalledEntry = Readonly<Record<string, string>>;

export interface NewCall {
  accountId: string;
  operation: string;
  by: Decider;
  host: string;
  bodySha256: string;
  entries: readonly CalledEntry[];
  /** of the journal of permits, in which it stands before its first byte */
  permitId: string;
}

interface CallEnd {
  outcome: string;
  reason: string | null;
  httpStatus: number | null;
}

/** Committed when it resolves; answers the number of the call. */
export async function beginCall(db: Db, call: NewCall): Promise<bigint> {
  const { rows } = await db.query<{ call_id: bigint }>(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host,
       body_sha256, entries, permit_id, looks_before)
     values ($1, $2, $3, $4, $5, decode($6, 'hex'), $7::jsonb, $8, tieout.looks_drawn())
     returning call_id`,
    [
      call.accountId,
      call.operation,
      call.by.name,
      call.by.isClaim,
      call.host,
      call.bodySha256,
      JSON.stringify(call.entries),
      call.permitId,
    ],
  );
  const row = rows[0];
  if (!row) throw new Error('the call could not be written down');
  return row.call_id;
}

/** What tieout has under way, or has paid, for what a call names. */
export interface UnderWay {
  instructionId: bigint;
  operation: InstructionOperation;
  state: string;
  orderNo: string;
}

/**
 * Instructions of which nobody knows yet what became of them, for an order or a transaction that a
 * call names, and the payout that was made for its request, of whatever account: it is paid once,
 * and two accounts may be one at the gateway. The first of them.
 */
export async function underWay(
  db: Db,
  accountId: string,
  entries: readonly CalledEntry[],
): Promise<UnderWay | null> {
  const named = (...fields: string[]): string[] =>
    entries.flatMap((entry) => fields.flatMap((field) => entry[field] ?? []));
  const { rows } = await db.query<{
    instruction_id: bigint;
    operation: InstructionOperation;
    state: string;
    order_no: string;
  }>(
    `select instruction_id, operation, state, order_no from tieout.instructions
     where not is_void
       and (state in ('sending', 'unknown')
         or operation = 'payout' and state in ('accepted', 'confirmed'))
       and (account_id = $1 and order_no = any ($2)
         or operation = 'payout' and transaction_id = any ($2)
         or operation <> 'payout' and transaction_id = any ($3))
     order by instruction_id limit 1`,
    [accountId, named('order_no', 'request_id'), named('transaction_id')],
  );
  const row = rows[0];
  if (!row) return null;
  const { instruction_id: instructionId, order_no: orderNo, operation, state } = row;
  return { instructionId, operation, state, orderNo };
}

/** A call before this one, for just what it names. */
export interface EarlierCall {
  callId: bigint;
  operation: string;
  by: string;
  at: Date;
  /** null: nobody wrote down what became of it */
  outcome: string | null;
}

/**
 * The first call by hand of a payout request that a call names, of whatever account, unless it was
 * refused; or of a refund of the same transaction and amount of which nobody knows what became.
 */
export async function calledBefore(
  db: Db,
  callId: bigint,
  operation: string,
  entries: readonly CalledEntry[],
): Promise<EarlierCall | null> {
  if (operation !== 'payout' && operation !== 'refund') return null;
  const { rows } = await db.query<{
    call_id: bigint;
    called_by: string;
    at: Date;
    outcome: string | null;
  }>(
    `select c.call_id, c.called_by, c.at, c.outcome
     from jsonb_array_elements($3::jsonb) as e
     cross join lateral (
       select * from tieout.calls_by_hand(e ->> 'request_id') where $2 = 'payout'
       union all
       select * from tieout.gateway_calls where $2 = 'refund' and operation = 'refund'
         and coalesce(outcome, 'unknown') = 'unknown'
         and entries @> jsonb_build_array(jsonb_build_object('transaction_id',
           e ->> 'transaction_id', 'refund_amount', e ->> 'refund_amount'))
     ) c
     where c.call_id <> $1 order by c.call_id limit 1`,
    [callId, operation, JSON.stringify(entries)],
  );
  const [row] = rows;
  if (!row) return null;
  return { callId: row.call_id, operation, by: row.called_by, at: row.at, outcome: row.outcome };
}

/** A payout that was sent before the database was put back, which has forgotten that. */
interface LostPayout {
  sentAt: Date;
  host: string;
}

/** The last one that names a request of the call; of whatever account: a request is paid once. */
export async function lostPayout(
  db: Db,
  operation: string,
  entries: readonly CalledEntry[],
): Promise<LostPayout | null> {
  if (operation !== 'payout') return null;
  const { rows } = await db.query<{ sent_at: Date; host: string }>(
    `select sent_at, host from tieout.lost_moves
     where operation = 'payout' and transaction_id = any ($1) order by sent_at desc limit 1`,
    [entries.flatMap(({ request_id: requestId }) => requestId ?? [])],
  );
  const [row] = rows;
  return row === undefined ? null : { sentAt: row.sent_at, host: row.host };
}

/**
 * Says what became of it; once. By its permit: a database that was put back meanwhile gives the
 * number of the call out anew, and may have this one from the journal, under another number.
 */
export async function endCall(db: Db, permitId: string, end: CallEnd): Promise<void> {
  await db.query(
    `update tieout.gateway_calls
     set outcome = $2, reason = $3, http_status = $4, ended_at = clock_timestamp(),
       looks_before = tieout.looks_drawn()
     where permit_id = $1 and outcome is null`,
    [permitId, end.outcome, end.reason, end.httpStatus],
  );
}

/** Calls that named an order, or a payout request, oldest first, as `tieout order` shows them. */
export async function callsOfOrder(
  db: Db,
  accountId: string,
  orderNo: string,
): Promise<Record<string, unknown>[]> {
  const { rows } = await db.query<{ call: Record<string, unknown> }>(
    `select jsonb_build_object('id', call_id, 'at', at, 'operation', operation, 'by', called_by,
       'isClaim', is_claim, 'host', host, 'sha256', encode(body_sha256, 'hex'), 'outcome', outcome,
       'reason', reason, 'httpStatus', http_status, 'endedAt', ended_at, 'entries', (
         select jsonb_agg(entry) from jsonb_array_elements(entries) as entry
         where entry ->> 'order_no' = $2 or lower(entry ->> 'request_id') = lower($2))) as call
     from tieout.gateway_calls
     where account_id = $1 and entries @> any (array[
       jsonb_build_array(jsonb_build_object('order_no', $2::text)),
       jsonb_build_array(jsonb_build_object('request_id', lower($2))),
       jsonb_build_array(jsonb_build_object('request_id', upper($2)))])
     order by call_id`,
    [accountId, orderNo],
  );
  return rows.map((row) => row.call);
}
