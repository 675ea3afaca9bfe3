// Reports on record: what was written, where, with which digest. A revision is never written over;
// one that was cut short stays queued and is made again.

import type { WrittenReport } from '../core/runs/reporting.js';
import type { ReportFile, UnwrittenReport } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import { thisMachine } from '../processes/identity.js';
import type { Runner } from '../runs/runsStore.js';

export interface ReportRow {
  reportId: bigint;
  runId: bigint;
  businessDate: string;
  kind: 'reconciliation' | 'orders' | 'activity' | 'ageing' | 'settlement';
  /** 2026-11-20 or 2026-11 of a report that was asked for; null: the run's own. */
  period: string | null;
  format: 'xlsx' | 'csv' | 'ndjson';
  revision: number;
  state: 'queued' | 'written' | 'failed';
  createdAt: Date;
}

/** Queues the next revision of each kind of a run. */
export async function queueReports(
  db: Db,
  runId: bigint,
  kinds: readonly string[],
  now: Date,
  period: string | null = null,
): Promise<bigint[]> {
  const { rows } = await db.query<{ report_id: bigint }>(
    `insert into tieout.reports (run_id, kind, period, format, revision, state, created_at)
     select $1, kind, $4, 'xlsx', 1 + coalesce((select max(revision) from tieout.reports r
       where case when $4::text is null then r.run_id = $1 and r.period is null
           else r.period = $4 end
         and r.kind = wanted.kind and r.format = 'xlsx'), 0), 'queued', $3
     from unnest($2::text[]) as wanted (kind) returning report_id`,
    [runId, kinds, now, period],
  );
  return rows.map((row) => row.report_id);
}

/** Reports that a stopped process left queued: nothing was registered, so nothing is kept. */
export async function dropQueuedReports(db: Db, runId: bigint): Promise<void> {
  await db.query(
    `delete from tieout.reports where run_id = $1 and state = 'queued' and period is null`,
    [runId],
  );
}

export async function loadReport(
  db: Db,
  reportId: bigint,
): Promise<(ReportRow & { isReplaced: boolean }) | null> {
  const { rows } = await db.query<{
    report_id: bigint;
    run_id: bigint;
    business_date: string;
    kind: ReportRow['kind'];
    period: string | null;
    format: ReportRow['format'];
    revision: number;
    state: ReportRow['state'];
    created_at: Date;
    is_replaced: boolean;
  }>(
    `select report_id, run_id, business_date, kind, period, format, revision, p.state,
       p.created_at,
       exists (select from tieout.reports n
         -- of a month or a day they are counted over all nights
         where case when p.period is null then n.run_id = p.run_id and n.period is null
             else n.period = p.period end
           and n.kind = p.kind and n.format = p.format
           and n.revision > p.revision and n.state = 'written') as is_replaced
     from tieout.reports p join tieout.runs r using (run_id) where report_id = $1`,
    [reportId],
  );
  const row = rows[0];
  if (!row) return null;
  return {
    reportId: row.report_id,
    runId: row.run_id,
    businessDate: row.business_date,
    kind: row.kind,
    period: row.period,
    format: row.format,
    revision: row.revision,
    state: row.state,
    createdAt: row.created_at,
    isReplaced: row.is_replaced,
  };
}

/**
 * Whether the report still waits for its file, and then nobody else registers one meanwhile. One
 * that another host gave up counts: a file is better than none.
 */
export async function holdUnwritten(tx: Db, reportId: bigint): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from tieout.reports where report_id = $1 and state <> 'written' for update`,
    [reportId],
  );
  return rowCount === 1;
}

/** Whether it still waits, and nobody registers a file of it just now. */
export async function isUnattended(db: Db, reportId: bigint): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from tieout.reports where report_id = $1 and state = 'queued'
     for update skip locked`,
    [reportId],
  );
  return rowCount === 1;
}

/** Null: no file of it is on record. */
export async function writtenFile(
  db: Db,
  reportId: bigint,
): Promise<{ path: string; sha256: string } | null> {
  const { rows } = await db.query<{ path: string; sha256: string }>(
    `select path, sha256 from tieout.reports where report_id = $1 and state = 'written'`,
    [reportId],
  );
  return rows[0] ?? null;
}

export async function recordWritten(
  db: Db,
  reportId: bigint,
  written: WrittenReport,
  digests: Readonly<Record<string, string>>,
): Promise<void> {
  await db.query(
    `update tieout.reports set state = 'written', path = $2, sha256 = $3, bytes = $4,
       digests = $5, written_at = clock_timestamp(), reason = null, host = $6
     where report_id = $1 and state <> 'written'`,
    [
      ...[reportId, written.path, written.sha256, written.bytes, JSON.stringify(digests)],
      thisMachine(),
    ],
  );
}

