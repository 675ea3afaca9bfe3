// Holding a run: whether its holder is at work, the fence around all that it writes, and how its
// end comes on record although the database is away just then. A heartbeat is the proof of life,
// dated by the database: one that is silent is taken over, whatever its process thinks, and the
// fence keeps it from writing once it wakes.

import {
  DatabaseAwayError,
  DatabaseFullError,
  LEFT,
  messageOf,
  STOPPED,
  TakenOverError,
} from '../core/errors.js';
import { type Database, isThere } from '../database/db.js';
import { tellFailed } from '../outbox/writeAlerts.js';
import type { Run, RunDeps } from './deps.js';
import { fenceOf } from './leaseStore.js';
import type { RunRow } from './runsStore.js';
import { failRun, isHeld } from './runsStore.js';

type HolderDeps = Pick<RunDeps, 'config' | 'db' | 'now' | 'runner'>;
type WaitingDeps = Pick<RunDeps, 'log' | 'monotonic' | 'reviveDatabase' | 'sleep'>;

/** A runner that was silent for so long works on nothing, or may no longer. */
export const SILENCE_MS_MAX = 30_000;
const UNANSWERED_MS_MAX = 15_000;

/** Whether somebody works on the run: not where the process is gone for sure, or was silent. */
export function isAtWork({ isAlive }: Pick<RunDeps, 'isAlive'>, run: RunRow): boolean {
  if (run.runner === null || isAlive(run.runner) === false) return false;
  return run.silentMs < SILENCE_MS_MAX;
}

/** The same run, which can read and write only as long as this process holds its run. */
export function fenced<D extends Pick<RunDeps, 'db' | 'monotonic' | 'runner'>>(
  open: D,
  run: Run,
): { deps: D; run: Run } {
  const db = noted(open, run, open.db.guardedBy(fenceOf(run.runId, open.runner.id)));
  return { deps: { ...open, db }, run: { ...run, db } };
}

/** When each began that a run has asked of the server and that is not answered. */
const asked = new WeakMap<Run, Set<{ since: number }>>();

function noted({ monotonic }: Pick<RunDeps, 'monotonic'>, run: Run, db: Database): Database {
  const open = asked.get(run) ?? new Set();
  asked.set(run, open);
  const note = async <T>(work: () => Promise<T>): Promise<T> => {
    const one = { since: monotonic() };
    open.add(one);
    try {
      return await work();
    } finally {
      open.delete(one);
    }
  };
  return {
    ...db,
    query: (text, values, name) => note(() => db.query(text, values, name)),
    transaction: (work, limits) => note(() => db.transaction(work, limits)),
    durably: (work) => note(() => db.durably(work)),
  };
}

/** Whether the server may know nothing of what a run asked: it has not answered for so long. */
export function waitsForServer({ monotonic }: Pick<RunDeps, 'monotonic'>, run: Run): boolean {
  const since = Math.min(...[...(asked.get(run) ?? [])].map((one) => one.since));
  return monotonic() - since > UNANSWERED_MS_MAX;
}

/** How long a database that went away is waited for, over all who wait for it in turn. */
export const DATABASE_MINUTES_MAX = 10;
/** What held for so long was no outage that only seemed to be over. */
const HELD_MS = 60_000;
/** Before the run goes on, where it came back and was away again at once: full, or used up. */
const RETURN_PAUSES_S = [0, 15, 60, 180, 300] as const;
/** How often one run is taken up again after its database was away. */
const RETURNS_MAX = RETURN_PAUSES_S.length;
const PAUSE_MS = 1_000;
const MINUTE_MS = 60_000;

export interface Outages {
  /** Waits where the database is what failed; false: it is not, or stayed away for too long. */
  isOver(error: unknown): Promise<boolean>;
  /** Records how a run ended, as soon as there is a database to record it in. */
  recordEnd(holder: HolderDeps, run: Run, error: unknown): Promise<void>;
}

