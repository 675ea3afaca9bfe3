// Business days: movements posted to them, their figures, and what people decided about them. A
// closed day never changes: the database refuses a movement for it, and what is known later stands
// as an adjustment in the first open day. Neighbours: core/runs/businessDay.ts, days/days.ts.

import type { Decider } from '../core/instructions/decider.js';
import type { DayFigures, DayState, DayWorkbook, Signing } from '../core/runs/businessDay.js';
import type { ClosingFacts, MovedAfter } from '../core/runs/closingChecklist.js';
import { isExplained } from '../core/runs/statement.js';
import type { Db, LongReads } from '../database/db.js';
import { inTransaction } from '../database/db.js';
import { statement } from '../database/statements.js';
import { signDecided } from '../signatures/signaturesStore.js';

/** At most so many open items, moved orders or late movements of a day are named; all count. */
const ITEMS_MAX = 1_000;

/** Rows that are named, and how many there are in all. */
export interface Named<R> {
  rows: R[];
  count: number;
}

interface DayEvent {
  accountId: string;
  businessDate: string;
  event: 'closed' | 'locked' | 'reopened';
  at: Date;
  by: string;
  isClaim: boolean;
  reason: string;
  figures: unknown;
  /** those that were named */
  openItems: object[];
  /** all of them; null: as many as were kept then, or more */
  openCount: number | null;
  /** the workbook that was seen; null: none, or it was signed before that was kept */
  workbook: Pick<DayWorkbook, 'revision' | 'sha256'> | null;
}

/** Nobody else posts to the account's days, closes or reopens them until the transaction ends. */
export async function holdDays(tx: Db, accountId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.days'), hashtext($1))`, [
    accountId,
  ]);
}

/** Posts what was confirmed and has no day yet; answers how many movements. */
export async function postMovements(db: Db, accountId: string): Promise<number> {
  return inTransaction(db, async (tx) => {
    await holdDays(tx, accountId);
    return (await tx.query(statement('days/postMovements'), [[accountId]])).rowCount;
  });
}

