// Who holds a run: taken by compare-and-set, proven by a sign of life that the database dates, and
// held against by every statement of the run. Whoever takes a run over waits for what its holder
// has under way at the server, and ends it there where that takes too long: the process behind it
// may be frozen. Neighbours: runsStore.ts has the rows, fence.ts sends the fence.

import type { Database, Db, Tx } from '../database/db.js';
import type { Guard } from '../database/fence.js';
import { literal, named } from '../database/identifiers.js';
import type { Runner, RunRow } from './runsStore.js';
import { unlessBusy } from './runsStore.js';

/** What goes ahead of every statement of the run. */
export function fenceOf(runId: bigint, holder: string): Guard {
  return {
    text: 'call tieout.hold_run($1, $2)',
    values: [runId.toString(), holder],
    whole: named`call tieout.hold_run(${runId}, ${literal(holder)})`,
  };
}

interface Taking {
  runner: Runner;
  /** the accounts that are going to be worked on */
  accountIds: readonly string[];
  settings: unknown;
  settingsSha256: string;
  version: string;
  environment: string;
  waitsForGateway: boolean;
}

/**
 * Takes a run over from `previous` (null: nobody works on it); false when that has changed, a later
 * date of its accounts was run meanwhile, or another date is worked on by now.
 */
export async function takeRun(
  db: Database,
  runId: bigint,
  previous: string | null,
  taking: Taking,
): Promise<boolean> {
  const { runner } = taking;
  return unlessBusy(
    freed(db, runId, async (tx) => {
      const { rowCount } = await tx.query(
        `update tieout.runs set state = 'running', runner_id = $3, runner_host = $4,
           runner_boot = $5, runner_pid = $6, runner_started = $7,
           heartbeat_at = clock_timestamp(), failure = null, settings = $8, settings_sha256 = $9,
           version = $10, waits_for_gateway = $11, environment = $12, runner_accounts = $13
         where run_id = $1 and runner_id is not distinct from $2::uuid
           and business_date >= coalesce(tieout.newest_date($13, business_date), business_date)`,
        [
          runId,
          previous,
          runner.id,
          runner.host,
          runner.boot,
          runner.pid,
          runner.started,
          JSON.stringify(taking.settings),
          taking.settingsSha256,
          taking.version,
          taking.waitsForGateway,
          taking.environment,
          taking.accountIds,
        ],
      );
      return rowCount === 1;
    }),
    false,
  );
}

/** Ends a run that nobody works on any more; `tell` only where it is not somebody's by now. */
export async function leaveRun(
  db: Database,
  run: Pick<RunRow, 'runId' | 'runner'>,
  failure: string,
  tell: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await freed(db, run.runId, async (tx) => {
    const { rowCount } = await tx.query(
      `update tieout.runs set state = 'failed', failure = $3, finished_at = clock_timestamp(),
         runner_id = null
       where run_id = $1 and runner_id = $2`,
      [run.runId, run.runner?.id ?? null, failure],
    );
    if (rowCount === 1) await tell(tx);
  });
}

/** Removes a dry run of which nothing is left but what it wrote. */
export async function removeDryRun(
  db: Database,
  runId: bigint,
  remove: (tx: Db, runId: bigint) => Promise<void>,
): Promise<void> {
  await freed(db, runId, (tx) => remove(tx, runId));
}

/** So long what the holder has under way may end by itself; then it is ended. */
const UNDER_WAY_MS = 3_000;
/** Not waited for longer; the next try goes on. */
const FREED_MS_MAX = 60_000;

/** Does the work when nothing that the holder of the run has begun is under way any more. */
async function freed<T>(db: Database, runId: bigint, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query(named`set local lock_timeout = ${FREED_MS_MAX}`);
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const impatience = setInterval(() => {
      // Where it fails the wait goes on, and the next try ends them.
      endBlockers(db, rows[0]?.pid ?? 0).catch(() => {});
    }, UNDER_WAY_MS);
    try {
      await tx.query('select from tieout.run_holders where run_id = $1 for update', [runId]);
    } finally {
      clearInterval(impatience);
    }
    return work(tx);
  });
}

async function endBlockers(db: Db, pid: number): Promise<void> {
  await db.query('select pg_terminate_backend(b) from unnest(pg_blocking_pids($1)) as b', [pid]);
}

/**
 * Says that the runner lives. Where it `waits` for an answer, only as long as the server works on
 * what it asked, which holds the run (hold_run): of a server that vanished, or was replaced by
 * another one, it would wait for hours and seem to be at work.
 */
export async function beat(db: Db, runId: bigint, runnerId: string, waits: boolean): Promise<void> {
  await db.query(
    `update tieout.runs set heartbeat_at = clock_timestamp()
     where run_id = $1 and runner_id = $2 and (not $3 or not exists (
       select from tieout.run_holders where run_id = $1 for update skip locked))`,
    [runId, runnerId, waits],
  );
}
