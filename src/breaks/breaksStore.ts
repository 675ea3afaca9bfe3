// Breaks as people look for them, on the console as by commands: filtered, sorted, grouped by what
// they have in common, one with its whole life. Filters arrive as values, the order as one of a
// short list; nothing of a request becomes part of a statement. Read only; breakDecisionsStore.ts
// writes what people decide, updateBreaks.sql what snapshots show.

import { AGES, seenRanges } from '../core/breaks/breakAge.js';
import type { BreakState } from '../core/breaks/breakDecision.js';
import type { Side } from '../core/breaks/sentence.js';
import type { BreakKind } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';

/** Which breaks; what is not given, or null, does not matter, save for the owner. */
export interface BreakFilter {
  readonly ids?: readonly string[] | null;
  readonly accountIds?: readonly string[] | null;
  readonly kinds?: readonly string[] | null;
  readonly states?: readonly BreakState[] | null;
  readonly currency?: string | null;
  /** null: with nobody */
  readonly owner?: string | null;
  /** the money in the break, printed shape */
  readonly minAmount?: string | null;
  readonly maxAmount?: string | null;
  /** in order number, transactions, owner, note, reasons and the gateway's words */
  readonly text?: string | null;
  /** first seen, inclusive and exclusive */
  readonly seenFrom?: Date | null;
  readonly seenBefore?: Date | null;
  readonly orderNo?: string | null;
  /** exactly this cause, as the groups name it */
  readonly cause?: string | null;
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

const MATCHING = `
  ($1::bigint[] is null or f.break_id = any ($1))
  and ($2::text[] is null or f.account_id = any ($2))
  and ($3::text[] is null or f.kind = any ($3))
  and ($4::text[] is null or f.state = any ($4))
  and ($5::text is null or f.currency = $5)
  and ($6::text is null or coalesce(f.owner, '') = $6)
  and ($7::numeric is null or f.stake >= $7) and ($8::numeric is null or f.stake <= $8)
  and ($9::text is null or position(lower($9) in f.searched) > 0)
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

/** What a list can be sorted by. */
export const BREAK_SORTS = ['age', 'amount', 'order'] as const;
export type BreakSort = (typeof BREAK_SORTS)[number];

/** Amounts of two currencies are not compared: the largest of each stand together. */
const ORDER_BY: Readonly<Record<BreakSort, string>> = {
  age: 'f.first_seen, f.account_id, f.order_no, f.kind',
  amount: 'f.currency nulls last, f.stake desc nulls last, f.break_id',
  order: 'f.account_id, f.order_no, f.kind',
};

export interface BreakPage {
  limit: number;
  offset: number;
  /** oldest first where it does not say */
  sort?: BreakSort;
}

/** Matching breaks; `page.limit` of them from `page.offset`. */
export async function findBreaks(
  db: Db,
  filter: BreakFilter,
  page: BreakPage,
): Promise<FoundBreak[]> {
  const { rows } = await db.query<FoundBreak>(
    `select ${COLUMNS} from tieout.break_facts f where ${MATCHING}
     order by ${ORDER_BY[page.sort ?? 'age']} limit $14 offset $15`,
    [...values(filter), page.limit, page.offset],
  );
  return rows;
}

/** How many match, counted no further than one past `most`. */
export async function countUpTo(db: Db, filter: BreakFilter, most: number): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from (
       select from tieout.break_facts f where ${MATCHING} limit $14) as found`,
    [...values(filter), most + 1],
  );
  return Number(rows[0]?.count ?? 0);
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
         f.first_seen, f.currency, f.stake
       from tieout.break_facts f ${group === 'age' ? joinAge('$15') : ''} where ${MATCHING}
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
     from found group by key order by breaks desc, oldest, key limit $14`,
    [...values(filter), limit, ...(group === 'age' ? [JSON.stringify(seenRanges(asOf))] : [])],
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

/** The parameter: the ages with the instants between which a break of each was first seen. */
function joinAge(ranges: '$14' | '$15'): string {
  return `join jsonb_to_recordset(${ranges}::jsonb)
      as age (name text, "seenFrom" timestamptz, "seenBefore" timestamptz)
    on (age."seenFrom" is null or f.first_seen >= age."seenFrom")
      and (age."seenBefore" is null or f.first_seen < age."seenBefore")`;
}

const GROUP_KEYS: Readonly<Record<BreakGroup, string>> = {
  cause: 'f.cause',
  kind: 'f.kind',
  account: 'f.account_id',
  currency: 'f.currency',
  owner: 'f.owner',
  age: 'age.name',
  page: 'f.page',
  batch: 'f.batch',
  delta: `f.difference || ' ' || f.currency`,
  text: 'f.text',
};

/** Open breaks of these accounts, counted in the order of the ages. */
export async function openByAge(
  db: Db,
  accountIds: readonly string[],
  asOf: Date,
): Promise<number[]> {
  const { rows } = await db.query<{ name: string; count: bigint }>(
    `select age.name, count(*) as count from tieout.break_facts f ${joinAge('$14')}
     where ${MATCHING} group by age.name`,
    [...values({ accountIds, states: ['open'] }), JSON.stringify(seenRanges(asOf))],
  );
  return AGES.map(({ name }) => Number(rows.find((row) => row.name === name)?.count ?? 0));
}

/** What the filters can be set to: currencies and owners of breaks that are not resolved. */
export async function breakChoices(
  db: Db,
  accountIds: readonly string[],
): Promise<{ currencies: string[]; owners: string[] }> {
  const { rows } = await db.query<{ currencies: string[] | null; owners: string[] | null }>(
    `select array_agg(distinct currency) filter (where currency is not null) as currencies,
       array_agg(distinct owner) filter (where owner is not null) as owners
     from tieout.breaks where state <> 'resolved' and account_id = any ($1)`,
    [accountIds],
  );
  return { currencies: rows[0]?.currencies ?? [], owners: rows[0]?.owners ?? [] };
}

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

/** With the money that was in the break then. */
export interface LifeEvent extends BreakEvent {
  currency: string | null;
  amount: string | null;
}

/** What happened to a break, oldest first; no more than `limit` of it where one is given. */
export async function breakLife(
  db: Db,
  breakId: string,
  limit: number | null = null,
): Promise<LifeEvent[]> {
  const { rows } = await db.query<LifeEvent>(
    `select e.at, r.business_date as "businessDate", e.event, e.by, e.is_claim as "isClaim",
       e.reason, e.cause, e.decided_over as "decidedOver", e.expected, e.actual, e.currency,
       e.amount::text as amount
     from tieout.break_events e left join tieout.runs r using (run_id)
     where e.break_id = $1 order by e.event_id limit $2`,
    [breakId, limit],
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
