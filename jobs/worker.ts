// One generic worker over the table of queues. It owns hearing a call, checking that it carries an
// id and nothing else, and giving that id to the handler. It must never retry and never decide: a
// job may run twice (a lost lock, a stalled process) and a failed job may have moved money, so each
// handler asks PostgreSQL first. Neighbours: queues.ts enqueues, failed.ts lists what was thrown
// here.

import { UnreachableError } from '../src/core/errors.js';
import type { Log } from '../src/core/log.js';
import type { QueueName } from '../src/core/queuePort.js';
import { isQueueId, QUEUES } from '../src/core/queuePort.js';
import type { Processor, QueueWorker } from './backend.js';
import { answered, within } from './backend.js';
import { UnrecoverableError } from './bullmq.js';
import type { FailureNotices } from './failureNotices.js';
import { failureNotices } from './failureNotices.js';
import type { Queues } from './queues.js';
import { FAILED_KEPT, QUEUE_TABLE } from './queues.js';
import { reasonOf } from './reason.js';
import type { Rests } from './rests.js';
import { openRests } from './rests.js';

const READY_TIMEOUT_MS = 10_000;
/** After the grace the handlers are told to stop and get this long to do so. */
const ABORT_MS = 2_000;
/** So long what has no job under way may take to close: with its server gone it never does. */
const IDLE_CLOSE_MS = 5_000;
const CLOSE_POLL_MS = 500;
const STALLED_CHECK_MS = 15_000;
/** A job whose worker died is looked at once more; its second death is left to the sweep. */
const STALLED_RERUNS = 1;
/** How often an idle worker asks although nothing was enqueued: a lost notice costs this much. */
const IDLE_POLL_SECONDS = 5;
/** An id that is enqueued while it is at work is looked at again, so often in one job. */
const ROUNDS_MAX = 3;
const NOT_OURS = 'refused: a job must carry exactly one id and nothing else';

export type Handler = (id: string, signal: AbortSignal) => Promise<void>;

export interface WorkerDeps {
  queues: Queues;
  handlers: Record<QueueName, Handler>;
  log: Log;
  /** Told of each job that failed; what it throws is not heard. */
  onFailed?: (job: { queue: QueueName; id: string; reason: string }) => Promise<void>;
  /** Nothing of them can be sent from here now: jobs that lead to money are left to others. */
  isInTheWay?: () => boolean;
  /** For tests of dying workers; the table of queues says it otherwise. */
  timing?: { lockMs: number; stalledCheckMs: number };
}

export interface Workers {
  /** Takes no new job, waits for the running ones, then aborts them; says how many still run. */
  stop(graceMs: number): Promise<{ stillRunning: number }>;
}

/** Starts one worker a queue; throws UnreachableError within a bounded time. */
export async function startWorkers(deps: WorkerDeps): Promise<Workers> {
  const told = failureNotices(deps.log);
  const work: Work = { running: new Set(), isStopping: false, told, rests: new Map() };
  const workers: QueueWorker[] = [];
  const stop = (graceMs: number) => {
    work.isStopping = true;
    for (const rests of work.rests.values()) rests.end();
    return stopWorkers(deps, workers, work.running, graceMs).finally(() => work.told.end());
  };
  try {
    // One after the other: begun at once, each would open connections that begin with empty caches.
    for (const name of QUEUES) {
      const worker = startWorker(deps, name, work);
      workers.push(worker);
      work.rests.set(name, openRests(worker));
      await answered(deps.queues.inside.backend, worker.waitUntilReady(), READY_TIMEOUT_MS);
    }
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { stop };
}

/** What the workers of one process are at. */
interface Work {
  running: Set<symbol>;
  isStopping: boolean;
  told: FailureNotices;
  rests: Map<QueueName, Rests>;
}

function startWorker(deps: WorkerDeps, name: QueueName, work: Work): QueueWorker {
  const { backend, onError } = deps.queues.inside;
  const { concurrency, lockMs } = QUEUE_TABLE[name];
  const worker = backend.worker(name, processorOf(deps, name, work), {
    concurrency,
    lockDuration: deps.timing?.lockMs ?? lockMs,
    stalledInterval: deps.timing?.stalledCheckMs ?? STALLED_CHECK_MS,
    maxStalledCount: STALLED_RERUNS,
    drainDelay: IDLE_POLL_SECONDS,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: FAILED_KEPT },
  });
  worker.on('error', (error) => onError(`worker ${name}`, error));
  worker.on('stalled', (jobId) =>
    deps.log(`queue ${name}: the worker of job ${reasonOf(jobId)} went silent; it is run again`, {
      level: 'warn',
      queue: name,
    }),
  );
  return worker;
}

