// What a supervisor asks: does the process live (/healthz), and can it do its work (/readyz)? Both
// answer anybody, so they say no more than which part is missing. Neighbour: metrics.ts has the
// figures, for those who may see them.

import type { FastifyInstance } from 'fastify';
import { DatabaseFullError, DatabaseRefusesError } from '../core/errors.js';
import { isReplica } from '../database/server/serverFacts.js';
import type { ScheduleDeps } from '../night/owedRun.js';
import { inTime } from '../processes/inTime.js';
import { cached } from './cachedAnswer.js';

/** What the console's process knows of the parts it stands on. */
export interface MonitorDeps extends ScheduleDeps {
  version: string;
  /** jobs by queue; fails where the queue cannot be reached */
  queueCounts: () => Promise<Record<string, { waiting: number; active: number; failed: number }>>;
  /** fails where the queue answers and takes no job all the same */
  queueTakesJobs: () => Promise<void>;
  /** how many migrations the database lacks; fails where it cannot be reached */
  pendingMigrations: () => Promise<number>;
}

const LIMITS = { cacheMs: 5_000, timeoutMs: 15_000 };
/** Each part has so long to answer. */
const PART_TIMEOUT_MS = 5_000;

export function addHealth(server: FastifyInstance, deps: MonitorDeps | null): void {
  const missing = cached(async () => (deps === null ? [] : missingParts(deps)), LIMITS);
  server.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok\n'));
  server.get('/readyz', async (_request, reply) => {
    const parts = await missing();
    const words = parts.length === 0 ? ['ready'] : parts;
    return reply
      .code(parts.length === 0 ? 200 : 503)
      .header('cache-control', 'no-store')
      .type('text/plain')
      .send(words.map((line) => `${line}\n`).join(''));
  });
}

async function missingParts(deps: MonitorDeps): Promise<string[]> {
  const [database, queue] = await Promise.all([databaseProblem(deps), queueProblem(deps)]);
  return [database, queue].filter((problem) => problem !== null);
}

async function databaseProblem({ db, pendingMigrations }: MonitorDeps): Promise<string | null> {
  try {
    const pending = await inTime(pendingMigrations(), PART_TIMEOUT_MS);
    if (pending > 0) return `database: ${pending} migration(s) are missing`;
    const only = await inTime(isReplica(db), PART_TIMEOUT_MS);
    return only ? 'database: it is a replica, and takes no rows' : null;
  } catch (error) {
    if (error instanceof DatabaseFullError) return 'database: its disk is full';
    if (error instanceof DatabaseRefusesError) return 'database: it does not let this process in';
    return 'database: it does not answer';
  }
}

async function queueProblem(deps: MonitorDeps): Promise<string | null> {
  try {
    await inTime(deps.queueCounts(), PART_TIMEOUT_MS);
  } catch {
    return 'queue: it does not answer';
  }
  try {
    await inTime(deps.queueTakesJobs(), PART_TIMEOUT_MS);
    return null;
  } catch {
    return 'queue: it takes no jobs';
  }
}
