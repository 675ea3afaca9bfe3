// The one limit of a merchant, held by a row for whoever asks: never more than it allows, and no
// place taken from the others that is not used. Each limiter stands for a process.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { openRateLimit } from '../../src/send/batches/rateLimitStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { moveClock } from '../support/movedClock.js';

const PROCESSES = 4;

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

describe('the rate limit of a merchant', () => {
  test('does not stand still after a clock that was ahead for a while', async () => {
    const clock = await moveClock(fresh.db);
    const moved = openDatabase(fresh.connection);
    const [aSecond, uses] = [100, 12];
    const waits: number[] = [];
    const counting = async (ms: number): Promise<void> => {
      waits.push(ms);
      await wait(Math.min(ms, 1_000));
    };
    try {
      await clock.set(new Date(Date.now() + 86_400_000));
      const ahead = openRateLimit(moved, aSecond, counting);
      await Promise.all(Array.from({ length: uses }, () => ahead('M9')));
      await clock.set(new Date());
      const after = openRateLimit(moved, aSecond, counting);
      await Promise.all(Array.from({ length: uses }, () => after('M9')));
      // As many as waited then may still be before us; and the limit holds as before.
      expect(Math.max(...waits)).toBeLessThan((1_000 * 3 * uses) / aSecond);
      expect(waits.length).toBeGreaterThan(uses);
    } finally {
      await clock.set(new Date());
      await moved.close();
    }
  });

  test('is kept by all processes together', async () => {
    const [aSecond, uses] = [200, 20];
    const takers = Array.from({ length: PROCESSES }, () => openRateLimit(fresh.db, aSecond, wait));
    const began = performance.now();
    await Promise.all(
      takers.flatMap((takeToken) => Array.from({ length: uses }, () => takeToken('M1'))),
    );
    // What each may have begun at once lies in the same time.
    const least = (PROCESSES * uses * 1000) / aSecond - 100;
    expect(performance.now() - began).toBeGreaterThanOrEqual(least);
  });

  test('a slow process takes no places that it does not use', async () => {
    const [aSecond, uses] = [1_000, 15];
    const taken: number[] = [];
    const counting: Db = {
      ...fresh.db,
      query: (sql, values) => {
        taken.push(Math.round(Number(values?.[1]) * aSecond));
        return fresh.db.query(sql, values);
      },
    };
    await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
        const takeToken = openRateLimit(counting, aSecond, wait);
        for (let use = 0; use < uses; use += 1) {
          await takeToken('M2');
          await sleep(20);
        }
      }),
    );
    const all = taken.reduce((sum, count) => sum + count, 0);
    expect(all).toBeGreaterThanOrEqual(PROCESSES * uses);
    expect(all).toBeLessThanOrEqual(2 * PROCESSES * uses);
  });

  test('a fast process uses places while the next ones are taken', async () => {
    const uses = 400;
    let used = 0;
    let meanwhile = 0;
    let taken = 0;
    const watched: Db = {
      ...fresh.db,
      query: <R extends object>(sql: string, values?: readonly unknown[]) => {
        taken += Math.round(Number(values?.[1]) * 10_000);
        const before = used;
        return fresh.db.query<R>(sql, values).finally(() => {
          meanwhile += used - before;
        });
      },
    };
    const takeToken = openRateLimit(watched, 10_000, wait);
    for (; used < uses; used += 1) await takeToken('M3');
    expect(meanwhile).toBeGreaterThan(0);
    expect(taken).toBeGreaterThanOrEqual(uses);
    expect(taken).toBeLessThanOrEqual(2 * uses);
  });

  test('what could not be taken ahead is taken again by who needs it, or fails there', async () => {
    let fails = false;
    const breaking: Db = {
      ...fresh.db,
      query: async (sql, values) => {
        if (fails) throw new Error('the database went away');
        return fresh.db.query(sql, values);
      },
    };
    const takeToken = openRateLimit(breaking, 10_000, wait);
    await Promise.all(Array.from({ length: 8 }, () => takeToken('M4')));
    fails = true;
    const used: string[] = [];
    const use = (): Promise<void> => takeToken('M4').then(() => void used.push('place'));
    await expect(Promise.all(Array.from({ length: 50 }, use))).rejects.toThrow(/went away/);
    fails = false;
    await takeToken('M4');
    expect(used.length).toBeLessThan(50);
  });
});

async function wait(ms: number): Promise<void> {
  await sleep(ms);
}
