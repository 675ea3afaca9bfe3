// While a run is worked on its row shows a sign of life; whoever joins it waits for its end here.

import { LEFT, TieoutError } from '../core/errors.js';
import type { RunSummary } from '../core/runs/summary.js';
import { keepingOn } from '../processes/keepingOn.js';
import type { Run, RunDeps } from './deps.js';
import { endDryRunsInTheWay, GIVE_WAY_MS } from './dryRunStore.js';
import { isAtWork, waitsForServer } from './lease.js';
import { beat } from './leaseStore.js';
import { findRun, heldRun } from './runsStore.js';

type JoinDeps = Pick<RunDeps, 'db' | 'isAlive' | 'monotonic' | 'sleep'>;

const BEAT_MS = 5_000;
const POLL_MS = 500;
/** No run is waited for longer. */
const JOIN_HOURS_MAX = 12;

/** Does the work with a heartbeat beside it; no dry run stays in the way of a run. */
export async function withHeartbeat<T>(
  deps: Pick<RunDeps, 'db' | 'monotonic' | 'runner'>,
  run: Run,
  work: () => Promise<T>,
): Promise<T> {
  // A beat that fails is not the run's failure: the next statement of the run will tell.
  const { db, runner } = deps;
  const stopBeating = keepingOn(
    () => beat(db, run.runId, runner.id, waitsForServer(deps, run)),
    BEAT_MS,
  );
  const stopWatching = run.isDry ? () => {} : keepingOn(() => endDryRunsInTheWay(db), GIVE_WAY_MS);
  try {
    return await work();
  } finally {
    stopBeating();
    stopWatching();
  }
}

/** Waits for a run that another process works on; null when nobody does any more. */
export async function joinRun(deps: JoinDeps, businessDate: string): Promise<RunSummary | null> {
  return waiting(deps, businessDate, async () => {
    const run = await findRun(deps.db, businessDate);
    if (!run) return { found: null };
    if (run.runner !== null) return isAtWork(deps, run) ? null : { found: null };
    if (run.failure === LEFT) return { found: null };
    if (run.summary && run.state !== 'failed') return { found: run.summary };
    throw new TieoutError(`the run of ${businessDate} failed: ${run.failure ?? 'no reason'}`);
  });
}

/** Waits until nobody works on that run any more. */
export async function outwaitRun(deps: JoinDeps, runId: bigint, date: string): Promise<void> {
  await waiting(deps, date, async () => {
    const held = await heldRun(deps.db);
    return held?.runId === runId && isAtWork(deps, held) ? null : { found: null };
  });
}

async function waiting<T>(
  deps: Pick<RunDeps, 'monotonic' | 'sleep'>,
  businessDate: string,
  poll: () => Promise<{ found: T } | null>,
): Promise<T> {
  const began = deps.monotonic();
  while (deps.monotonic() - began < JOIN_HOURS_MAX * 3_600_000) {
    const seen = await poll();
    if (seen !== null) return seen.found;
    await deps.sleep(POLL_MS);
  }
  throw new TieoutError(`the run of ${businessDate} did not end within ${JOIN_HOURS_MAX} hours`);
}
