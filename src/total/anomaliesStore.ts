// What a person should know of a run although no rule stops for it: an order whose transaction
// the gateway also shows under another order, refunds of which it counts more than the ledger asks
// for, payouts by hand. Few rows, and told in words (core/runs/notices.ts). Neighbour:
// byHand/movedByHandStore.ts.

import type { Config } from '../config/config.js';
import type { AnsweredLateFacts } from '../core/instructions/answeredLate.js';
import { ANSWERS_MAX, TOLD_DAYS } from '../core/instructions/answeredLate.js';
import type {
  BecameHistoryFacts,
  DatedBackFacts,
  DatedBeforeFacts,
} from '../core/instructions/becameHistory.js';
import type { WithdrawnLateFacts } from '../core/instructions/withdrawnLate.js';
import type { OddRefundFacts, SharedTransactionFacts } from '../core/runs/notices.js';
import type { PaidByHand, PayoutByHand, PayoutChanged } from '../core/runs/pendingPayouts.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { Run } from '../runs/deps.js';

/** Orders that need something which another order's instruction did to the same transaction. */
export async function sharedTransactions(db: Db, runId: bigint): Promise<SharedTransactionFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    orders: bigint;
    sample: string;
    other: string;
    transaction_id: string;
  }>(
    `select v.account_id, count(*) as orders, min(v.order_no) as sample,
       min(other.order_no) as other, min(v.transaction_id) as transaction_id
     from tieout.verdicts v
     join tieout.instructions other
       on other.account_id = v.account_id and other.transaction_id = v.transaction_id
         and other.operation = v.need and other.order_no <> v.order_no
         and other.state not in ('rejected', 'withdrawn')
     where v.run_id = $1 and v.need in ('capture', 'cancel', 'review') and not exists (
       select from tieout.instructions own
       where own.account_id = v.account_id and own.order_no = v.order_no
         and own.transaction_id = v.transaction_id and own.operation = v.need)
     group by v.account_id order by v.account_id`,
    [runId],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    orders: Number(row.orders),
    sample: row.sample,
    other: row.other,
    transactionId: row.transaction_id,
  }));
}

/** Notices of one kind of an account that one run makes; the last says how many more there are. */
const REFUNDS_MAX = 20;

/**
 * Refunds of the run that the gateway calls as it called another one, or counts as one more than
 * the ledger ever asked for, or than are known here: somebody else refunded, or one happened twice.
 */
export async function oddRefunds(db: Db, runId: bigint): Promise<OddRefundFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    order_no: string;
    instruction_id: bigint;
    reference: string;
    is_twice: boolean;
    requests: bigint;
    known: bigint;
    more: bigint;
  }>(statement('total/oddRefunds'), [runId, REFUNDS_MAX]);
  return rows.map((row) => ({
    accountId: row.account_id,
    orderNo: row.order_no,
    instructionId: row.instruction_id,
    reference: row.reference,
    isTwice: row.is_twice,
    requests: Number(row.requests),
    known: Number(row.known),
    more: Number(row.more),
  }));
}

/** What went a second time, perhaps: the answer to the first came after that. */
export async function answeredLate(
  db: Db,
  accountIds: readonly string[],
): Promise<AnsweredLateFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    instruction_id: bigint;
    operation: AnsweredLateFacts['operation'];
    order_no: string;
    decided_by: string;
    instead: bigint | null;
    found: bigint;
  }>(statement('total/answeredLate'), [accountIds, ANSWERS_MAX, TOLD_DAYS]);
  return rows.map((row) => ({
    accountId: row.account_id,
    instructionId: row.instruction_id,
    operation: row.operation,
    orderNo: row.order_no,
    by: row.decided_by,
    finding: 'not_happened' as const,
    instead: row.instead,
    found: Number(row.found),
  }));
}

/** Payouts by hand of which nobody knows, or knew then, what became. */
export async function payoutsByHand(
  db: Db,
  accountIds: readonly string[],
): Promise<PayoutByHand[]> {
  const { rows } = await db.query<{
    account_id: string;
    call_id: bigint;
    called_by: string;
    at: Date;
    outcome: string | null;
    request_id: string | null;
    amount: string | null;
    currency: string | null;
    found: bigint;
  }>(statement('total/payoutsByHand'), [accountIds, ANSWERS_MAX, TOLD_DAYS]);
  return rows.map((row) => ({
    accountId: row.account_id,
    callId: row.call_id,
    by: row.called_by,
    at: row.at,
    isPending: row.outcome === 'pending',
    requestId: row.request_id ?? '',
    printed: `${row.amount ?? ''} ${row.currency ?? ''}`.trim(),
    found: Number(row.found),
  }));
}

