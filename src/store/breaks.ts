// Breaks as people look for them: filtered, grouped by what they have in common, one with its whole
// life. Read only; breakDecisions.ts writes what people decide, updateBreaks.sql what looks show.

import type { BreakState } from '../core/breakDecision.js';
import type { Side } from '../core/sentence.js';
import type { BreakKind } from '../core/verdict.js';
import type { Db } from './db.js';

/** Which breaks; what is not given does not matter. */
export interface BreakFilter {
  readonly ids?: readonly string[];
  readonly accountIds?: readonly string[];
  readonly kinds?: readonly string[];
  readonly states?: readonly BreakState[];
  readonly currency?: string;
  /** null: with nobody */
  readonly owner?: string | null;
  /** the money in the break, printed shape */
  readonly minAmount?: string;
  readonly maxAmount?: string;
  /** in order number, transaction, owner, note, reasons and the gateway's words */
  readonly text?: string;
  /** first seen, inclusive and exclusive */
  readonly seenFrom?: Date;
  readonly seenBefore?: Date;
  readonly orderNo?: string;
  /** exactly this cause, as the groups name it */
  readonly cause?: string;
}

export interface FoundBreak {
  breakId: string;
  accountId: string;
  orderNo: string;
  kind: BreakKind;
  state: BreakState;
  firstSeen: Date;
  expected: Side;
  actual: Side;
  currency: string | null;
  /** the money in it as it stands; null: nobody can say */
  stake: string | null;
  /** gateway minus ledger, where it is a difference of money */
  difference: string | null;
  cause: string;
  owner: string | null;
  note: string | null;
  waivedBy: string | null;
  waivedReason: string | null;
  /** a waiver of what it says now, that waits for a second person */
  waiverAskedBy: string | null;
  waiverAskedReason: string | null;
}

/** What breaks can be put together by. */
export const BREAK_GROUPS = [
  'cause',
  'kind',
  'account',
  'currency',
  'owner',
  'age',
  'page',
  'batch',
  'delta',
  'text',
] as const;
export type BreakGroup = (typeof BREAK_GROUPS)[number];

export interface BreakGroupRow {
  key: string | null;
  breaks: number;
  orders: number;
  oldest: Date;
  /** money in them by currency; breaks without an amount are counted apart */
  money: Record<string, string>;
  withoutAmount: number;
}

/** Days since it was first seen; the last has no end. */
export const AGE_BUCKETS: readonly { name: string; from: number; to: number | null }[] = [
  { name: '0-1', from: 0, to: 1 },
  { name: '2-7', from: 2, to: 7 },
  { name: '8-30', from: 8, to: 30 },
  { name: '31-90', from: 31, to: 90 },
  { name: '91+', from: 91, to: null },
];

const MATCHING = `
  ($1::bigint[] is null or f.break_id = any ($1))
  and ($2::text[] is null or f.account_id = any ($2))
  and ($3::text[] is null or f.kind = any ($3))
  and ($4::text[] is null or f.state = any ($4))
  and ($5::text is null or f.currency = $5)
  and ($6::text is null or coalesce(f.owner, '') = $6)
  and ($7::numeric is null or f.stake >= $7) and ($8::numeric is null or f.stake <= $8)
  and ($9::text is null or position(lower($9) in lower(concat_ws(' ', f.order_no,
    f.actual ->> 'transaction', f.owner, f.note, f.waived_reason, f.waiver_asked_reason, f.text,
    f.expected ->> 'problem', f.actual ->> 'code'))) > 0)
  and ($10::timestamptz is null or f.first_seen >= $10)
  and ($11::timestamptz is null or f.first_seen < $11)
  and ($12::text is null or f.order_no = $12)
  and ($13::text is null or f.cause = $13)`;

function values(filter: BreakFilter): unknown[] {
  return [
    filter.ids ?? null,
    filter.accountIds ?? null,
    filter.kinds ?? null,
    filter.states ?? null,
    filter.currency ?? null,
    filter.owner === undefined ? null : (filter.owner ?? ''),
    filter.minAmount ?? null,
    filter.maxAmount ?? null,
    filter.text ?? null,
    filter.seenFrom ?? null,
    filter.seenBefore ?? null,
    filter.orderNo ?? null,
    filter.cause ?? null,
  ];
}

const COLUMNS = `f.break_id::text as "breakId", f.account_id as "accountId",
  f.order_no as "orderNo", f.kind, f.state, f.first_seen as "firstSeen", f.expected, f.actual,
  f.currency, round(f.stake, 2)::text as stake, f.difference::text as difference, f.cause,
  f.owner, f.note, f.waived_by as "waivedBy", f.waived_reason as "waivedReason",
  case when f.waiver_waits then f.waiver_asked_by end as "waiverAskedBy",
  case when f.waiver_waits then f.waiver_asked_reason end as "waiverAskedReason"`;

/** Matching breaks, oldest first; `page.limit` of them from `page.offset`. */
export async function findBreaks(
  db: Db,
  filter: BreakFilter,
  page: { limit: number; offset: number },
): Promise<FoundBreak[]> {
  const { rows } = await db.query<FoundBreak>(
    `select ${COLUMNS} from tieout.break_facts f where ${MATCHING}
     order by f.first_seen, f.account_id, f.order_no, f.kind limit $14 offset $15`,
    [...values(filter), page.limit, page.offset],
  );
  return rows;
}

