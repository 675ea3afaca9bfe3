// The port through which the steps reach the queue. It owns the names of the queues and what may be
// enqueued: ids, and nothing else. A job is a hint to look into PostgreSQL; it may be lost, doubled
// or forged, so that nothing may ever be decided from it. Neighbours: jobs/ implements it, the
// steps call it, app/compose.ts joins them.

import { DatabaseAwayError, UnreachableError } from './errors.js';

/** One queue a kind of work; five of them lead to money. */
export const QUEUES = [
  'pull',
  'capture',
  'cancel',
  'refund',
  'review',
  'payout',
  'report',
] as const;
export type QueueName = (typeof QUEUES)[number];

export interface QueuePort {
  /** PostgreSQL may hold work under these ids; throws UnreachableError if nobody hears. */
  enqueue(queue: QueueName, ids: readonly string[]): Promise<void>;
}

/** Of what an enqueue throws: nobody hears now, and what waits is enqueued again later. */
export function isQueueAway(error: unknown): error is UnreachableError {
  return error instanceof UnreachableError && !(error instanceof DatabaseAwayError);
}

/** The shape of an id: short and plain, and free of the colon that queue keys are built with. */
const QUEUE_ID = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/;

export function isQueueId(value: unknown): value is string {
  return typeof value === 'string' && QUEUE_ID.test(value);
}

/**
 * What PostgreSQL says about the work behind a failed job, when a person asks to retry it:
 * `enqueue`: it is still to be done and may be done; `done`: nothing is left to do; `hold`: a
 * person has to decide something first.
 */
export interface Reevaluation {
  kind: 'enqueue' | 'done' | 'hold';
  words: string;
  /** Where nothing is left to do: it was done since, so that nobody need hear of the failure. */
  isOver?: true;
}

export type Reevaluate = (queue: QueueName, id: string) => Promise<Reevaluation>;
