// Runs and their accounts: one row a business date, one row an account of it. Who works on a run is
// written into it, so that a second starter can tell a living runner from a dead one. Moves are
// guarded: they say what they found instead of overwriting it.

import type { RecordedOperations } from '../core/instructions/policy.js';
import type { RunState, RunSummary } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import type { ProcessMark } from '../processes/identity.js';
import type { BusinessDay, Zone } from './calendarStore.js';

/** The process that works on a run. */
export interface Runner extends ProcessMark {
  id: string;
}

export interface RunRow {
  runId: bigint;
  businessDate: string;
  covers: string[];
  startsAt: Date;
  endsAt: Date;
  state: RunState;
  isDry: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  failure: string | null;
  summary: RunSummary | null;
  runner: Runner | null;
  /** the accounts that the runner works on */
  workingOn: string[];
  heartbeatAt: Date | null;
  /** how old the runner's last sign of life is, by the clock of the database */
  silentMs: number;
}

interface NewRun {
  day: BusinessDay;
  covers: readonly string[];
  isDry: boolean;
  environment: string;
  settings: unknown;
  settingsSha256: string;
  version: string;
  runner: Runner;
  accountIds: readonly string[];
  now: Date;
  /** its snapshots wait for a gateway that goes away */
  waitsForGateway: boolean;
}

/** At most so many dates are named as covered by one run; a longer gap is named by its end. */
const COVERS_MAX = 366;

/** Newest first; what is null does not matter. */
interface RunFilter {
  date?: string;
  state?: RunState;
  isDry?: true;
  limit?: number;
}

async function runsThat(db: Db, { date, state, isDry, limit }: RunFilter): Promise<RunRow[]> {
  const { rows } = await db.query<RawRun>(
    `select run_id, business_date, covers, starts_at, ends_at, state, is_dry, created_at,
       finished_at, failure, summary, runner_id, runner_host, runner_boot, runner_pid,
       runner_started, runner_accounts, heartbeat_at,
       extract(epoch from clock_timestamp() - heartbeat_at) * 1000 as silent_ms
     from tieout.runs
     where is_dry = $1 and ($2::date is null or business_date = $2)
       and ($3::text is null or state = $3)
     order by business_date desc limit $4`,
    [isDry ?? false, date ?? null, state ?? null, limit ?? null],
  );
  return rows.map(toRun);
}

export async function findRun(db: Db, date: string): Promise<RunRow | null> {
  return (await runsThat(db, { date }))[0] ?? null;
}

export async function newestRun(db: Db): Promise<RunRow | null> {
  return (await runsThat(db, { limit: 1 }))[0] ?? null;
}

export function listRuns(db: Db, limit: number): Promise<RunRow[]> {
  return runsThat(db, { limit });
}

/**
 * Notes that somebody wants the newest run worked on once more; false: it is not the newest, or
 * somebody works on it.
 */
export async function askAgain(db: Db, runId: bigint, by: string, at: Date): Promise<boolean> {
  const { rows } = await db.query(
    `update tieout.runs set again_asked_at = $3, again_asked_by = $2
     where run_id = $1 and state <> 'running' and not is_dry
       and business_date = (select max(business_date) from tieout.runs where not is_dry)
     returning run_id`,
    [runId, by, at],
  );
  return rows.length > 0;
}

/** Who wants the run worked on once more, and since when; null: nobody. */
export async function askedAgain(db: Db, runId: bigint): Promise<{ by: string; at: Date } | null> {
  const { rows } = await db.query<{ by: string; at: Date }>(
    `select again_asked_by as by, again_asked_at as at from tieout.runs
     where run_id = $1 and again_asked_at is not null`,
    [runId],
  );
  return rows[0] ?? null;
}

/** Takes the wish, for one clock of many: who had it; null: nobody has one, or another took it. */
export async function takeAskedAgain(db: Db, runId: bigint): Promise<string | null> {
  const { rows } = await db.query<{ by: string }>(
    `with wished as (
       select run_id, again_asked_by as by from tieout.runs
       where run_id = $1 and again_asked_at is not null and state <> 'running' for update
     )
     update tieout.runs r set again_asked_at = null, again_asked_by = null
     from wished w where r.run_id = w.run_id returning w.by`,
    [runId],
  );
  return rows[0]?.by ?? null;
}

