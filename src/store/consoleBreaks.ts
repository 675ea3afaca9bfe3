// Breaks as the console lists them: filtered, sorted and cut into pages by the database, so that a
// list of ten thousand costs what its page costs. Filters arrive as values, the order as one of a
// short list; nothing of a request becomes part of a statement. Read only.

import type { BreakState } from '../core/breakDecision.js';
import type { Side } from '../core/sentence.js';
import type { BreakKind } from '../core/verdict.js';
import type { Db } from './db.js';

export const BREAK_SORTS = ['age', 'amount', 'order'] as const;
export type BreakSort = (typeof BREAK_SORTS)[number];

export interface BreakFilter {
  accountIds: readonly string[];
  state: BreakState | null;
  kind: BreakKind | null;
  currency: string | null;
  /** `-`: nobody */
  owner: string | null;
  /** seen for more than, and less than, so many days */
  ageFrom: number | null;
  ageBelow: number | null;
  amountFrom: string | null;
  amountTo: string | null;
  /** part of an order number, a note or a transaction */
  text: string | null;
  now: Date;
}

export interface ListedBreak {
  breakId: bigint;
  accountId: string;
  orderNo: string;
  kind: BreakKind;
  state: BreakState;
  firstSeen: Date;
  ageDays: number;
  currency: string | null;
  amount: string | null;
  owner: string | null;
  note: string | null;
  expected: Side;
  actual: Side;
}

const ORDER_BY: Record<BreakSort, string> = {
  age: 'first_seen, break_id',
  amount: 'amount desc nulls last, break_id',
  order: 'account_id, order_no, kind',
};

const WHERE = `account_id = any ($1) and ($2::text is null or state = $2)
  and ($3::text is null or kind = $3)
  and ($4::text is null or currency = $4)
  and ($5::text is null or owner = $5 or ($5 = '-' and owner is null))
  and ($6::int is null or first_seen <= $12::timestamptz - make_interval(days => $6))
  and ($7::int is null or first_seen > $12::timestamptz - make_interval(days => $7))
  and ($8::numeric is null or amount >= $8)
  and ($9::numeric is null or amount <= $9)
  and ($10::text is null or position(lower($10) in lower(order_no)) > 0
    or position(lower($10) in lower(coalesce(note, ''))) > 0
    or position(lower($10) in lower(actual::text)) > 0)
  and ($11::bigint is null or break_id = $11)`;

const LIST = `break_id, account_id, order_no, kind, state, first_seen, currency, amount::text,
  owner, note, expected, actual,
  floor(extract(epoch from $12::timestamptz - first_seen) / 86400)::int as age_days`;

/** A count stops here: "more than". */
export const COUNTED_MAX = 10_000;

export async function countBreaks(db: Db, filter: BreakFilter): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from (select 1 from tieout.breaks where ${WHERE}
       limit ${COUNTED_MAX + 1}) found`,
    valuesOf(filter, null),
  );
  return Number(rows[0]?.count ?? 0);
}

export async function listBreaks(
  db: Db,
  filter: BreakFilter,
  page: { sort: BreakSort; offset: number; limit: number },
): Promise<ListedBreak[]> {
  const { rows } = await db.query<RawBreak>(
    `select ${LIST} from tieout.breaks where ${WHERE}
     order by ${ORDER_BY[page.sort]} limit $13 offset $14`,
    [...valuesOf(filter, null), page.limit, page.offset],
  );
  return rows.map(toBreak);
}

export async function oneBreak(
  db: Db,
  accountIds: readonly string[],
  breakId: bigint,
  now: Date,
): Promise<ListedBreak | null> {
  const filter: BreakFilter = { ...ANY_BREAK, accountIds, now };
  const { rows } = await db.query<RawBreak>(
    `select ${LIST} from tieout.breaks where ${WHERE}`,
    valuesOf(filter, breakId),
  );
  return rows[0] ? toBreak(rows[0]) : null;
}

export const ANY_BREAK: Omit<BreakFilter, 'accountIds' | 'now'> = {
  state: null,
  kind: null,
  currency: null,
  owner: null,
  ageFrom: null,
  ageBelow: null,
  amountFrom: null,
  amountTo: null,
  text: null,
};

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

export interface BreakEventRow {
  at: Date;
  event: string;
  by: string;
  reason: string | null;
  amount: string | null;
  currency: string | null;
  businessDate: string | null;
}

/** A break's whole life, oldest first. */
export async function breakEvents(
  db: Db,
  breakId: bigint,
  limit: number,
): Promise<BreakEventRow[]> {
  const { rows } = await db.query<{
    at: Date;
    event: string;
    by: string;
    reason: string | null;
    amount: string | null;
    currency: string | null;
    business_date: string | null;
  }>(
    `select e.at, e.event, e.by, e.reason, e.amount::text, e.currency, r.business_date
     from tieout.break_events e left join tieout.runs r using (run_id)
     where e.break_id = $1 order by e.event_id limit $2`,
    [breakId, limit],
  );
  return rows.map(({ business_date: businessDate, ...row }) => ({ ...row, businessDate }));
}

/** Accounts among these whose ledger, looks or breaks know the order number. */
export async function accountsWithOrder(
  db: Db,
  accountIds: readonly string[],
  orderNo: string,
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select account_id from unnest($1::text[]) as wanted (account_id)
     where exists (select 1 from tieout.ledger_orders('{}', '{}', '') o
         where o.account_id = wanted.account_id and o.order_no = $2)
       or exists (select 1 from tieout.breaks b
         where b.account_id = wanted.account_id and b.order_no = $2)
       or exists (select 1 from tieout.instructions i
         where i.account_id = wanted.account_id and i.order_no = $2)
     order by account_id`,
    [accountIds, orderNo],
  );
  return rows.map((row) => row.account_id);
}

interface RawBreak {
  break_id: bigint;
  account_id: string;
  order_no: string;
  kind: BreakKind;
  state: BreakState;
  first_seen: Date;
  age_days: number;
  currency: string | null;
  amount: string | null;
  owner: string | null;
  note: string | null;
  expected: Side;
  actual: Side;
}

function toBreak(row: RawBreak): ListedBreak {
  return {
    breakId: row.break_id,
    accountId: row.account_id,
    orderNo: row.order_no,
    kind: row.kind,
    state: row.state,
    firstSeen: row.first_seen,
    ageDays: row.age_days,
    currency: row.currency,
    amount: row.amount,
    owner: row.owner,
    note: row.note,
    expected: row.expected,
    actual: row.actual,
  };
}

function valuesOf(filter: BreakFilter, breakId: bigint | null): unknown[] {
  return [
    filter.accountIds,
    filter.state,
    filter.kind,
    filter.currency,
    filter.owner,
    filter.ageFrom,
    filter.ageBelow,
    filter.amountFrom,
    filter.amountTo,
    filter.text,
    breakId,
    filter.now,
  ];
}

/** Those of the breaks that are of these accounts. */
export async function visibleBreaks(
  db: Db,
  accountIds: readonly string[],
  breakIds: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await db.query<{ break_id: bigint }>(
    `select break_id from tieout.breaks
     where break_id = any ($2::bigint[]) and account_id = any ($1) order by break_id`,
    [accountIds, breakIds],
  );
  return rows.map((row) => row.break_id);
}
