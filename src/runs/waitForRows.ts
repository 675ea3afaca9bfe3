// The spine waits on rows of PostgreSQL, never on job events: while work is left it looks at what
// waits and enqueues it again now and then, so that a lost queue loses nothing.

import type { RunDeps } from './deps.js';

export type WaitDeps = Pick<RunDeps, 'jobs' | 'monotonic' | 'progress' | 'sleep'>;

const POLL_FIRST_MS = 10;
const POLL_MAX_MS = 250;
/** How often what still waits is enqueued again. */
const SWEEP_MS = 3_000;
/** No step of a run waits longer; what is left then is said to be incomplete. */
const WAIT_HOURS_MAX = 12;

export interface Waiting {
  /** what is not done yet */
  open: () => Promise<number>;
  /** enqueues what waits for a worker */
  enqueue: () => Promise<void>;
  step: string;
  /** How far it is, where that is said in something smaller than what is open: pages. */
  shown?: () => Promise<{ done: number; total: number }>;
}

/** Resolves when nothing is open any more; false when the limit was reached first. */
export async function waitForRows(deps: WaitDeps, waiting: Waiting): Promise<boolean> {
  const began = deps.monotonic();
  let enqueuedAt = began;
  let pause = POLL_FIRST_MS;
  let total = 0;
  // Told to stop, a run begins no further step.
  await deps.sleep(0);
  await waiting.enqueue();
  while (deps.monotonic() - began < WAIT_HOURS_MAX * 3_600_000) {
    const open = await waiting.open();
    total = Math.max(total, open);
    const { done, total: all } = (await waiting.shown?.()) ?? { done: total - open, total };
    // It is done when nothing is open, and not before.
    deps.progress(waiting.step, open === 0 ? all : Math.min(done, all - 1), all);
    if (open === 0) return true;
    if (deps.monotonic() - enqueuedAt > SWEEP_MS) {
      await waiting.enqueue();
      enqueuedAt = deps.monotonic();
    }
    await deps.jobs.nap(pause);
    await deps.sleep(0);
    pause = Math.min(pause * 1.5, POLL_MAX_MS);
  }
  return false;
}
