// Breaks as people look for them, on the console as by commands: filtered, sorted, grouped by what
// they have in common, one with its whole life. Filters arrive as values, the order as one of a
// short list; nothing of a request becomes part of a statement. Read only; breakDecisionsStore.ts
// writes what people decide, compare/updateBreaks.sql what snapshots show and
// settlement/updateBreaks.sql what the acquirer's lines do.

import { type AgeClock, seenRanges } from '../core/breaks/breakAge.js';
import type { BreakState } from '../core/breaks/breakDecision.js';
import type { RefusedHere, SettledRefund, Side } from '../core/breaks/sentence.js';
import type { BreakKind } from '../core/orders/verdict.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** Which breaks; what is not given, or null, does not matter, save for the owner. */
export interface BreakFilter {
  readonly ids?: readonly string[] | null;
  readonly accountIds?: readonly string[] | null;
  readonly kinds?: readonly string[] | null;
  /** waiver_asked: open, and a waiver of what it says now waits for a second person */
  readonly states?: readonly (BreakState | 'waiver_asked')[] | null;
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
  /** of a refund mismatch what the acquirer's files settle as refunded elsewhere; null: nothing */
  settledRefunds: SettledRefund[] | null;
  /** what a person refused of it, where that stands (tieout.refused_here); null: nothing */
  refused: RefusedHere | null;
  waivedBy: string | null;
  waivedReason: string | null;
  /** a waiver of what it says now, that waits for a second person */
  waiverAskedBy: string | null;
  waiverAskedReason: string | null;
  /** the digest of what is seen of it, and the newest event of its trail: a decision is bound so */
  seen: string;
  last: string;
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

/** In the order of tieout.found_breaks. */
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

/** What a list can be sorted by. */
export const BREAK_SORTS = ['age', 'amount', 'order', 'account', 'kind', 'owner'] as const;
export type BreakSort = (typeof BREAK_SORTS)[number];

interface BreakPage {
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
  const { rows } = await db.query<FoundBreak>(statement('breaks/findBreaks'), [
    ...values(filter),
    ...[page.limit, page.offset, page.sort ?? 'age'],
  ]);
  return rows;
}

/** How many match, counted no further than one past `most`. */
export async function countUpTo(db: Db, filter: BreakFilter, most: number): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from (
       select from tieout.found_breaks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
       limit $14) as found`,
    [...values(filter), most + 1],
  );
  return Number(rows[0]?.count ?? 0);
}

/**
 * Matching breaks counted, in all (one row, key null) or put together: those with most breaks
 * first, or with most money in a currency; `limit` of the groups from `offset`.
 */
export async function countBreaks(
  db: Db,
  filter: BreakFilter,
  group: BreakGroup | null,
  clock: AgeClock,
  limit: number,
  most: string | null = null,
  offset = 0,
): Promise<BreakGroupRow[]> {
  const { rows } = await db.query<{
    key: string | null;
    breaks: bigint;
    orders: bigint;
    oldest: Date;
    money: Record<string, string> | null;
    without_amount: bigint;
  }>(statement('breaks/countBreaks'), [
    ...values(filter),
    limit,
    group,
    JSON.stringify(group === 'age' ? seenRanges(clock) : []),
    most,
    offset,
  ]);
  return rows.map((row) => ({
    key: row.key,
    breaks: Number(row.breaks),
    orders: Number(row.orders),
    oldest: row.oldest,
    money: row.money ?? {},
    withoutAmount: Number(row.without_amount),
  }));
}

/** Orders with more than one open break of a currency. */
export interface CountedAgain {
  orders: number;
  /** of all their breaks but the largest of each order, by currency */
  money: Record<string, string>;
  /** some of the orders */
  named: string[];
}

export async function countedAgain(
  db: Db,
  accountIds: readonly string[],
  named: number,
): Promise<CountedAgain> {
  const values = [accountIds, named];
  const { rows } = await db.query<CountedAgain>(statement('breaks/countedAgain'), values);
  return rows[0] ?? { orders: 0, money: {}, named: [] };
}

/** How many causes those that match have. */
export async function countCauses(db: Db, filter: BreakFilter): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(distinct cause) as count from
       tieout.found_breaks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values(filter),
  );
  return Number(rows[0]?.count ?? 0);
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

/** A break of a set that is decided together, with what the decision is bound to. */
export interface SetBreak {
  breakId: string;
  accountId: string;
  orderNo: string;
  state: BreakState;
  currency: string | null;
  stake: string | null;
  /** what the limit of a waiver counts: at least what the break opened with */
  waiverStake: string | null;
  owner: string | null;
  note: string | null;
  waiverAskedBy: string | null;
  firstSeen: Date;
  seen: string;
  last: string;
}

/** All that match, oldest first, at most so many. */
export async function breakSet(db: Db, filter: BreakFilter, limit: number): Promise<SetBreak[]> {
  const { rows } = await db.query<SetBreak>(statement('breaks/breakSet'), [
    ...values(filter),
    limit,
  ]);
  return rows;
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

/** With the money that was at stake in the break then. */
interface LifeEvent extends BreakEvent {
  currency: string | null;
  amount: string | null;
}

/** All that happened to a break, oldest first: what an event is called hangs on those before it. */
export async function breakLife(db: Db, breakId: string): Promise<LifeEvent[]> {
  const { rows } = await db.query<LifeEvent>(statement('breaks/breakLife'), [breakId]);
  return rows;
}

interface AskedWaiver {
  /** of the newest asking; null: nobody has asked */
  at: Date | null;
  /** what its limit counts, as printed; null: nobody can say */
  stake: string | null;
}

/** When a waiver of the break was asked for, and how much its limit counts; null: no such break. */
export async function askedWaiver(db: Db, breakId: string): Promise<AskedWaiver | null> {
  const { rows } = await db.query<AskedWaiver>(
    `select tieout.waiver_stake(kind, currency, amount, expected, actual)::text as stake,
       (select max(e.at) from tieout.break_events e
         where e.break_id = b.break_id and e.event = 'waiver_asked') as at
     from tieout.breaks b where break_id = $1`,
    [breakId],
  );
  return rows[0] ?? null;
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
