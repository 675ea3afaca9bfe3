// The table of queues, and how ids are enqueued. It owns what each queue is set to and how an id
// becomes a job that carries nothing else. The queue is a hint, never a memory: losing or doubling
// any job is harmless, because PostgreSQL decides and a sweep enqueues again. It must never read a
// job to decide anything. Neighbours: worker.ts hears the calls, failed.ts lists what went wrong.

import type { BulkJobOptions } from 'bullmq';
import type { Log } from '../src/core/log.js';
import type { QueueName, QueuePort } from '../src/core/queuePort.js';
import { isQueueId, QUEUES } from '../src/core/queuePort.js';
import type { Backend, JobQueue, OnError, QueueConnection } from './backend.js';
import { answered, within } from './backend.js';
import { quietLog } from './quietLog.js';

interface QueueSettings {
  /** What the id in a job names. */
  names: string;
  /** Whether a job may lead to a movement of money or a decision at the gateway. */
  money: boolean;
  /** Jobs at a time in one process; of sends, limits.concurrency of the profile lets fewer go. */
  concurrency: number;
  /** How long a silent worker is believed to be alive; its job is then given to another one. */
  lockMs: number;
}

export const QUEUE_TABLE: Readonly<Record<QueueName, QueueSettings>> = {
  // One is asked while another is stored; more would only be kept from other workers.
  pull: { names: 'a window of pages to look at', money: false, concurrency: 2, lockMs: 60_000 },
  capture: { names: 'a batch of captures', money: true, concurrency: 12, lockMs: 30_000 },
  cancel: { names: 'a batch of cancels', money: true, concurrency: 12, lockMs: 30_000 },
  refund: { names: 'a batch of refunds', money: true, concurrency: 12, lockMs: 30_000 },
  review: { names: 'a batch of reviews', money: true, concurrency: 12, lockMs: 30_000 },
  payout: { names: 'a payout', money: true, concurrency: 2, lockMs: 30_000 },
  report: { names: 'a run to report', money: false, concurrency: 2, lockMs: 60_000 },
};

/** Failed jobs kept for `tieout jobs`, for each queue; the truth about them is in PostgreSQL. */
export const FAILED_KEPT = 1_000;
/** The first few are taken while hundreds more are being written. */
const ENQUEUE_FIRST = 4;
const ENQUEUE_CHUNK = 500;
/**
 * A running job needs a connection now and then, and for a moment, so that few do for all of them.
 * Each session more has to learn the queue's functions anew, which takes longer than a job's turn.
 */
const JOB_CONNECTIONS_MAX = 4;
/** What one process takes of PostgreSQL for a queue that lives there; each queue listens on one. */
export const QUEUE_CONNECTIONS_MAX = QUEUES.length + JOB_CONNECTIONS_MAX;
const CLOSE_TIMEOUT_MS = 5_000;
/** A job that the server lost while it waited may hide the next ones of its id, but no longer. */
const ENQUEUE_WINDOW_MS = 5 * 60_000;
/** BullMQ sorts by a number up to here; what was enqueued further behind is equally late. */
const PLACE_MAX = 2_097_151;

interface QueueDeps {
  log: Log;
  now: () => Date;
  newId: () => string;
}

interface QueueCounts {
  waiting: number;
  active: number;
  failed: number;
}

export interface Queues extends QueuePort {
  counts(): Promise<Record<QueueName, QueueCounts>>;
  /** Throws UnreachableError where the server would take no job: full, a replica, away. */
  takesJobs(): Promise<void>;
  close(): Promise<void>;
  /** What an operator should know of the server's settings. */
  warnings: readonly string[];
  /** For the other files of jobs/ only. */
  readonly inside: { backend: Backend; queueOf(name: QueueName): JobQueue; onError: OnError };
}