function processorOf(deps: WorkerDeps, name: QueueName, work: Work): Processor {
  const { handlers, log, queues } = deps;
  /** Ids at work in this process, and whether they were enqueued meanwhile. */
  const atWork = new Map<string, { enqueuedAgain: boolean }>();
  // With a default for the last one BullMQ would count two parameters, and hand no signal over.
  return async (job, _token, signal) => {
    const id = idOf(job.data);
    if (id === null) {
      const which = reasonOf(job.id ?? 'without an id');
      log(`queue ${name}: job ${which} ${NOT_OURS}`, { level: 'warn', queue: name });
      throw new UnrecoverableError(NOT_OURS);
    }
    // From now on a call for this id is heard: were this worker to die, nobody else would be told.
    await job
      .removeDeduplicationKey()
      .catch((error: Error) => queues.inside.onError(`queue ${name}`, error));
    if (work.isStopping) {
      // It was on its way to us when we were told to stop: somebody else hears it.
      await queues.enqueue(name, [id]);
      return;
    }
    const already = atWork.get(id);
    if (already !== undefined) {
      already.enqueuedAgain = true;
      return;
    }
    const mine = { enqueuedAgain: true };
    atWork.set(id, mine);
    const one = Symbol(id);
    work.running.add(one);
    try {
      for (let round = 0; mine.enqueuedAgain && round < ROUNDS_MAX; round += 1) {
        mine.enqueuedAgain = false;
        await handlers[name](id, signal ?? new AbortController().signal);
      }
    } catch (error) {
      const reason = reasonOf(error);
      work.told.failed(name, id, reason);
      await deps.onFailed?.({ queue: name, id, reason }).catch(() => {});
      // Whatever the job itself asks for, it is never tried again by the queue.
      throw new UnrecoverableError(reason);
    } finally {
      // Before it has ended: with its end the next one is fetched.
      if (QUEUE_TABLE[name].money && deps.isInTheWay?.()) work.rests.get(name)?.rest();
      atWork.delete(id);
      work.running.delete(one);
    }
  };
}

/** The id of a payload of exactly the shape `{ id }`; null for any other. */
export function idOf(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null) return null;
  const keys = Object.keys(payload);
  if (keys.length !== 1 || !('id' in payload)) return null;
  return isQueueId(payload.id) ? payload.id : null;
}

async function stopWorkers(
  deps: WorkerDeps,
  workers: readonly QueueWorker[],
  running: ReadonlySet<symbol>,
  graceMs: number,
): Promise<{ stillRunning: number }> {
  const closing = Promise.all(workers.map((worker) => worker.close()));
  for (let left = graceMs; left > 0; ) {
    const isIdle = running.size === 0;
    const ms = Math.min(left, isIdle ? IDLE_CLOSE_MS : CLOSE_POLL_MS);
    if (await settles(closing, ms)) return { stillRunning: 0 };
    if (isIdle) break;
    left -= ms;
  }
  for (const worker of workers) worker.cancelAllJobs('tieout is stopping');
  if (await settles(closing, ABORT_MS)) return { stillRunning: 0 };
  if (running.size > 0) {
    deps.log(`${running.size} jobs did not stop in time; another worker will look at them again`);
  }
  return { stillRunning: running.size };
}

async function settles(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return within(ms, 'stopping', promise).then(
    () => true,
    (error) => !(error instanceof UnreachableError),
  );
}