export async function recordFailedReport(db: Db, reportId: bigint, reason: string): Promise<void> {
  await db.query(
    `update tieout.reports set state = 'failed', reason = $2
     where report_id = $1 and state = 'queued'`,
    [reportId, reason],
  );
}

/**
 * Whether it is of a night at which another process is: that one hears of it as well, and is who
 * ends it; another may be writing it just now. What a process leaves that is gone, the next makes
 * anew.
 */
export async function canWriteElsewhere(
  db: Db,
  reportId: bigint,
  { host, boot, pid }: Pick<Runner, 'host' | 'boot' | 'pid'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from tieout.reports p join tieout.runs r using (run_id)
     where report_id = $1 and p.state = 'queued' and p.period is null
       and r.runner_id is not null
       and (r.runner_host, r.runner_boot, r.runner_pid) is distinct from ($2, $3, $4::int)`,
    [reportId, host, boot, pid],
  );
  return rowCount === 1;
}

export async function queuedReports(db: Db, runId: bigint): Promise<bigint[]> {
  const { rows } = await db.query<{ report_id: bigint }>(
    `select report_id from tieout.reports
     where run_id = $1 and state = 'queued' and period is null order by report_id`,
    [runId],
  );
  return rows.map((row) => row.report_id);
}

/** A job may be lost with its queue, or end with its worker; the next try comes after so long. */
const TRIED_AGAIN_MINUTES = [
  2,
  10,
  30,
  ...Array.from({ length: 23 }, (_, hour) => 60 * (hour + 1)),
];
/** Whoever looks every ten seconds finds each time once or twice. */
const TRIED_FOR_SECONDS = 15;
const GIVEN_UP_HOURS = 24;

/**
 * Reports that people asked for, of nights that have ended, and that wait for so long just now.
 * Ever less often: one that takes its worker down would do so each time.
 */
export async function lostReports(db: Db): Promise<bigint[]> {
  const { rows } = await db.query<{ report_id: bigint }>(
    `select report_id from tieout.reports p join tieout.runs r using (run_id)
     where p.state = 'queued' and r.state in ('tied_out', 'broken', 'incomplete')
       and exists (select from unnest($1::int[]) as minutes
         where clock_timestamp() - p.created_at >= make_interval(mins => minutes)
           and clock_timestamp() - p.created_at < make_interval(mins => minutes, secs => $2))
     order by report_id`,
    [TRIED_AGAIN_MINUTES, TRIED_FOR_SECONDS],
  );
  return rows.map((row) => row.report_id);
}

/** Nobody is told for ever that they are being written; answers which those are. */
export async function giveUpReports(db: Db): Promise<bigint[]> {
  const { rows } = await db.query<{ report_id: bigint }>(
    `update tieout.reports p set state = 'failed', reason = $2
     from tieout.runs r where r.run_id = p.run_id and p.state = 'queued'
       and r.state in ('tied_out', 'broken', 'incomplete')
       and p.created_at < clock_timestamp() - make_interval(hours => $1)
     returning report_id`,
    [GIVEN_UP_HOURS, 'no worker came to its end with it within a day: ask for it again'],
  );
  return rows.map((row) => row.report_id);
}

/** The newest written revision of each report of a run. */
export async function writtenReports(db: Db, runId: bigint): Promise<ReportFile[]> {
  const { rows } = await db.query<ReportFile>(
    `select distinct on (kind, format) kind, format, path, sha256, revision
     from tieout.reports where run_id = $1 and state = 'written' and period is null
     order by kind desc, format, revision desc`,
    [runId],
  );
  return rows;
}

/** The run's own reports that could not be written, with the reason. */
export async function failedReports(db: Db, runId: bigint): Promise<UnwrittenReport[]> {
  const { rows } = await db.query<UnwrittenReport>(
    `select kind, reason from tieout.reports r
     where run_id = $1 and state = 'failed' and period is null
       and revision = (select max(revision) from tieout.reports n
         where n.run_id = r.run_id and n.kind = r.kind and n.format = r.format
           and n.period is null)
     order by kind desc, format`,
    [runId],
  );
  return rows;
}

/** These reports, as far as they are written. */
export async function writtenByIds(db: Db, ids: readonly bigint[]): Promise<ReportFile[]> {
  const { rows } = await db.query<ReportFile>(
    `select kind, format, path, sha256, revision from tieout.reports
     where report_id = any ($1) and state = 'written' order by report_id`,
    [ids],
  );
  return rows;
}
