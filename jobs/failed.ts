// Failed jobs, as `tieout jobs` shows them. It owns listing, discarding and retrying them. A failed
// job says nothing about the money: the effect may have happened. So a retry is never the queue's
// own: PostgreSQL is asked again, and only if it says so is the id enqueued anew.
// Neighbours: worker.ts wrote the reasons; night/ answers the question `reevaluate`.

import type { QueueName, QueuePort, Reevaluate } from '../src/core/queuePort.js';
import { QUEUES } from '../src/core/queuePort.js';
import type { StoredJob } from './backend.js';
import { answered, within } from './backend.js';
import type { Queues } from './queues.js';
import { FAILED_KEPT } from './queues.js';
import { plainLine } from './reason.js';
import { idOf } from './worker.js';

export interface FailedJob {
  queue: QueueName;
  jobId: string;
  /** What the job named; null if its payload was none of ours. */
  id: string | null;
  failedAt: Date;
  reason: string;
  attempts: number;
}

/** Newest first, over all queues. */
export async function listFailedJobs(
  queues: Queues,
  options: { limit: number },
): Promise<FailedJob[]> {
  const last = Math.max(0, Math.min(options.limit, FAILED_KEPT) - 1);
  const { backend, queueOf } = queues.inside;
  const perQueue = QUEUES.map(async (name) => {
    const jobs = await answered(backend, queueOf(name).getFailed(0, last));
    // A job that went away while the page was read comes as undefined.
    return jobs.flatMap((job) => (job?.id === undefined ? [] : [describeJob(name, job.id, job)]));
  });
  const found = (await Promise.all(perQueue)).flat();
  found.sort((a, b) => b.failedAt.getTime() - a.failedAt.getTime());
  return found.slice(0, Math.max(0, options.limit));
}

export async function findFailedJob(queues: Queues, jobId: string): Promise<FailedJob | null> {
  const found = await locate(queues, jobId);
  return found === null ? null : describeJob(found.queue, jobId, found.job);
}

/** Takes a failed job off the list; what it named stays as PostgreSQL says. */
export async function discardJob(
  queues: Queues,
  jobId: string,
): Promise<{ kind: 'discarded' | 'not_found' }> {
  const found = await locate(queues, jobId);
  if (found === null) return { kind: 'not_found' };
  await answered(queues.inside.backend, found.job.remove());
  return { kind: 'discarded' };
}

/** So often, and at the end, those that are over leave the list. */
const CLEAR_MS = 60_000;
/** A queue that is away holds up no end. */
const CLEAR_MS_MAX = 2_000;

/** Whoever works keeps the list to what a person can still learn from. */
export function keepClear(deps: Pick<RetryDeps, 'queues' | 'reevaluate'>): () => Promise<void> {
  let clearing: Promise<unknown> = Promise.resolve();
  const clear = (): void => {
    // Nothing hangs on it: what stays on the list is taken off by the next one.
    clearing = clearing.then(() => clearOver(deps)).catch(() => {});
  };
  const timer = setInterval(clear, CLEAR_MS);
  return async () => {
    clearInterval(timer);
    clear();
    await within(CLEAR_MS_MAX, 'the list of failed jobs', clearing).catch(() => {});
  };
}

/** Takes failed jobs off the list whose work was done since; says how many. */
export async function clearOver({
  queues,
  reevaluate,
}: Pick<RetryDeps, 'queues' | 'reevaluate'>): Promise<number> {
  const { backend, queueOf } = queues.inside;
  let cleared = 0;
  for (const name of QUEUES) {
    for (const job of await answered(backend, queueOf(name).getFailed(0, FAILED_KEPT - 1))) {
      const id = job === undefined ? null : idOf(job.data);
      if (job === undefined || id === null) continue;
      if ((await reevaluate(name, id)).isOver !== true) continue;
      await answered(backend, job.remove());
      cleared += 1;
    }
  }
  return cleared;
}

interface RetryDeps {
  queues: Queues;
  queuePort: QueuePort;
  reevaluate: Reevaluate;
  /** The id that is enqueued in place of the job's own. */
  renew?: (queue: QueueName, id: string) => Promise<string>;
}

/**
 * `rung`: it is to be done, and was enqueued anew; `done`: nothing is left to do; both leave the
 * list. `held`: a person has to decide first; `refused`: the job names nothing of ours; both stay
 * on it.
 */
interface RetryDecision {
  kind: 'rung' | 'done' | 'held' | 'refused' | 'not_found';
  jobId: string;
  queue: QueueName | null;
  id: string | null;
  words: string;
}

export async function retryFailedJob(deps: RetryDeps, jobId: string): Promise<RetryDecision> {
  const found = await locate(deps.queues, jobId);
  if (found === null) {
    const words = 'there is no failed job of this name any more';
    return { kind: 'not_found', jobId, queue: null, id: null, words };
  }
  const { queue, job } = found;
  const id = idOf(job.data);
  if (id === null) {
    const words = 'the job carries more or less than an id, so nothing is done; discard it';
    return { kind: 'refused', jobId, queue, id, words };
  }
  const { kind, words } = await deps.reevaluate(queue, id);
  if (kind === 'hold') return { kind: 'held', jobId, queue, id, words };
  // Enqueued first and removed afterwards: a crash in between leaves a red line, not lost work.
  if (kind === 'enqueue') {
    const wanted = (await deps.renew?.(queue, id)) ?? id;
    await deps.queuePort.enqueue(queue, [wanted]);
  }
  await answered(deps.queues.inside.backend, job.remove());
  return { kind: kind === 'enqueue' ? 'rung' : 'done', jobId, queue, id, words };
}

async function locate(
  queues: Queues,
  jobId: string,
): Promise<{ queue: QueueName; job: StoredJob } | null> {
  const { backend, queueOf } = queues.inside;
  for (const queue of QUEUES) {
    const job = await answered(backend, queueOf(queue).getJob(jobId));
    if (job !== undefined && (await answered(backend, job.isFailed()))) return { queue, job };
  }
  return null;
}

function describeJob(queue: QueueName, jobId: string, job: StoredJob): FailedJob {
  return {
    queue,
    jobId,
    id: idOf(job.data),
    failedAt: new Date(job.finishedOn ?? 0),
    reason: plainLine(job.failedReason ?? '') || 'no reason was recorded',
    attempts: job.attemptsMade,
  };
}
