// The spine waits on rows of PostgreSQL, never on job events: while work is left it looks at what
// waits and enqueues it again now and then, so that a lost queue loses nothing, and one that is
// away is waited for.

import { UnreachableError } from '../core/errors.js';
import { isQueueAway } from '../core/queuePort.js';
import type { RunDeps } from './deps.js';

export type WaitDeps = Pick<RunDeps, 'jobs' | 'log' | 'monotonic' | 'progress' | 'sleep'>;

const POLL_FIRST_MS = 10;
const POLL_MAX_MS = 250;
/** How often what still waits is enqueued again. */
const SWEEP_MS = 3_000;
/** A restart or a failover of the queue's server takes less; whoever is to start it hears then. */
export const QUEUE_MINUTES_MAX = 3;
const MINUTE_MS = 60_000;
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
  const enqueue = outwaitingQueue(deps, waiting.enqueue);
  // Told to stop, a run begins no further step.
  await deps.sleep(0);
  await enqueue();
  while (deps.monotonic() - began < WAIT_HOURS_MAX * 3_600_000) {
    const open = await waiting.open();
    total = Math.max(total, open);
    const { done, total: all } = (await waiting.shown?.()) ?? { done: total - open, total };
    // It is done when nothing is open, and not before.
    deps.progress(waiting.step, open === 0 ? all : Math.min(done, all - 1), all);
    if (open === 0) return true;
    if (deps.monotonic() - enqueuedAt > SWEEP_MS) {
      await enqueue();
      enqueuedAt = deps.monotonic();
    }
    await deps.jobs.nap(pause);
    await deps.sleep(0);
    pause = Math.min(pause * 1.5, POLL_MAX_MS);
  }
  return false;
}

/** Throws once the queue was away for too long; until then others may do what waits. */
function outwaitingQueue(
  { log, monotonic }: Pick<WaitDeps, 'log' | 'monotonic'>,
  enqueue: () => Promise<void>,
): () => Promise<void> {
  let awaySince: number | null = null;
  return async () => {
    const asked = monotonic();
    try {
      await enqueue();
    } catch (error) {
      if (!isQueueAway(error)) throw error;
      const isNews = awaySince === null;
      awaySince ??= asked;
      if (monotonic() - awaySince > QUEUE_MINUTES_MAX * MINUTE_MS) throw awayTooLong(error);
      const limit = `${QUEUE_MINUTES_MAX} minutes at most`;
      if (isNews) log(`${error.message}; it is waited for, ${limit}`, { level: 'warn' });
      return;
    }
    if (awaySince !== null) log('the queue answers; what waits is enqueued, and it goes on');
    awaySince = null;
  };
}

function awayTooLong(error: UnreachableError): UnreachableError {
  return new UnreachableError(
    `${error.message}; it was waited for, ${QUEUE_MINUTES_MAX} minutes. Start it; the same ` +
      'command goes on from here',
    { cause: error },
  );
}