/** The accounts that had a run in the period. */
export async function daysAccounts(db: Db, from: string, to: string): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct ra.account_id from tieout.run_accounts ra join tieout.runs r using (run_id)
     where not r.is_dry and ra.merchant_id is not null and r.business_date between $1 and $2
     order by 1`,
    [from, to],
  );
  return rows.map((row) => row.account_id);
}

/** The same for many accounts; one whose days somebody holds is waited for alone. */
export async function postAllMovements(db: Db, accountIds: readonly string[]): Promise<void> {
  const busy = await inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ account_id: string; is_held: boolean }>(
      `select account_id,
         pg_try_advisory_xact_lock(hashtext('tieout.days'), hashtext(account_id)) as is_held
       from unnest($1::text[]) as a (account_id)`,
      [accountIds],
    );
    const held = rows.filter((row) => row.is_held).map((row) => row.account_id);
    await tx.query(statement('days/postMovements'), [held]);
    return rows.filter((row) => !row.is_held).map((row) => row.account_id);
  });
  for (const accountId of busy) await postMovements(db, accountId);
}

interface DayRow {
  account_id: string;
  business_date: string;
  currency: string;
  state: DayState;
  timezone: string | null;
  cut_off: string | null;
  as_of: Date | null;
  run_state: string | null;
  opening: string;
  captured: string;
  refunded: string;
  adjustments: string;
  closing: string;
  cancelled: string;
  cancelled_late: string;
  paid_out: string;
  captures: bigint;
  refunds: bigint;
  cancels: bigint;
  payouts: bigint;
  late: bigint;
  captured_elsewhere: string;
  refunded_elsewhere: string;
  suspense: bigint;
  book_begins: string | null;
}

export async function dayFigures(
  db: Db,
  accountIds: readonly string[],
  from: string,
  to: string,
): Promise<DayFigures[]> {
  const { rows } = await db.query<DayRow>(statement('days/dayFigures'), [accountIds, from, to]);
  return rows.map((row) => ({
    accountId: row.account_id,
    businessDate: row.business_date,
    currency: row.currency,
    state: row.state,
    timezone: row.timezone,
    cutOff: row.cut_off,
    asOf: row.as_of,
    runState: row.run_state,
    opening: row.opening,
    captured: row.captured,
    refunded: row.refunded,
    adjustments: row.adjustments,
    closing: row.closing,
    cancelled: row.cancelled,
    cancelledLate: row.cancelled_late,
    paidOut: row.paid_out,
    captures: Number(row.captures),
    refunds: Number(row.refunds),
    cancels: Number(row.cancels),
    payouts: Number(row.payouts),
    late: Number(row.late),
    ...elsewhereOf(row),
  }));
}

/** Of an account that has a book of movements. */
function elsewhereOf(row: DayRow): Pick<DayFigures, 'elsewhere'> {
  if (row.book_begins === null) return {};
  const { captured_elsewhere: captured, refunded_elsewhere: refunded, book_begins: since } = row;
  return { elsewhere: { captured, refunded, suspense: Number(row.suspense), since } };
}

/** Dates with a finished run of the account up to `date` that are open, oldest first. */
export async function openDates(db: Db, accountId: string, date: string): Promise<string[]> {
  return (await openDatesOf(db, [accountId], date)).get(accountId) ?? [];
}

/**
 * The same of every account that is named. Days close in their order, so that what follows the
 * newest one that is not open is open: that one is asked for once an account.
 */
export async function openDatesOf(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ accountId: string; dates: string[] }>(
    `with asked as materialized (
       select account_id, coalesce(tieout.closed_until(account_id), '-infinity') as closed_until
       from unnest($1::text[]) as asked (account_id)
     )
     select ra.account_id as "accountId", array_agg(ra.business_date::text
         order by ra.business_date) as dates
     from asked a
     join tieout.run_accounts ra on ra.account_id = a.account_id and ra.merchant_id is not null
       and ra.business_date > a.closed_until and ra.business_date <= $2::date
     join tieout.runs r using (run_id)
     where not r.is_dry and r.finished_at is not null and r.state not in ('running', 'failed')
     group by ra.account_id`,
    [accountIds, date],
  );
  return new Map(rows.map((row) => [row.accountId, row.dates]));
}

export async function dayState(db: Db, accountId: string, date: string): Promise<DayState> {
  return (await dayStates(db, [accountId], date)).get(accountId) ?? 'open';
}

/** Of every account that is named. */
export async function dayStates(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<Map<string, DayState>> {
  const { rows } = await db.query<{ account_id: string; state: DayState }>(
    `select account_id, tieout.day_state(account_id, $2::date) as state
     from unnest($1::text[]) as asked (account_id)`,
    [accountIds, date],
  );
  return new Map(rows.map((row) => [row.account_id, row.state]));
}

/** The newest closed or locked date of an account; null: every day is open. */
export async function closedUntil(db: Db, accountId: string): Promise<string | null> {
  const { rows } = await db.query<{ date: string | null }>(
    'select tieout.closed_until($1) as date',
    [accountId],
  );
  return rows[0]?.date ?? null;
}

/** The first locked date after a date; null: none is. */
export async function lockedAfter(db: Db, accountId: string, date: string): Promise<string | null> {
  const { rows } = await db.query<{ date: string | null }>(
    `select min(business_date) as date from tieout.day_events
     where account_id = $1 and business_date > $2::date and event = 'locked'`,
    [accountId, date],
  );
  return rows[0]?.date ?? null;
}

export async function recordDay(
  db: Db,
  event: Pick<DayEvent, 'accountId' | 'businessDate' | 'event' | 'reason' | 'workbook'> & {
    who: Decider;
    figures: unknown;
    /** beside the open items: what of the ledger was late */
    late: readonly object[];
  },
): Promise<void> {
  const open = await openItems(db, event.accountId);
  const isCut = open.rows.length === ITEMS_MAX;
  const kept = [
    ...open.rows,
    ...(isCut ? [{ what: 'more', count: open.count - open.rows.length }] : []),
    ...(event.workbook === null ? [] : [{ what: 'workbook', ...event.workbook }]),
    ...event.late,
  ];
  const { rows } = await db.query<{ event_id: bigint }>(
    `insert into tieout.day_events (account_id, business_date, event, by, is_claim, reason, figures,
       open_items)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning event_id`,
    [
      event.accountId,
      event.businessDate,
      event.event,
      event.who.name,
      event.who.isClaim,
      event.reason,
      JSON.stringify(event.figures),
      JSON.stringify(kept),
    ],
  );
  const written = rows.map((row) => row.event_id);
  await signDecided(db, event.who, 'day', written);
}

/** Open breaks and unfinished instructions as they stand now. */
export async function openItems(db: Db, accountId: string): Promise<Named<object>> {
  return named<object>(
    await db.query<Counted>(statement('days/dayOpenItems'), [accountId, ITEMS_MAX]),
  );
}

interface Counted {
  total: number;
}

function named<R extends object>({ rows }: { rows: readonly (R & Counted)[] }): Named<R> {
  const without = rows.map(({ total: _all, ...row }) => row as unknown as R);
  return { rows: without, count: rows[0]?.total ?? 0 };
}

/** The newest workbook of each date; a date without one has none. */
export async function dayWorkbooks(db: Db, dates: readonly string[]): Promise<DayWorkbook[]> {
  const { rows } = await db.query<DayWorkbook>(
    `select distinct on (r.business_date) r.business_date as "businessDate", p.revision, p.sha256
     from tieout.runs r join tieout.reports p using (run_id)
     where r.business_date = any ($1::date[]) and not r.is_dry and p.kind = 'reconciliation'
       and p.format = 'xlsx' and p.period is null and p.state = 'written'
     order by r.business_date, p.revision desc`,
    [dates],
  );
  return rows;
}

type CountedFacts = Omit<ClosingFacts, 'late' | 'movedAfter' | 'isLocked' | 'isRemoved'>;

interface FactsRow extends Record<keyof ClosingFacts, unknown> {
  accountId: string;
  /** of the newest workbook; null: none is written */
  statements: Parameters<typeof isExplained>[0][] | null;
}

/** What somebody who closes the day of an account should have seen: of every account named. */
export async function closingFacts(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<Map<string, CountedFacts>> {
  const values = [accountIds, date];
  const { rows } = await db.query<FactsRow>(statement('days/closingFacts'), values);
  return new Map(rows.map((row) => [row.accountId, factsOf(row)]));
}

function factsOf({ accountId: _id, statements, ...row }: FactsRow): CountedFacts {
  return {
    ...(row as unknown as ClosingFacts),
    isUnexplained: statements?.some((one) => !isExplained(one)) ?? null,
    notCompared: Number(row.notCompared),
    openBreaks: Number(row.openBreaks),
    openWithoutAmount: Number(row.openWithoutAmount),
    notSettled: Number(row.notSettled),
    waivedBreaks: Number(row.waivedBreaks),
    waivedWithoutAmount: Number(row.waivedWithoutAmount),
    suspense: Number(row.suspense),
    unknown: Number(row.unknown),
    waiting: Number(row.waiting),
  };
}

/** Of all accounts in one answer, for who signs. */
export async function movedAfter(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<MovedAfter[]> {
  const values = [accountIds, date];
  return (await db.query<MovedAfter>(statement('days/movedAfter'), values)).rows;
}

/** The same for a workbook, which has all of it: read with the other rows of its statement. */
export async function movedInWorkbook(
  reads: LongReads,
  accountIds: readonly string[],
  date: string,
): Promise<MovedAfter[]> {
  const found: MovedAfter[] = [];
  const chunks = reads.stream<MovedAfter>(statement('days/movedAfter'), [accountIds, date]);
  for await (const rows of chunks) found.push(...rows);
  return found.map((one) => ({ ...one, isStated: true }));
}

/** Who closed and who locked the day since it was last open, by account. */
export async function daySignings(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<Map<string, Signing[]>> {
  const { rows } = await db.query<{ account_id: string; events: Signing[] }>(
    'select account_id, events from tieout.day_signings($1, $2)',
    [date, accountIds],
  );
  return new Map(rows.map((row) => [row.account_id, row.events]));
}

/** Orders placed before the end of the day that the gateway dates after it. */
export async function movedAcross(db: Db, accountId: string, date: string): Promise<Named<object>> {
  const values = [accountId, date, ITEMS_MAX];
  return named<object>(await db.query<Counted>(statement('days/dayMoved'), values));
}

export interface LateMovement {
  orderNo: string;
  operation: string;
  currency: string;
  amount: string;
  belongsTo: string;
}

/** What stands in a day and belongs to an earlier one. */
export async function lateMovements(
  db: Db,
  accountId: string,
  date: string,
): Promise<Named<LateMovement>> {
  const found = await db.query<LateMovement & Counted>(
    `select order_no as "orderNo", operation, currency, amount::text as amount,
       belongs_to as "belongsTo", count(*) over ()::int as total
     from tieout.day_movements
     where account_id = $1 and posted_to = $2 and belongs_to <> posted_to
     order by belongs_to, movement_id limit $3`,
    [accountId, date, ITEMS_MAX],
  );
  return named<LateMovement>(found);
}

export async function dayEvents(db: Db, accountId: string, date: string): Promise<DayEvent[]> {
  const { rows } = await db.query<DayEvent>(statement('days/dayEvents'), [
    accountId,
    date,
    ITEMS_MAX,
  ]);
  return rows;
}
