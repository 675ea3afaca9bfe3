// How long a queue that went away is waited for, by a clock that is moved; rows that others do
// meanwhile count.

import { expect, it } from 'vitest';
import { DatabaseAwayError, UnreachableError } from '../../src/core/errors.js';
import { QUEUE_MINUTES_MAX, waitForRows } from '../../src/runs/waitForRows.js';

const AWAY = new UnreachableError('redis at queue:6379: no answer within 15 s');
const SWEEP_MS = 3_000;

function stand(enqueue: (now: number) => void, openUntil = Number.POSITIVE_INFINITY) {
  let now = 0;
  const said: string[] = [];
  const deps = {
    jobs: { nap: async () => {}, during: <T>(work: () => Promise<T>) => work() },
    log: (words: string) => said.push(words),
    monotonic: () => now,
    progress: () => {},
    sleep: async () => {
      now += SWEEP_MS / 2;
    },
  } as unknown as Parameters<typeof waitForRows>[0];
  const done = waitForRows(deps, {
    step: 'send',
    open: async () => (now < openUntil ? 1 : 0),
    enqueue: async () => enqueue(now),
  });
  return { done, said, minutes: () => now / 60_000 };
}

it('gives up a queue that stays away, and says what to do', async () => {
  const { done, said, minutes } = stand(() => {
    throw AWAY;
  });
  await expect(done).rejects.toThrow(/it was waited for, 3 minutes\. Start it; the same command/);
  expect(minutes()).toBeGreaterThan(QUEUE_MINUTES_MAX);
  expect(minutes()).toBeLessThan(QUEUE_MINUTES_MAX + 1);
  expect(said).toEqual([`${AWAY.message}; it is waited for, ${QUEUE_MINUTES_MAX} minutes at most`]);
});

it('counts each outage by itself', async () => {
  const { done, said } = stand((now) => {
    if (Math.floor(now / 120_000) % 2 === 0) throw AWAY;
  }, 900_000);
  expect(await done).toBe(true);
  expect(said.filter((words) => words.startsWith('the queue answers'))).toHaveLength(4);
});

it('ends when others have done what waited, and leaves a database that is away to the run', async () => {
  const away = () => {
    throw AWAY;
  };
  expect(await stand(away, 60_000).done).toBe(true);
  const gone = stand(() => {
    throw new DatabaseAwayError('the connection was lost');
  });
  await expect(gone.done).rejects.toThrow(DatabaseAwayError);
});
