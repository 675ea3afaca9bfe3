// A rest for a worker whose server is away or broken: BullMQ then asks for the next job again
// without any pause, thousands of times a second. It owns counting such errors and the pause. It
// must never end a running job. Neighbours: worker.ts gives every worker one.

import type { QueueWorker } from './backend.js';

const WINDOW_MS = 1_000;
export const ERRORS_PER_WINDOW = 10;

/** Watches a worker; the answer ends the watch. */
export function restOnErrors(worker: QueueWorker): () => void {
  let errors = 0;
  let resting = false;
  let timer: NodeJS.Timeout | undefined;
  const windowEnds = (): void => {
    timer = undefined;
    errors = 0;
    if (!resting) return;
    resting = false;
    void worker.resume();
  };
  worker.on('error', () => {
    errors += 1;
    timer ??= setTimeout(windowEnds, WINDOW_MS);
    if (resting || errors < ERRORS_PER_WINDOW) return;
    resting = true;
    // Without waiting for the running jobs: only fetching takes a rest.
    void worker.pause(true);
  });
  return () => clearTimeout(timer);
}
