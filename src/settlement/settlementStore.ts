// Reads and writes of settlement: matching, breaks, figures. The long statements are files beside
// this one. Neighbour: settlement.ts says in which order, and what they are asked with.

import type { LateOrders } from '../core/alertMessages.js';
import { analyse } from '../database/analyse.js';
import type { Database, Db } from '../database/db.js';
import { plannedBy } from '../database/db.js';
import { identifier } from '../database/identifiers.js';
import { statement } from '../database/statements.js';

/** An account with its newest run, as the statements join it. */
export interface SettledAccount {
  readonly account_id: string;
  /** movements up to this business date are overdue without a line; null: no run yet */
  readonly due_until: string | null;
  /** of the newest run: what was booked up to then, a look would have shown */
  readonly seen_until: string | null;
}

/** From when on, and which instant is in which business date. */
export interface SettlementTimes {
  readonly from: string;
  readonly cutOff: string;
  readonly timezone: string;
}

/** Lines of the tariff as the statements join them. */
export interface TariffRow {
  readonly account_id: string;
  readonly type: string;
  readonly parts_per_million: string;
  readonly fixed: Readonly<Record<string, string>>;
  readonly from: string;
  /** the date of the one that follows it */
  readonly until: string | null;
  readonly tolerance: string;
}

export interface FeeRules {
  readonly tariff: readonly TariffRow[];
  /** decimals of currencies that have fewer than two */
  readonly coarse: Readonly<Record<string, number>>;
}

/** Two that matched at once would give one movement to two lines. */
export async function holdSettlement(tx: Db): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.settlement'))`);
}

/** The newest business date of each account that a run saw whole; one run that is at it counts. */
export async function newestDates(
  db: Db,
  accountIds: readonly string[],
  runId: bigint | null,
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ account_id: string; date: string }>(
    `select a.account_id, max(a.business_date)::text as date
     from tieout.run_accounts a join tieout.runs r using (run_id)
     where a.account_id = any ($1) and not r.is_dry and a.merchant_id is not null
       and (a.events_until is not null or a.run_id = $2)
     group by a.account_id`,
    [accountIds, runId],
  );
  return new Map(rows.map((row) => [row.account_id, row.date]));
}

/** A line that found its movement may leave one alone for another line; more wait for the night. */
const MATCH_PASSES_MAX = 4;
/** Of large batches sorts and hashes stay in memory. */
const MATCH_SETTINGS = { work_mem: '128MB' };

/** Gives every line the movement that can be said for sure; answers how many movements have one. */
export async function matchLines(
  tx: Db,
  accounts: readonly SettledAccount[],
  { cutOff, timezone }: SettlementTimes,
): Promise<number> {
  const accountIds = accounts.map((one) => one.account_id);
  const seen = accounts.map((one) => one.seen_until);
  await plannedBy(tx, MATCH_SETTINGS);
  // What waits comes and goes by ten thousands, and is none to whoever counted in between: planned
  // for none, all lines are read again for each. It is counted anew before and after it changes.
  await analyse(tx, identifier('tieout', 'settlement_unmatched'));
  let all = await matchPlain(tx, accountIds);
  await analyse(tx, identifier('tieout', 'settlement_unmatched'));
  for (let pass = 0; pass < MATCH_PASSES_MAX; pass += 1) {
    const { rowCount } = await tx.query(statement('settlement/matchLines'), [
      ...[accountIds, seen, cutOff, timezone],
    ]);
    if (rowCount === 0) break;
    all += rowCount;
  }
  return all;
}

/**
 * Lines are written by one import after the other, so that what is newer than the newest line of
 * the last look was not there then.
 */
async function matchPlain(tx: Db, accountIds: readonly string[]): Promise<number> {
  const { rows: accounts } = await tx.query<{ id: string; looked: bigint; newest: bigint }>(
    `select a.id, coalesce(k.settlement_line_id, 0) as looked,
       coalesce((select max(settlement_line_id) from tieout.settlement_lines), 0) as newest
     from unnest($1::text[]) as a (id)
     left join tieout.settlement_looks k on k.account_id = a.id collate "C"`,
    [accountIds],
  );
  const [first] = accounts;
  if (first === undefined) return 0;
  const { newest } = first;
  const looked = accounts.map((one) => one.looked);
  const least = looked.reduce((one, other) => (one < other ? one : other));
  const ids = accounts.map((one) => one.id);
  const { rowCount } = await tx.query(statement('settlement/pairPlain'), [
    ...[ids, looked, least, newest],
  ]);
  await tx.query(
    `insert into tieout.settlement_looks as k (account_id, settlement_line_id)
     select id, $2 from unnest($1::text[]) as a (id)
     on conflict (account_id) do update set settlement_line_id = excluded.settlement_line_id
     where k.settlement_line_id < excluded.settlement_line_id`,
    [ids, newest],
  );
  return rowCount;
}

