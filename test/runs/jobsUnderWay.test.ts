// Whoever naps wakes when the last job has ended, when told to stop, and else when the time is over.

import { describe, expect, test } from 'vitest';
import { countJobs } from '../../src/runs/jobsUnderWay.js';

/** Longer than any test may take: who sleeps it out is never seen again. */
const FOREVER_MS = 600_000;

describe('a nap', () => {
  test('ends with the last of the jobs under way, failed ones included', async () => {
    const jobs = countJobs(new AbortController().signal);
    let isAwake = false;
    const nap = jobs.nap(FOREVER_MS).then(() => {
      isAwake = true;
    });
    let endSecond = (): void => {};
    const second = jobs.during(
      () =>
        new Promise<void>((resolve) => {
          endSecond = resolve;
        }),
    );
    await expect(jobs.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAwake).toBe(false);
    endSecond();
    await Promise.all([second, nap]);
    expect(isAwake).toBe(true);
  });

  test('ends when the program is told to stop', async () => {
    const stop = new AbortController();
    const nap = countJobs(stop.signal).nap(FOREVER_MS);
    stop.abort();
    await expect(nap).resolves.toBeUndefined();
  });

  test('ends by itself', async () => {
    await expect(countJobs(new AbortController().signal).nap(1)).resolves.toBeUndefined();
  });
});
