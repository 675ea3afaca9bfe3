// A week of nights at speed, on the built program: each with another trouble, one of them without
// its hour, and the books right at the end. Longer: `npm run week -- --nights 92 --seed 3`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateQueues } from '../../jobs/queues.js';
import { ensureBuilt } from '../support/cli.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { moveClock } from '../support/movedClock.js';
import { addressOf } from '../support/night.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';

const SEED = Number(process.env.TIEOUT_WEEK_SEED ?? '1');
const folder = mkdtempSync(join(tmpdir(), 'tieout-week-'));
const cleanups: (() => Promise<unknown>)[] = [];
const lines: string[] = [];
let database: FreshDatabase;
const CUT_ALL = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

beforeAll(async () => {
  await ensureBuilt();
  database = await freshDatabase();
  cleanups.push(() => database.drop());
});

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

/** A queue, and how it loses everything. */
async function queueOf(): Promise<{ queueUrl: string; emptyQueue: () => Promise<unknown> }> {
  if (privateRedisMissing === null) {
    const redis = await startRedis();
    cleanups.push(() => redis.end());
    return { queueUrl: redis.url, emptyQueue: () => redis.command('FLUSHALL') };
  }
  const { connection, db } = database;
  await migrateQueues({ kind: 'database', connection });
  const lost = 'truncate bullmq.job, bullmq.dedup, bullmq.dedup_next cascade';
  return { queueUrl: 'database', emptyQueue: () => db.query(lost) };
}

/** Programs of their own, without types. */
const load = async (path: string) => (await import(new URL(path, import.meta.url).href)) as never;

it('a week of troubled nights ends with the books right', { timeout: 300_000 }, async () => {
  const { loadProgram }: Programs = await load('../../proof/program.mjs');
  const { MODULES }: { MODULES: object } = await load('../../proof/week/world.mjs');
  const { runNights, TROUBLES }: Nights = await load('../../proof/week/nights.mjs');
  const { checkBooks }: Checks = await load('../../proof/week/checkBooks.mjs');
  const { closeWorld }: Worlds = await load('../../proof/week/world.mjs');
  const { db, connection } = database;
  const place = {
    ...{ db, connection, url: addressOf(connection), folder },
    ...{ clock: await moveClock(db), log: (line: string) => void lines.push(line) },
    ...(await queueOf()),
    // Its server is shared: all connections to the database end, as by a restart.
    restartServer: () => db.query(CUT_ALL),
  };
  const options = { nights: TROUBLES.length + 1, seed: SEED, orders: 300, accounts: 2 };
  const program = await loadProgram(undefined, MODULES);
  const weeks = await runNights(program, place, options);
  cleanups.push(() => closeWorld(weeks.world));
  expect(await checkBooks(weeks), lines.slice(-40).join('\n')).toEqual([]);
  const { tally } = weeks;
  // One night was missed, two were stopped and gone on with, one was resumed; under one its server
  // went away, and one had its process killed as it sent.
  const troubled = { stopped: 2, restarted: 1, killed: 1 };
  expect(tally).toMatchObject({ nights: 10, ...troubled, orders: 300 });
  // The one whose server went away is the same run, or was taken up once more.
  expect([5, 6]).toContain(tally.runs);
  expect(tally.resumed).toBeGreaterThan(2);
  expect(tally.approved).toBeGreaterThan(2);
});

interface Tally {
  nights: number;
  runs: number;
  joined: number;
  resumed: number;
  stopped: number;
  restarted: number;
  killed: number;
  approved: number;
  orders: number;
}

interface Weeks {
  world: unknown;
  tally: Tally;
}

interface Programs {
  loadProgram(root: undefined, modules: object): Promise<unknown>;
}

interface Nights {
  TROUBLES: readonly string[];
  runNights(program: unknown, place: unknown, options: object): Promise<Weeks>;
}

interface Checks {
  checkBooks(weeks: Weeks): Promise<string[]>;
}

interface Worlds {
  closeWorld(world: unknown): Promise<void>;
}
