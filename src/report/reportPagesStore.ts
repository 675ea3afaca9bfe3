// Reports as the console lists and hands them out: every run, each file with its digest and who
// took it. A report of a run holds all accounts of that run, so that it is shown only to those
// who may see all of them, and one of a month or day to whose role is for all accounts; the
// statement holds that, not the page. Read only.

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { Reader } from './consoleRunsStore.js';

export interface ListedReport {
  reportId: bigint;
  runId: bigint;
  businessDate: string;
  runState: string;
  kind: string;
  /** 2026-11-20 or 2026-11 of a report that was asked for; null: the night's own */
  period: string | null;
  format: string;
  revision: number;
  sha256: string;
  bytes: bigint;
  writtenAt: Date;
  path: string;
  /** where it was written; null: nobody knows */
  host: string | null;
  /** no later revision of the same is written */
  isNewest: boolean;
  /** the reader may also take it away */
  mayTake: boolean;
  /** Who took it last, newest first, and when. */
  taken: { who: string; at: string }[];
  timesTaken: number;
}

/** The reports of a page of runs, newest run first; `taker`: the reader, as who takes some. */
export async function listReports(
  db: Db,
  reader: Reader,
  taker: Reader,
  page: { nights: number; offset: number },
): Promise<ListedReport[]> {
  const { rows } = await db.query<RawReport>(statement('report/listedReports'), [
    ...[reader.accounts, null, page.nights, page.offset, reader.seesAll],
    ...[taker.accounts, taker.seesAll],
  ]);
  return rows.map(toReport);
}

export async function findReport(
  db: Db,
  { accounts, seesAll }: Reader,
  reportId: bigint,
): Promise<ListedReport | null> {
  const { rows } = await db.query<RawReport>(statement('report/listedReports'), [
    ...[accounts, reportId, null, 0, seesAll],
    ...[accounts, seesAll],
  ]);
  return rows[0] ? toReport(rows[0]) : null;
}

interface PeriodReport {
  reportId: bigint;
  period: string;
  revision: number;
  /** null: it is being written */
  writtenAt: Date | null;
}

/** The newest settlement reports, for whoever sees all accounts. */
export async function settlementReports(db: Db, limit: number): Promise<PeriodReport[]> {
  const { rows } = await db.query<PeriodReport>(
    `select report_id as "reportId", period, revision, written_at as "writtenAt"
     from tieout.reports
     where kind = 'settlement' and state in ('queued', 'written')
     order by report_id desc limit $1`,
    [limit],
  );
  return rows;
}

interface RawReport {
  report_id: bigint;
  run_id: bigint;
  business_date: string;
  run_state: string;
  kind: string;
  period: string | null;
  format: string;
  revision: number;
  is_newest: boolean;
  may_take: boolean;
  times_taken: number;
  sha256: string;
  bytes: bigint;
  written_at: Date;
  path: string;
  host: string | null;
  taken: { who: string; at: string }[];
}

function toReport(row: RawReport): ListedReport {
  return {
    reportId: row.report_id,
    runId: row.run_id,
    businessDate: row.business_date,
    runState: row.run_state,
    kind: row.kind,
    period: row.period,
    isNewest: row.is_newest,
    mayTake: row.may_take,
    format: row.format,
    revision: row.revision,
    sha256: row.sha256,
    bytes: row.bytes,
    writtenAt: row.written_at,
    path: row.path,
    host: row.host,
    taken: row.taken,
    timesTaken: row.times_taken,
  };
}
