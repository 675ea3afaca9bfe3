// Turns at the gateway: never more there than may be, some who get ready meanwhile, and none of
// those while the gateway is slow.

import { describe, expect, test } from 'vitest';
import { openTurns, QUICK_MS } from '../../src/gateway/turns.js';

const LONG_MS = 60_000;
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches by their numbers: which get ready, which are at the gateway; each ends when told to. */
function openPlace(size: number) {
  let now = 0;
  const turns = openTurns(size, () => now);
  const ready: number[] = [];
  const there: number[] = [];
  const ends = new Map<number, () => void>();
  const send = (number: number, waitMs = LONG_MS): Promise<boolean> =>
    turns.prepare(async () => {
      ready.push(number);
      const turn = await turns.atGateway(waitMs, async (answered) => {
        there.push(number);
        await new Promise<void>((resolve) => ends.set(number, resolve));
        answered();
        return true;
      });
      return turn ?? false;
    });
  const end = async (number: number): Promise<void> => {
    ends.get(number)?.();
    await pause();
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { send, end, pass, ready, there };
}

describe('turns at the gateway', () => {
  test('let nobody get ready ahead before the first answer', async () => {
    const { send, end, ready, there } = openPlace(2);
    const all = [1, 2, 3].map((number) => send(number));
    await pause();
    expect([ready, there]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await end(1);
    expect(there).toEqual([1, 2, 3]);
    await end(2);
    await end(3);
    expect(await Promise.all(all)).toEqual([true, true, true]);
  });

  test('let half as many get ready as may be there, and hand a turn on in the order of waiting', async () => {
    const { send, end, ready, there } = openPlace(2);
    const first = send(0);
    await pause();
    await end(0);
    const all = [first, ...[1, 2, 3, 4, 5].map((number) => send(number))];
    await pause();
    expect(ready).toEqual([0, 1, 2, 3]);
    expect(there).toEqual([0, 1, 2]);
    await end(2);
    expect(ready).toEqual([0, 1, 2, 3, 4]);
    expect(there).toEqual([0, 1, 2, 3]);
    for (const number of [1, 3, 4, 5]) await end(number);
    expect(there).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await Promise.all(all)).toEqual(Array(6).fill(true));
  });

  test.each(['while it keeps silent', 'after a late answer'])(
    'let nobody get ready ahead of a slow gateway, %s',
    async (when) => {
      const { send, end, pass, ready } = openPlace(1);
      const all = [send(0)];
      await pause();
      if (when === 'after a late answer') pass(QUICK_MS + 1);
      await end(0);
      all.push(send(1));
      await pause();
      if (when === 'while it keeps silent') pass(QUICK_MS + 1);
      all.push(send(2));
      await pause();
      expect(ready).toEqual([0, 1]);
      await end(1);
      await end(2);
      await Promise.all(all);
      expect(ready).toEqual([0, 1, 2]);
    },
  );

  test('are given up by whoever waited too long, and go to the next', async () => {
    const { send, end, there } = openPlace(2);
    const first = send(0);
    await pause();
    await end(0);
    const held = [send(1), send(2)];
    const late = send(3, 5);
    expect(await late).toBe(false);
    const last = send(4);
    await pause();
    await end(1);
    expect(there).toEqual([0, 1, 2, 4]);
    await end(2);
    await end(4);
    await Promise.all([first, ...held, last]);
  });

  test('are free again after work that failed', async () => {
    const turns = openTurns(1, () => 0);
    const failing = () => Promise.reject(new Error('no'));
    await expect(turns.prepare(() => turns.atGateway(1, failing))).rejects.toThrow('no');
    expect(await turns.prepare(() => turns.atGateway(1, async () => 'yes'))).toBe('yes');
  });
});
