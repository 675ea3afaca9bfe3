// Senders that sleep at the worst moment: a real process that is stopped between its claim and its
// write, and a job that the queue takes for dead and hands out a second time. The sandbox's own
// journal says what moved.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { SEND_BUDGET_MS } from '../../src/send/batches/attemptsStore.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import type { House, HouseOptions } from '../support/night.js';
import { instructionCounts, kinds } from '../support/night.js';
import type { TestRedis } from '../support/redis.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import type { Front } from './front.js';
import { houseBehind } from './houseBehind.js';
import { prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function houseOf(options: HouseOptions = {}): Promise<{ house: House; front: Front }> {
  const { house, front } = await houseBehind({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    ...options,
  });
  cleanups.push(() => house.end());
  return { house, front };
}

async function outcomes(
  house: House,
): Promise<{ outcome: string | null; reason: string | null }[]> {
  const { rows } = await house.db.query<{ outcome: string | null; reason: string | null }>(
    'select outcome, reason from tieout.attempts order by claimed_at',
  );
  return rows;
}

/** Whoever claims waits in its COMMIT until nobody holds this lock any more. */
const LOCK = 4_711;
const AT_COMMIT = `
  create function tieout.wait_at_commit() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(${LOCK});
    return null;
  end $$;
  create constraint trigger wait_at_commit after insert on tieout.attempts
    deferrable initially deferred for each row execute function tieout.wait_at_commit()`;
const WAITERS = `select 1 from pg_locks where locktype = 'advisory' and objid = ${LOCK}
  and not granted and database = (select oid from pg_database where datname = current_database())`;

describe('a process that is stopped after its COMMIT and goes on past its budget', () => {
  it('writes nothing; nobody else says so for it; then all is sent once', async () => {
    await ensureBuilt();
    const { house, front } = await houseOf();
    await house.db.query(AT_COMMIT);
    const run = await house.db.transaction(async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(${LOCK})`);
      const started = startTieout(['run', '--json'], { cwd: house.folder });
      const waits = async () => (await house.db.query(WAITERS)).rows.length;
      await expect.poll(waits, { timeout: 30_000 }).toBe(1);
      started.signal('SIGSTOP');
      return started;
    });
    // The claim stands by now, and its sender does not know.
    await expect.poll(async () => (await outcomes(house)).length).toBe(1);
    await sleep(SEND_BUDGET_MS);
    await recoverAttempts(await (await house.open()).sendDeps(), ['A1001']);
    expect(await outcomes(house)).toEqual([{ outcome: null, reason: null }]);
    expect(front.asked.has('capture')).toBe(false);
    run.signal('SIGCONT');
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(0);
    const [first, ...rest] = await outcomes(house);
    expect(first).toEqual({
      outcome: 'not_sent',
      reason: 'the time budget between claim and sending was used up',
    });
    expect(rest.map(({ outcome }) => outcome)).toEqual(['answered', 'answered']);
    expect(front.asked.get('capture')).toBe(2);
    expect((await house.effects()).length).toBe(2);
  });
});

/** A job is given up quickly, and nobody renews its lock. */
const FORGETFUL = {
  concurrency: 1,
  lockDuration: 600,
  stalledInterval: 300,
  maxStalledCount: 2,
  skipLockRenewal: true,
  drainDelay: 1,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

describe.each([
  { on: 'Redis', missing: privateRedisMissing },
  { on: 'PostgreSQL', missing: null },
])('a job on $on that is handed out twice while its sender is at it', ({ on, missing }) => {
  it.skipIf(missing !== null)('finds the claim taken', async () => {
    const redis = on === 'Redis' ? await privateRedis() : null;
    const { house, front } = await houseOf(
      redis === null ? {} : { settings: { queue: { url: redis.url } } },
    );
    const { deps, batchIds } = await prepareRun(house);
    // Redis remembers for long when the night's own workers looked for dead ones.
    await redis?.command('FLUSHALL');
    const runs: string[] = [];
    const twice = async (): Promise<void> => {
      await expect.poll(() => runs.length, { timeout: 20_000 }).toBeGreaterThan(1);
    };
    front.trouble = async ({ operation }) => {
      if (operation === 'capture') await twice();
      return false;
    };
    const { inside } = await (await house.open()).queues();
    const handler = async ({ data }: { data: unknown }): Promise<void> => {
      const { id } = data as { id: string };
      runs.push(id);
      await sendBatch(deps, BigInt(id));
    };
    const workers = [1, 2].map(() => inside.backend.worker('capture', handler, FORGETFUL));
    for (const worker of workers) {
      worker.on('error', () => {});
      await worker.waitUntilReady();
    }
    await deps.queuePort.enqueue('capture', batchIds.map(String));
    const counts = () => instructionCounts(house.db);
    await expect.poll(counts, { timeout: 30_000 }).toEqual({ 'capture accepted': 2 });
    for (const worker of workers) await worker.close();
    expect(new Set(runs)).toEqual(new Set(batchIds.map(String)));
    expect(runs.length).toBeGreaterThan(1);
    expect(front.asked.get('capture')).toBe(1);
    expect((await house.effects()).length).toBe(2);
    expect((await outcomes(house)).map(({ outcome }) => outcome)).toEqual(['answered']);
  });
});

async function privateRedis(): Promise<TestRedis> {
  const server = await startRedis();
  cleanups.push(() => server.end());
  return server;
}