/** The run that is being worked on, or was until its process died; of any date, dry ones apart. */
export async function heldRun(db: Db): Promise<RunRow | null> {
  return (await runsThat(db, { state: 'running' }))[0] ?? null;
}

/**
 * The newest business date of any of these accounts, or of any that is in the run of `date`; null
 * when they have none.
 */
export async function newestDate(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<string | null> {
  const { rows } = await db.query<{ date: string | null }>(
    'select tieout.newest_date($1, $2) as date',
    [accountIds, date],
  );
  return rows[0]?.date ?? null;
}

/** The run of the newest business date; null before the first run. */
export async function newestRunId(db: Db): Promise<bigint | null> {
  const { rows } = await db.query<{ run_id: bigint }>(
    'select run_id from tieout.runs where not is_dry order by business_date desc limit 1',
  );
  return rows[0]?.run_id ?? null;
}

/** `test` or `live`, as the newest run says; null: there was none. */
export async function newestEnvironment(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ environment: string }>(
    'select environment from tieout.runs where not is_dry order by business_date desc limit 1',
  );
  return rows[0]?.environment ?? null;
}

/**
 * The dates since the last finished run, `date` last. Incomplete and failed runs do not count;
 * where none has ever finished, what they were to cover is still to be covered.
 */
export async function coveredDates(db: Db, date: string, zone: Zone): Promise<string[]> {
  const { rows } = await db.query<{ date: string }>(
    `select day::date as date
     from generate_series(
       greatest(coalesce((select max(business_date) + 1 from tieout.runs
         where not is_dry and state in ('tied_out', 'broken') and business_date < $1::date),
         (select min(coalesce(covers[1], business_date)) from tieout.runs
         where not is_dry and business_date < $1::date),
         $1::date), $1::date - $4::int), $1::date, interval '1 day') as day
     where tieout.is_business_date(day::date, $2, $3::time) order by day`,
    [date, zone.timezone, zone.cutOff, COVERS_MAX],
  );
  return rows.map((row) => row.date);
}

/** Creates the run; null when another process created it first, or works on another date. */
export async function createRun(db: Db, run: NewRun): Promise<bigint | null> {
  const made = db.query<{ run_id: bigint }>(
    `insert into tieout.runs (business_date, is_dry, covers, starts_at, ends_at, state,
       environment, settings, settings_sha256, version, runner_id, runner_host, runner_boot,
       runner_pid, runner_started, heartbeat_at, created_at, waits_for_gateway, runner_accounts)
     values ($1, $2, $3::date[], $4, $5, 'running', $6, $7, $8, $9, $10, $11, $12, $13, $14,
       clock_timestamp(), $15, $16, $17)
     on conflict (business_date) where not is_dry do nothing
     returning run_id`,
    [
      run.day.date,
      run.isDry,
      run.covers,
      run.day.startsAt,
      run.day.endsAt,
      run.environment,
      JSON.stringify(run.settings),
      run.settingsSha256,
      run.version,
      run.runner.id,
      run.runner.host,
      run.runner.boot,
      run.runner.pid,
      run.runner.started,
      run.now,
      run.waitsForGateway,
      run.accountIds,
    ],
  );
  const { rows } = await unlessBusy(made, { rows: [], rowCount: 0 });
  return rows[0]?.run_id ?? null;
}

/** The answer, or `busy` where another date is worked on. */
export async function unlessBusy<T>(work: Promise<T>, busy: T): Promise<T> {
  return work.catch((error: Error & { constraint?: string }) => {
    if (error.constraint === 'run_holders_one_date') return busy;
    throw error;
  });
}

/** The operations section of the settings by which a run was taken last; null: no such run. */
export async function recordedOperations(
  db: Db,
  runId: bigint,
): Promise<RecordedOperations | null> {
  const { rows } = await db.query<{ operations: RecordedOperations }>(
    `select settings -> 'operations' as operations from tieout.runs where run_id = $1`,
    [runId],
  );
  return rows[0]?.operations ?? null;
}

/** By what the pages of a chunk are to be read. */
export interface ChunkReading {
  environment: string;
  accountId: string;
  /** null: of a look from before this was kept */
  profileSha256: string | null;
  merchantId: string | null;
}

