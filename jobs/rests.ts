// A rest for a worker that gets nothing done: its server is away, broken or refuses it, where
// BullMQ asks for the next job again without any pause, each time with a sign-in of its own; or its
// process is unfit for what the queue holds, and would take each job from those that are not. It
// owns counting errors and the pause. It must never end a running job. Neighbours: worker.ts gives
// every worker one.

import type { QueueWorker } from './backend.js';

const WINDOW_MS = 1_000;
/** A sign-in that is refused takes a tenth of a second and more, so that it is few a second. */
export const ERRORS_PER_WINDOW = 3;
/** What comes within so long of a rest makes the next rest twice as long, up to this. */
const REST_MAX_MS = 5_000;

export interface Rests {
  /** Fetches nothing for a while, twice as long where the last rest was a moment ago. */
  rest(): void;
  end(): void;
}

/** Watches a worker until it is ended. */
export function openRests(worker: QueueWorker): Rests {
  let errors = 0;
  let resting = false;
  let isOver = false;
  let restMs = WINDOW_MS;
  let timer: NodeJS.Timeout | undefined;
  const windowEnds = (): void => {
    timer = undefined;
    if (!resting) {
      errors = 0;
      restMs = WINDOW_MS;
      return;
    }
    resting = false;
    errors = ERRORS_PER_WINDOW - 1;
    timer = setTimeout(windowEnds, REST_MAX_MS);
    void worker.resume();
  };
  const rest = (): void => {
    if (resting || isOver) return;
    resting = true;
    clearTimeout(timer);
    timer = setTimeout(windowEnds, restMs);
    restMs = Math.min(2 * restMs, REST_MAX_MS);
    // Without waiting for the running jobs: only fetching takes a rest.
    void worker.pause(true);
  };
  worker.on('error', () => {
    if (resting) return;
    errors += 1;
    timer ??= setTimeout(windowEnds, WINDOW_MS);
    if (errors >= ERRORS_PER_WINDOW) rest();
  });
  return {
    rest,
    end: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
