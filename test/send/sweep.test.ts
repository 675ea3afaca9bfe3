// What workers do now and then goes on one at a time, also while the queue is away and each sweep
// takes longer than the next tick; and to stop waits for that one alone.

import { afterEach, expect, it, vi } from 'vitest';
import { startSweeping } from '../../src/send/sweep.js';
import { approveHeld } from '../support/approveHeld.js';
import { latch } from '../support/latch.js';
import { buildHouse, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

it('has no sweeps waiting behind one that the queue holds up', async () => {
  const settings = { operations: { capture: 'approve' } };
  const inLedger = kinds({ capture_due: 2 }, 'A1001');
  const house = await buildHouse({ orders: 900, inLedger, settings });
  cleanups.push(() => house.end());
  await house.run();
  // Their batch waits to be enqueued by whoever works.
  expect(await approveHeld(house)).toHaveLength(2);
  const app = await house.open();
  const deps = await app.sendDeps();
  const [begun, away] = [latch(), latch()];
  let asked = 0;
  const enqueue = async (): Promise<void> => {
    asked += 1;
    begun.open();
    await away.promise;
    throw new Error('no answer within 15 s');
  };
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const stop = startSweeping({ ...deps, log, queuePort: { enqueue } }, async () => {});
  vi.advanceTimersByTime(10_000);
  await begun.promise;
  vi.advanceTimersByTime(60_000);
  away.open();
  await stop();
  expect(asked).toBe(1);
  expect(lines).toEqual(['sweep: no answer within 15 s']);
});
