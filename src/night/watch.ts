// While a run is worked on its row shows a sign of life; whoever joins it waits for its end here.

import { TieoutError } from '../core/errors.js';
import type { RunSummary } from '../core/summary.js';
import { beat, findRun, silenceMs } from '../store/runs.js';
import type { Night, NightDeps } from './deps.js';

const BEAT_MS = 5_000;
const LOOK_MS = 500;
/** No run is waited for longer. */
const JOIN_HOURS_MAX = 12;
const SILENCE_MS_MAX = 30_000;

/** Does the work with a heartbeat beside it. */
export async function withHeartbeat<T>(
  deps: NightDeps,
  night: Night,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    // A beat that fails is not the run's failure: the next statement of the run will tell.
    beat(deps.db, night.runId, deps.runner.id).catch(() => {});
  }, BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Waits for a run that another process works on; null when that process died. */
export async function joinRun(deps: NightDeps, businessDate: string): Promise<RunSummary | null> {
  const began = deps.monotonic();
  while (deps.monotonic() - began < JOIN_HOURS_MAX * 3_600_000) {
    const run = await findRun(deps.db, businessDate);
    if (!run) return null;
    if (run.runner === null) {
      if (run.summary && run.state !== 'failed') return run.summary;
      throw new TieoutError(`the run of ${businessDate} failed: ${run.failure ?? 'no reason'}`);
    }
    const alive = deps.isAlive(run.runner);
    const silence = await silenceMs(deps.db, run.runId);
    if (alive === false || (alive === null && silence > SILENCE_MS_MAX)) return null;
    await deps.sleep(LOOK_MS);
  }
  throw new TieoutError(`the run of ${businessDate} did not end within ${JOIN_HOURS_MAX} hours`);
}
