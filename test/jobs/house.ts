// Two houses with a queuePort: the same queues on Redis and on PostgreSQL, for the tests that must
// hold on both. It owns starting and ending them, forging jobs and losing them. Neighbours:
// conformance.test.ts and failure.test.ts run over `HOUSES`.

import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { QueueConnection } from '../../jobs/backend.js';
import type { Queues } from '../../jobs/queues.js';
import { openQueues } from '../../jobs/queues.js';
import type { Handler, WorkerDeps, Workers } from '../../jobs/worker.js';
import { startWorkers } from '../../jobs/worker.js';
import type { QueueName } from '../../src/core/queuePort.js';
import { freshDatabase } from '../support/database.js';
import { redisMissing, sharedRedis } from '../support/redis.js';

const FACT_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 10_000;

export interface House {
  connection: QueueConnection;
  lines: string[];
  open(): Promise<Queues>;
  work(
    queues: Queues,
    handlers?: Partial<WorkerDeps['handlers']>,
    timing?: Timing,
  ): Promise<Workers>;
  end(): Promise<void>;
}

type Timing = WorkerDeps['timing'];

export const HOUSES: readonly {
  title: string;
  missing: string | null;
  build: () => Promise<House>;
}[] = [
  {
    title: 'on Redis',
    missing: redisMissing,
    async build() {
      const server = await sharedRedis();
      const namespace = `test-${randomUUID()}`;
      return houseOf({ kind: 'redis', url: server.url, namespace }, () => server.end());
    },
  },
  {
    title: 'on PostgreSQL',
    missing: null,
    async build() {
      const { connection, drop } = await freshDatabase({ queues: true });
      return houseOf({ kind: 'database', connection }, drop);
    },
  },
];

export function titleOf(house: (typeof HOUSES)[number]): string {
  return house.missing === null ? house.title : `${house.title} (skipped: ${house.missing})`;
}

export function houseOf(connection: QueueConnection, end: () => Promise<void>): House {
  const opened: Queues[] = [];
  const started: Workers[] = [];
  const lines: string[] = [];
  const log = (line: string): void => {
    lines.push(line);
  };
  return {
    connection,
    lines,
    async open() {
      const deps = { log, now: () => new Date(), newId: randomUUID };
      const queues = await openQueues(deps, connection);
      opened.push(queues);
      return queues;
    },
    async work(queues, handlers = {}, timing) {
      const all = { ...NOTHING_TO_DO, ...handlers };
      const workers = await startWorkers({
        queues,
        handlers: all,
        log,
        ...(timing === undefined ? {} : { timing }),
      });
      started.push(workers);
      return workers;
    },
    async end() {
      await Promise.all(started.map((workers) => workers.stop(STOP_GRACE_MS)));
      await Promise.all(opened.map((queues) => queues.close()));
      await end();
    },
  };
}

const nothing: Handler = async () => {};
const NOTHING_TO_DO: Record<QueueName, Handler> = {
  pull: nothing,
  capture: nothing,
  cancel: nothing,
  refund: nothing,
  review: nothing,
  payout: nothing,
  report: nothing,
};

/** Adds a job that tieout would never add. */
export async function forge(
  queues: Queues,
  queue: QueueName,
  payload: unknown,
  opts: object = {},
): Promise<void> {
  await queues.inside.queueOf(queue).addBulk([{ name: 'forged', data: payload as never, opts }]);
}

/** Waits for a fact; never for time. */
export async function fact(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: FACT_TIMEOUT_MS, interval: 25 });
}

/** Waits until the queue holds nothing that waits or runs. */
export async function quiet(queues: Queues, queue: QueueName): Promise<void> {
  await fact(async () => {
    const counts = (await queues.counts())[queue];
    expect(counts.waiting + counts.active).toBe(0);
  });
}