/** Connects to the queue's server; throws UnreachableError within a bounded time. */
export async function openQueues(deps: QueueDeps, connection: QueueConnection): Promise<Queues> {
  const onError = quietLog(deps);
  const backend = await openBackend(onError, connection);
  for (const warning of backend.warnings) deps.log(`warning: ${warning}`, { level: 'warn' });
  const opened = new Map<QueueName, JobQueue>();
  // When it is first asked for: each asks the server as it opens, all at once on a session each.
  const queueOf = (name: QueueName): JobQueue => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const queue = backend.queue(name);
    queue.on('error', (error) => onError(`queue ${name}`, error));
    opened.set(name, queue);
    // One whose server was away as it opened refuses for ever: the next call opens another.
    queue.waitUntilReady().catch(() => {
      if (opened.get(name) === queue) opened.delete(name);
      queue.close().catch(() => {});
    });
    return queue;
  };
  return {
    enqueue: (name, ids) => enqueue(deps, backend, queueOf(name), name, ids),
    counts: () => countJobs(backend, queueOf),
    takesJobs: () => answered(backend, backend.tryToWrite(QUEUES)),
    close: async () => {
      const closing = Promise.all([...opened.values()].map((queue) => queue.close()));
      await within(CLOSE_TIMEOUT_MS, backend.description, closing).catch(() => {});
      await backend.close();
    },
    warnings: backend.warnings,
    inside: { backend, queueOf, onError },
  };
}

/** Brings the queue's own tables up to date; a Redis server needs nothing. */
export async function migrateQueues(connection: QueueConnection): Promise<void> {
  if (connection.kind !== 'database') return;
  const { migratePostgresQueues } = await import('./postgres.js');
  await migratePostgresQueues(connection.connection);
}

async function openBackend(onError: OnError, connection: QueueConnection): Promise<Backend> {
  switch (connection.kind) {
    case 'redis': {
      const { openRedisBackend } = await import('./redis.js');
      return openRedisBackend(onError, connection);
    }
    case 'database': {
      const { openPostgresBackend } = await import('./postgres.js');
      return openPostgresBackend(onError, connection.connection, {
        workers: QUEUES.length,
        concurrency: JOB_CONNECTIONS_MAX,
      });
    }
  }
}

async function enqueue(
  deps: QueueDeps,
  backend: Backend,
  queue: JobQueue,
  name: QueueName,
  ids: readonly string[],
): Promise<void> {
  const unfit = ids.find((id) => !isQueueId(id));
  if (unfit !== undefined) throw new Error(`queue ${name}: not an id that can be enqueued`);
  const unique = [...new Set(ids)];
  const enqueueId = deps.newId();
  const window = Math.floor(deps.now().getTime() / ENQUEUE_WINDOW_MS);
  let end = ENQUEUE_FIRST;
  for (let start = 0; start < unique.length; start = end, end += ENQUEUE_CHUNK) {
    const jobs = unique.slice(start, end).map((id, index) => ({
      name,
      data: { id },
      opts: { ...jobOptions(name, id, enqueueId, window), priority: placeOf(start + index) },
    }));
    await answered(backend, queue.addBulk(jobs));
  }
}

/**
 * Ids that are enqueued in one call are taken in turn: the third of one call comes after the second
 * of every other call. A caller names its ids account by account in turn, so that no account's long
 * list stands before another's short one, whenever each was enqueued. No id that waits is passed
 * by; of those who were taken, as many at a time as there are handlers, a later one may begin
 * sooner.
 */
const placeOf = (index: number): number => Math.min(index + 1, PLACE_MAX);

/**
 * One job waits for an id: a sweep that enqueues all night long while nobody listens piles nothing
 * up. A job that is at work hides no later one, since its worker may be dead (worker.ts gives the
 * id free as it begins). That is a convenience; the database is the guard. The job's own id is new
 * with every call, since a failed job keeps its id and would hide the next one; a client that
 * resends a call after a reconnect adds it once.
 */
function jobOptions(
  name: QueueName,
  id: string,
  enqueueId: string,
  window: number,
): BulkJobOptions {
  return {
    jobId: `${name}-${id}-${enqueueId}`,
    deduplication: { id: `${id}@${window}` },
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: { count: FAILED_KEPT },
    stackTraceLimit: 0,
  };
}

async function countJobs(
  backend: Backend,
  queueOf: (name: QueueName) => JobQueue,
): Promise<Record<QueueName, QueueCounts>> {
  const reading = QUEUES.map(async (name): Promise<[QueueName, QueueCounts]> => {
    const found = await queueOf(name).getJobCounts('waiting', 'prioritized', 'active', 'failed');
    const waiting = (found.waiting ?? 0) + (found.prioritized ?? 0);
    return [name, { waiting, active: found.active ?? 0, failed: found.failed ?? 0 }];
  });
  const counts = Object.fromEntries(await answered(backend, Promise.all(reading)));
  return counts as Record<QueueName, QueueCounts>;
}
