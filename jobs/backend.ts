// How the queues reach their server: BullMQ on Redis or on PostgreSQL behind one small interface.
// It owns the connections of the queues and their settings. It must never hold a rule, and nothing
// above it may ask which backend it is. Neighbours: redis.ts and postgres.ts build one each;
// queues.ts and worker.ts use it.

import type { BulkJobOptions, WorkerOptions } from 'bullmq';
import { UnreachableError } from '../src/core/errors.js';
import type { Connection } from '../src/database/connection.js';
import { reasonOf } from './reason.js';

/** `queue.url` of the configuration, with the database's address where it says `database`. */
export type QueueConnection =
  | { kind: 'redis'; url: string; namespace?: string }
  | { kind: 'database'; connection: Connection };

/** All that a job carries. */
interface Payload {
  id: string;
}

/** What a queue keeps of a job. Others may have written it, so nothing in it is trusted. */
export interface StoredJob {
  id?: string | undefined;
  data: unknown;
  failedReason?: string | undefined;
  finishedOn?: number | undefined;
  attemptsMade: number;
  isFailed(): Promise<boolean>;
  remove(): Promise<void>;
}

/** A job that waits has a place in the order, and is `prioritized` then. */
type JobState = 'waiting' | 'prioritized' | 'active' | 'failed';

// The few methods of BullMQ's classes that tieout calls: each backend's classes fit them.
export interface JobQueue {
  addBulk(jobs: { name: string; data: Payload; opts: BulkJobOptions }[]): Promise<unknown>;
  getFailed(start: number, end: number): Promise<(StoredJob | undefined)[]>;
  getJob(jobId: string): Promise<StoredJob | undefined>;
  getJobCounts(...states: JobState[]): Promise<Record<string, number>>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface QueueWorker {
  waitUntilReady(): Promise<unknown>;
  cancelAllJobs(reason: string): void;
  pause(doNotWaitActive: boolean): Promise<void>;
  resume(): unknown;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'stalled', listener: (jobId: string) => void): unknown;
}

/** A job that a worker has taken. */
interface TakenJob extends Pick<StoredJob, 'id' | 'data'> {
  /** Gives its id free, so that the next call for it is a job again. */
  removeDeduplicationKey(): Promise<boolean>;
}

export type Processor = (job: TakenJob, token?: string, signal?: AbortSignal) => Promise<void>;
type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>;

export interface Backend {
  /** Names the server for a message; never a password. */
  description: string;
  /** What an operator should know of the server's settings. */
  warnings: readonly string[];
  queue(name: string): JobQueue;
  worker(name: string, processor: Processor, settings: WorkerSettings): QueueWorker;
  /** Tries to write, where a server that answers may yet take no job of these queues. */
  tryToWrite(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Told of connection trouble again and again while it lasts, so it has to limit itself. */
export type OnError = (scope: string, error: Error) => void;

const ANSWER_TIMEOUT_MS = 15_000;

/** What the queue's server answers; UnreachableError where it fails or takes too long. */
export async function answered<T>(
  backend: Pick<Backend, 'description'>,
  promise: Promise<T>,
  ms = ANSWER_TIMEOUT_MS,
): Promise<T> {
  try {
    return await within(ms, backend.description, promise);
  } catch (error) {
    if (error instanceof UnreachableError) throw error;
    const words = `the queue cannot be used: ${backend.description}: ${reasonOf(error)}`;
    throw new UnreachableError(words, { cause: error });
  }
}

/** The promise, or an UnreachableError once it took too long: a dead server may answer nothing. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = Math.round(ms / 1000);
    const fail = () => reject(new UnreachableError(`${what}: no answer within ${seconds} s`));
    timer = setTimeout(fail, ms);
  });
  // The loser of the race may still fail later, when nobody listens any more.
  promise.catch(() => {});
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
