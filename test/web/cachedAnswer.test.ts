// An answer that many ask for is worked out once; one that failed or did not come is not kept.

import { expect, test } from 'vitest';
import { cached } from '../../src/web/cachedAnswer.js';

const LONG = { cacheMs: 3_600_000, timeoutMs: 3_600_000 };

test('is worked out once for all who ask, then kept', async () => {
  let asked = 0;
  const ask = cached(async () => {
    asked += 1;
    return asked;
  }, LONG);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(1);
});

test('is worked out anew when it is old', async () => {
  let asked = 0;
  const ask = cached(
    async () => {
      asked += 1;
      return asked;
    },
    { ...LONG, cacheMs: 0 },
  );
  expect([await ask(), await ask()]).toEqual([1, 2]);
});

test('is asked for again after a failure', async () => {
  let asked = 0;
  const ask = cached(async () => {
    asked += 1;
    if (asked === 1) throw new Error('away');
    return asked;
  }, LONG);
  await expect(ask()).rejects.toThrow('away');
  expect(await ask()).toBe(2);
});

test('is not waited for when none comes', async () => {
  const never = new Promise<never>(() => {});
  const ask = cached(() => never, { cacheMs: 0, timeoutMs: 20 });
  await expect(ask()).rejects.toThrow('no answer in 20 ms');
});