export async function updateBreaks(
  tx: Db,
  accounts: readonly SettledAccount[],
  { from, cutOff, timezone }: SettlementTimes,
  { tariff, coarse }: FeeRules,
  now: Date,
): Promise<void> {
  await tx.query(statement('settlement/findDifferences'), [
    ...[JSON.stringify(accounts), from, cutOff, timezone],
    ...[JSON.stringify(tariff), JSON.stringify(coarse)],
  ]);
  const accountIds = accounts.map((one) => one.account_id);
  await tx.query(statement('settlement/updateBreaks'), [accountIds, now]);
  await tx.query('drop table settlement_found');
}

/** Of the breaks that were opened at this instant, what is overdue. */
export async function lateOrders(
  tx: Db,
  accountIds: readonly string[],
  openedAt: Date,
): Promise<LateOrders[]> {
  const values = [accountIds, openedAt];
  return (await tx.query<LateOrders>(statement('settlement/lateOrders'), values)).rows;
}

interface BookFigures {
  readonly currency: string;
  readonly closing: string;
}

/** docs/CONTRACT.md section 9. */
export interface SettlementDocument {
  readonly asOf: string;
  readonly accounts: readonly {
    readonly accountId: string;
    readonly atGateway: readonly (BookFigures & {
      readonly captured: string;
      readonly refunded: string;
      readonly settled: string;
      readonly suspense: number;
    })[];
    readonly payable: readonly (BookFigures &
      Readonly<Record<'gross' | 'fees' | 'chargebacks' | 'other' | 'paidOut', string>>)[];
    readonly bank: readonly (BookFigures & Readonly<Record<'paidOut' | 'arrived', string>>)[];
    readonly movements: Readonly<Record<'settled' | 'open' | 'overdue' | 'differs', number>>;
    readonly breaks: Readonly<Record<string, number>>;
  }[];
  readonly batches: readonly {
    readonly accountId: string;
    readonly batch: string;
    readonly currency: string;
    readonly lines: number;
    readonly payout: string;
    readonly arrived: string;
    readonly state: string;
  }[];
  readonly statements: Readonly<Record<'files' | 'entries' | 'gaps', number>>;
}

export async function settlementFigures(
  db: Db,
  accounts: readonly SettledAccount[],
  { from, cutOff, timezone }: SettlementTimes,
): Promise<SettlementDocument> {
  const { rows } = await db.query<{ document: SettlementDocument }>(
    statement('settlement/settlementFigures'),
    [JSON.stringify(accounts), from, cutOff, timezone],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('settlement has no figures');
  return row.document;
}

export interface OldestOpen {
  readonly accountId: string;
  readonly currency: string;
  readonly since: string;
  readonly movements: number;
  readonly overdue: number;
}

export async function oldestOpen(
  db: Db,
  accounts: readonly SettledAccount[],
): Promise<OldestOpen[]> {
  const { rows } = await db.query<OldestOpen>(statement('settlement/oldestOpen'), [
    JSON.stringify(accounts),
  ]);
  return rows;
}

export interface OpenItem {
  readonly book: 'atGateway' | 'bank';
  readonly accountId: string;
  readonly currency: string;
  readonly amount: string;
  readonly what: string;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  readonly batch: string | null;
  readonly since: string;
  readonly suspense: boolean;
}

export function openItems(
  db: Database,
  accountIds: readonly string[],
  { from, cutOff, timezone }: SettlementTimes,
): AsyncIterable<OpenItem[]> {
  const values = [accountIds, from, cutOff, timezone];
  return db.stream<OpenItem>(statement('settlement/openItems'), values);
}

export interface BatchLine {
  readonly accountId: string;
  readonly lineId: string;
  readonly type: string;
  readonly bookedAt: string;
  readonly orderNo: string | null;
  readonly settleCurrency: string;
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  readonly settlesOrder: string | null;
  readonly movedOn: string | null;
  readonly matchedBy: string | null;
}

export function batchLines(
  db: Database,
  accountIds: readonly string[],
  batch: string,
): AsyncIterable<BatchLine[]> {
  return db.stream<BatchLine>(statement('settlement/batchLines'), [accountIds, batch]);
}

export interface FeeFigures {
  readonly accountId: string;
  readonly currency: string;
  readonly type: string;
  readonly lines: number;
  readonly gross: string;
  readonly fees: string;
  /** null: nothing was agreed for it */
  readonly agreed: string | null;
  readonly variance: string | null;
  /** lines past the tolerance */
  readonly beyond: number;
}

export async function feeFigures(
  db: Db,
  accountIds: readonly string[],
  period: { from: string; to: string } | null,
  { from, cutOff, timezone }: SettlementTimes,
  { tariff, coarse }: FeeRules,
): Promise<FeeFigures[]> {
  const { rows } = await db.query<FeeFigures>(statement('settlement/feeFigures'), [
    ...[accountIds, period?.from ?? null, period?.to ?? null, cutOff, timezone],
    ...[JSON.stringify(tariff), JSON.stringify(coarse), from],
  ]);
  return rows;
}