/** Of one command: a database that is restarted under a run costs it time, and no more. */
export function openOutages(deps: WaitingDeps & Pick<RunDeps, 'db'>): Outages {
  let left: number = RETURNS_MAX;
  let wasBack = Number.NEGATIVE_INFINITY;
  let inARow = 0;
  const untilThere = waiting(deps);
  const isWaitedFor = (error: unknown): error is DatabaseAwayError =>
    error instanceof DatabaseAwayError && left > 0;
  return {
    isOver: async (error) => {
      if (!isWaitedFor(error)) return false;
      left -= 1;
      inARow = deps.monotonic() - wasBack < HELD_MS ? inARow + 1 : 0;
      // A full disk answers, and takes no row: nobody makes room within no time at all.
      const step = error instanceof DatabaseFullError ? inARow + 1 : inARow;
      const pause = RETURN_PAUSES_S[Math.min(step, RETURNS_MAX - 1)] ?? 0;
      if (pause > 0) {
        const words = `${messageOf(error)}; the run goes on in ${pause} seconds`;
        deps.log(words, { level: 'warn' });
        await deps.sleep(pause * 1_000);
      }
      const isBack = await untilThere(async () => ((await isThere(deps.db)) ? null : error));
      if (isBack) deps.log('the database answers; the run goes on from where it was');
      wasBack = deps.monotonic();
      return isBack;
    },
    recordEnd: async (holder, run, error) => {
      const failure = isWaitedFor(error) ? LEFT : messageOf(error);
      await untilThere(() => isRecorded(holder, run, failure));
    },
  };
}

/** Why it has to wait; null: it is recorded. */
async function isRecorded(
  deps: HolderDeps,
  run: Run,
  failure: string,
): Promise<DatabaseAwayError | null> {
  try {
    if (await endFailed(deps, run, failure)) return null;
  } catch (error) {
    if (error instanceof DatabaseAwayError) return error;
    throw error;
  }
  throw new TakenOverError(TAKEN_OVER);
}

export const TAKEN_OVER =
  'the run was taken over by another process, which goes on with it; this one writes no more';

/**
 * False: another process holds the run by now. A run that nobody holds was ended by this process,
 * and only the answer was lost with the database.
 */
async function endFailed(deps: HolderDeps, run: Run, failure: string): Promise<boolean> {
  const { businessDate, runId } = run;
  return deps.db.transaction(async (tx) => {
    if (!(await failRun(tx, runId, deps.runner.id, failure, deps.now()))) {
      return !(await isHeld(tx, runId));
    }
    const isNews = !run.isDry && failure !== STOPPED && failure !== LEFT;
    if (isNews) await tellFailed(tx, deps.config, { businessDate, failure });
    return true;
  });
}

/**
 * Tries now and then; false when the outage lasted too long, counted from the first who waited. It
 * ends at once when the process is told to stop.
 */
function waiting(
  deps: WaitingDeps,
): (attempt: () => Promise<DatabaseAwayError | null>) => Promise<boolean> {
  let since: number | null = null;
  return async (attempt) => {
    for (;;) {
      const missing = await attempt();
      if (missing === null) break;
      if (since === null) {
        since = deps.monotonic();
        const limit = `${DATABASE_MINUTES_MAX} minutes at most`;
        const isFull = missing instanceof DatabaseFullError;
        const what = isFull ? 'a disk of the database server is full' : 'the database is away';
        const words = `${what}; it is waited for, ${limit} (${messageOf(missing)})`;
        deps.log(words, { level: 'warn' });
      }
      // A server that we did not start is somebody else's to start again.
      await deps.reviveDatabase?.().catch(() => {});
      if (deps.monotonic() - since > DATABASE_MINUTES_MAX * MINUTE_MS) return false;
      await deps.sleep(PAUSE_MS);
    }
    since = null;
    return true;
  };
}