/** Matching breaks counted, in all (one row, key null) or put together, largest first. */
export async function countBreaks(
  db: Db,
  filter: BreakFilter,
  group: BreakGroup | null,
  asOf: Date,
  limit: number,
): Promise<BreakGroupRow[]> {
  const { rows } = await db.query<{
    key: string | null;
    breaks: bigint;
    orders: bigint;
    oldest: Date;
    money: Record<string, string> | null;
    without_amount: bigint;
  }>(
    `with found as (
       select ${group === null ? 'null' : GROUP_KEYS[group]} as key, f.account_id, f.order_no,
         f.first_seen, f.currency, f.stake, $14::timestamptz as as_of
       from ${sourceOf(filter, group)} f where ${MATCHING}
     ),
     money as (
       select key, jsonb_object_agg(currency, amount) as money from (
         select key, currency, round(sum(stake), 2)::text as amount from found
         where currency is not null and stake is not null group by key, currency) as sums
       group by key
     )
     select key, count(*) as breaks, count(distinct (account_id, order_no)) as orders,
       min(first_seen) as oldest, (select m.money from money m where m.key is not distinct from
         found.key) as money,
       count(*) filter (where stake is null or currency is null) as without_amount
     from found group by key order by breaks desc, oldest, key limit $15`,
    [...values(filter), asOf, limit],
  );
  return rows.map((row) => ({
    key: row.key,
    breaks: Number(row.breaks),
    orders: Number(row.orders),
    oldest: row.oldest,
    money: row.money ?? {},
    withoutAmount: Number(row.without_amount),
  }));
}

/** Breaks without what they share with others: nothing is looked up for each. */
const LEAN = `(select b.*, null::text as cause, null::text as text,
    greatest(b.amount, tieout.break_stake(b.kind, b.expected, b.actual)) as stake
  from tieout.breaks b)`;
const LEAN_GROUPS: readonly (BreakGroup | null)[] = [
  null,
  'kind',
  'account',
  'currency',
  'owner',
  'age',
];

function sourceOf(filter: BreakFilter, group: BreakGroup | null): string {
  const isLean = filter.cause === undefined && filter.text === undefined;
  return isLean && LEAN_GROUPS.includes(group) ? LEAN : 'tieout.break_facts';
}

const DAYS_OLD = `floor(extract(epoch from $14::timestamptz - f.first_seen) / 86400)`;

const GROUP_KEYS: Readonly<Record<BreakGroup, string>> = {
  cause: 'f.cause',
  kind: 'f.kind',
  account: 'f.account_id',
  currency: 'f.currency',
  owner: 'f.owner',
  age: `case ${AGE_BUCKETS.map(({ name, to }) =>
    to === null ? `else '${name}'` : `when ${DAYS_OLD} <= ${to} then '${name}'`,
  ).join(' ')} end`,
  page: 'f.page',
  batch: 'f.batch',
  delta: `f.difference || ' ' || f.currency`,
  text: 'f.text',
};

export interface BreakEvent {
  at: Date;
  businessDate: string | null;
  event: string;
  by: string;
  isClaim: boolean;
  reason: string | null;
  /** by what it resolved */
  cause: string | null;
  decidedOver: string | null;
  expected: Side;
  actual: Side;
}

/** What happened to a break, oldest first. */
export async function breakLife(db: Db, breakId: string): Promise<BreakEvent[]> {
  const { rows } = await db.query<BreakEvent>(
    `select e.at, r.business_date as "businessDate", e.event, e.by, e.is_claim as "isClaim",
       e.reason, e.cause, e.decided_over as "decidedOver", e.expected, e.actual
     from tieout.break_events e left join tieout.runs r using (run_id)
     where e.break_id = $1 order by e.event_id`,
    [breakId],
  );
  return rows;
}

export interface MovedBreak {
  accountId: string;
  orderNo: string;
  kind: BreakKind;
  event: 'opened' | 'reopened' | 'waived' | 'resolved';
  at: Date;
  by: string;
  reason: string | null;
  cause: string | null;
  currency: string | null;
  amount: string | null;
  expected: Side;
  actual: Side;
}

/** What took a run from its open breaks before to those after: the events that its tie counts. */
export async function movedBreaks(db: Db, runId: bigint, limit: number): Promise<MovedBreak[]> {
  const { rows } = await db.query<MovedBreak>(
    `select b.account_id as "accountId", b.order_no as "orderNo", b.kind, e.event, e.at, e.by,
       e.reason, e.cause, e.currency, e.amount::text as amount, e.expected, e.actual
     from tieout.run_accounts a
     join tieout.breaks b using (account_id)
     join tieout.break_events e on e.break_id = b.break_id and e.event_id > a.events_after
       and e.event_id <= coalesce(a.events_until, e.event_id)
     where a.run_id = $1 and (e.event in ('opened', 'reopened')
       or (e.event in ('waived', 'resolved') and e.from_state = 'open'))
     order by a.account_id, e.event, b.kind, e.event_id limit $2`,
    [runId, limit],
  );
  return rows;
}
