// A rest for a worker whose server is away, broken or refuses it: BullMQ then asks for the next job
// again without any pause, each time with a sign-in of its own. It owns counting such errors and
// the pause. It must never end a running job. Neighbours: worker.ts gives every worker one.

import type { QueueWorker } from './backend.js';

const WINDOW_MS = 1_000;
/** A sign-in that is refused takes a tenth of a second and more, so that it is few a second. */
export const ERRORS_PER_WINDOW = 3;
/** An error that comes within so long of a rest makes the next rest twice as long, up to this. */
const REST_MAX_MS = 5_000;

/** Watches a worker; the answer ends the watch. */
export function restOnErrors(worker: QueueWorker): () => void {
  let errors = 0;
  let resting = false;
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
  worker.on('error', () => {
    if (resting) return;
    errors += 1;
    timer ??= setTimeout(windowEnds, WINDOW_MS);
    if (errors < ERRORS_PER_WINDOW) return;
    resting = true;
    clearTimeout(timer);
    timer = setTimeout(windowEnds, restMs);
    restMs = Math.min(2 * restMs, REST_MAX_MS);
    // Without waiting for the running jobs: only fetching takes a rest.
    void worker.pause(true);
  });
  return () => clearTimeout(timer);
}