export async function readingOfChunk(db: Db, chunkId: bigint): Promise<ChunkReading | null> {
  const { rows } = await db.query<ChunkReading>(
    `select r.environment, c.account_id as "accountId", p.profile_sha256 as "profileSha256",
       case when p.kind <> 'fresh' then ra.merchant_id end as "merchantId"
     from tieout.chunks c join tieout.pulls p using (pull_id) join tieout.runs r using (run_id)
     left join tieout.run_accounts ra on ra.run_id = p.run_id and ra.account_id = c.account_id
     where c.chunk_id = $1`,
    [chunkId],
  );
  return rows[0] ?? null;
}

/** Ends the run with its summary; refused when another runner has it. */
export async function finishRun(
  db: Db,
  runId: bigint,
  runnerId: string,
  summary: RunSummary,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tieout.runs set state = $3, summary = $4, as_of = $5, finished_at = $6,
       runner_id = null
     where run_id = $1 and runner_id = $2`,
    [runId, runnerId, summary.state, JSON.stringify(summary), summary.asOf, now],
  );
  return rowCount === 1;
}

/** False when the run is another runner's by now. */
export async function failRun(
  db: Db,
  runId: bigint,
  runnerId: string,
  failure: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tieout.runs set state = 'failed', failure = $3, finished_at = $4, runner_id = null
     where run_id = $1 and runner_id = $2`,
    [runId, runnerId, failure, now],
  );
  return rowCount === 1;
}

/** Whether any process has the run. */
export async function isHeld(db: Db, runId: bigint): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from tieout.runs where run_id = $1 and runner_id is not null',
    [runId],
  );
  return rowCount === 1;
}

/** Adds the files of a run to its stored summary once they are written. */
export async function storeSummary(db: Db, runId: bigint, summary: RunSummary): Promise<void> {
  await db.query('update tieout.runs set summary = $2 where run_id = $1', [
    runId,
    JSON.stringify(summary),
  ]);
}

/** Dry runs that are under way, or whose process died before it could remove them. */
export function dryRuns(db: Db): Promise<RunRow[]> {
  return runsThat(db, { isDry: true });
}

/** Removes a dry run and everything that it wrote. */
export async function deleteDryRun(db: Db, runId: bigint): Promise<void> {
  await db.query(
    `with mine as (select pull_id from tieout.pulls p join tieout.runs r using (run_id)
         where run_id = $1 and r.is_dry),
       a as (delete from tieout.asked_orders where pull_id in (select * from mine)),
       b as (delete from tieout.look_entries where pull_id in (select * from mine)),
       c as (delete from tieout.pages where pull_id in (select * from mine)),
       d as (delete from tieout.asked_refunds where pull_id in (select * from mine))
     delete from tieout.runs where run_id = $1 and is_dry`,
    [runId],
  );
}

interface RawRun {
  run_id: bigint;
  business_date: string;
  covers: string[] | string;
  starts_at: Date;
  ends_at: Date;
  state: RunState;
  is_dry: boolean;
  created_at: Date;
  finished_at: Date | null;
  failure: string | null;
  summary: RunSummary | null;
  runner_id: string | null;
  runner_host: string | null;
  runner_boot: string | null;
  runner_pid: number | null;
  runner_started: string | null;
  runner_accounts: string[] | null;
  heartbeat_at: Date | null;
  silent_ms: string | null;
}

function toRun(row: RawRun): RunRow {
  const runner = row.runner_id && {
    id: row.runner_id,
    host: row.runner_host ?? '',
    boot: row.runner_boot ?? '',
    pid: row.runner_pid ?? 0,
    started: row.runner_started ?? '',
  };
  return {
    runId: row.run_id,
    businessDate: row.business_date,
    covers: Array.isArray(row.covers) ? row.covers : row.covers.slice(1, -1).split(','),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    state: row.state,
    isDry: row.is_dry,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    failure: row.failure,
    summary: row.summary && inCurrencies(row.summary),
    runner: runner || null,
    workingOn: row.runner_accounts ?? [],
    heartbeatAt: row.heartbeat_at,
    silentMs: Number(row.silent_ms ?? Number.POSITIVE_INFINITY),
  };
}

/** Kept nights may have zeros of orders whose ledger rows lacked a currency: they say nothing. */
function inCurrencies(summary: RunSummary): RunSummary {
  const accounts = summary.accounts.map((account) => {
    return { ...account, totals: account.totals.filter(({ currency }) => currency) };
  });
  return { ...summary, accounts };
}