/** Payouts by hand within the dates that a run covers that the gateway took. */
export async function paidByHand(
  db: Db,
  accountIds: readonly string[],
  { startsAt, endsAt, covers }: Pick<Run, 'startsAt' | 'endsAt' | 'covers'>,
  { timezone, cutOff }: Pick<Config['schedule'], 'timezone' | 'cutOff'>,
): Promise<PaidByHand[]> {
  const { rows } = await db.query<PaidByHand & { payouts: bigint }>(
    `select c.account_id as "accountId", d.date::text, e ->> 'payment_currency' as currency,
       sum((e ->> 'payment_amount')::numeric)::text as amount,
       count(*) as payouts,
       (array_agg(lower(e ->> 'request_id') order by c.call_id desc))[1:$4] as "requestIds"
     from tieout.gateway_calls c cross join jsonb_array_elements(c.entries) e
     cross join lateral (select tieout.business_date_of(c.at, $7, $8) as date) d
     where c.account_id = any ($1) and c.operation = 'payout' and c.outcome = 'accepted'
       and c.at >= tieout.covered_from($2, $5::date[], $6::jsonb) and c.at < $3
       and e ->> 'payment_amount' ~ '^[0-9]{1,18}$'
     group by 1, 2, 3 order by 1, 2, 3`,
    [
      ...[accountIds, startsAt, endsAt, REQUESTS_NAMED_MAX, covers],
      ...[JSON.stringify({ timezone, cutOff }), cutOff, timezone],
    ],
  );
  return rows.map((row) => ({ ...row, payouts: Number(row.payouts) }));
}

/** So many are named of each account. */
const REQUESTS_NAMED_MAX = 5;

/** Requests that a later liveFrom made history before anything was planned for them. */
export async function becameHistory(
  db: Db,
  runId: bigint,
  accounts: readonly { accountId: string; liveFrom: Date | null }[],
  configured: readonly string[],
): Promise<BecameHistoryFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    live_from: Date;
    requests: bigint;
    samples: BecameHistoryFacts['samples'];
  }>(statement('total/becameHistory'), [
    runId,
    JSON.stringify(actingOf(accounts)),
    configured,
    REQUESTS_NAMED_MAX,
  ]);
  return rows.map(({ account_id: accountId, live_from: liveFrom, requests, samples }) => {
    return { accountId, liveFrom, requests: Number(requests), samples };
  });
}

/** Refund requests that were open at a look before, and are dated as history by now. */
export async function datedBack(
  db: Db,
  runId: bigint,
  accounts: readonly { accountId: string; liveFrom: Date | null }[],
): Promise<DatedBackFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    live_from: Date;
    requests: bigint;
    samples: { requestId: string; orderNo: string; is: string; was: string }[];
  }>(statement('total/datedBack'), [runId, JSON.stringify(actingOf(accounts)), REQUESTS_NAMED_MAX]);
  return rows.map((row) => ({
    accountId: row.account_id,
    liveFrom: row.live_from,
    requests: Number(row.requests),
    samples: row.samples.map(({ is, was, ...one }) => {
      return { ...one, is: new Date(is), was: new Date(was) };
    }),
  }));
}

/** Requests of payouts that came later, and are dated as history. */
export async function datedBefore(
  db: Db,
  runId: bigint,
  accounts: readonly { accountId: string; liveFrom: Date | null }[],
): Promise<DatedBeforeFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    live_from: Date;
    requests: bigint;
    samples: { requestId: string; is: string }[];
  }>(statement('total/datedBefore'), [
    runId,
    JSON.stringify(actingOf(accounts)),
    REQUESTS_NAMED_MAX,
  ]);
  return rows.map((row) => ({
    accountId: row.account_id,
    liveFrom: row.live_from,
    requests: Number(row.requests),
    samples: row.samples.map(({ requestId, is }) => {
      return { requestId, orderNo: null, is: new Date(is) };
    }),
  }));
}

/** Those that act, as a statement takes them: from when on. */
function actingOf(accounts: readonly { accountId: string; liveFrom: Date | null }[]) {
  return accounts
    .filter(({ liveFrom }) => liveFrom !== null)
    .map(({ accountId, liveFrom }) => ({ account_id: accountId, live_from: liveFrom }));
}

/** What claims withdrew since the run before although it is still, or again, something to do. */
export async function withdrawnLate(db: Db, runId: bigint): Promise<WithdrawnLateFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    instructions: bigint;
    approved: bigint;
    sample: string;
    is_payout: boolean;
  }>(statement('total/withdrawnLate'), [runId]);
  return rows.map((row) => {
    const { account_id: accountId, sample, is_payout: isPayout } = row;
    const counts = { instructions: Number(row.instructions), approved: Number(row.approved) };
    return { accountId, ...counts, sample, isPayout };
  });
}

/** The newest few of each account, with how many there are. */
export async function payoutsChanged(
  db: Db,
  accountIds: readonly string[],
): Promise<PayoutChanged[]> {
  const values = [accountIds, REQUESTS_NAMED_MAX];
  return (await db.query<PayoutChanged>(statement('total/payoutsChanged'), values)).rows;
}
