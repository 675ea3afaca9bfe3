// A worker that dies leaves its job behind in the queue, locked for a while, and every later call for the
// same id is swallowed meanwhile. The next run must not wait for that: it takes new ids.

import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/cli/app.js';
import type { QueueName } from '../../src/core/queuePort.js';
import { beginRun } from '../../src/night/begin.js';
import { runDate } from '../../src/night/run.js';
import { pull } from '../../src/pull/pull.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';
import { forgetRunner, prepareRun } from './preparedRun.js';

/** Far longer than a test may take. */
const LOCK_MS = 600_000;

const houses: House[] = [];

afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

async function houseWithCaptures(): Promise<House> {
  const inLedger = kinds({ capture_due: 2 }, 'A1001');
  const house = await buildHouse({ orders: 900, inLedger });
  houses.push(house);
  return house;
}

/** Takes one job of a queue and is never heard of again; `enqueue` must bring it one. */
async function workerThatDies(
  app: App,
  queue: QueueName,
  enqueue: () => Promise<void>,
): Promise<void> {
  const { inside } = await app.queues();
  let took = (): void => {};
  const taken = new Promise<void>((resolve) => {
    took = resolve;
  });
  const hang = (): Promise<void> => {
    took();
    return new Promise(() => {});
  };
  const worker = inside.backend.worker(queue, hang, {
    concurrency: 1,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS,
    maxStalledCount: 1,
    drainDelay: 1,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  await worker.waitUntilReady();
  await enqueue();
  await taken;
  // By force: the job stays taken, and nobody renews its lock.
  await (worker as { close(force?: boolean): Promise<void> }).close(true);
}

describe('a job of a worker that died', () => {
  it('does not hold up the snapshot that goes on where it was cut short', async () => {
    const house = await houseWithCaptures();
    const app = await house.open();
    let isDead = false;
    const living = await app.sendDeps();
    const deps = {
      ...living,
      sleep: (ms: number) => (isDead ? Promise.reject(new Error('died')) : living.sleep(ms)),
    };
    const beginning = await beginRun(deps, { date: null, accountIds: [], isDry: false });
    if (beginning.kind !== 'mine') throw new Error('the run is not ours');
    let cutShort: Promise<unknown> = Promise.resolve();
    await workerThatDies(app, 'pull', async () => {
      cutShort = pull(deps, beginning.run).catch((error: unknown) => error);
    });
    isDead = true;
    expect(await cutShort).toMatchObject({ message: 'died' });
    await forgetRunner(house);
    const { kind, summary } = await house.run();
    expect(kind).toBe('resumed');
    expect(house.lines.join('\n')).toContain('goes on with the snapshot');
    expect(summary.state).toBe('tied_out');
    expect((await house.effects()).length).toBe(2);
  });

  it('does not hold up the batch that it was about to send', async () => {
    const house = await houseWithCaptures();
    const { deps, batchIds } = await prepareRun(house);
    const app = await house.open();
    await workerThatDies(app, 'capture', () =>
      deps.queuePort.enqueue('capture', batchIds.map(String)),
    );
    await forgetRunner(house);
    const { summary } = await runDate(
      await app.sendDeps(),
      { date: null, accountIds: [], isDry: false },
      await app.workforce(),
    );
    expect(summary.state).toBe('tied_out');
    expect((await house.effects()).length).toBe(2);
  });
});
