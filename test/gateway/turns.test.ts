// Turns at the gateway: never more there than may be, some who get ready meanwhile, and none of
// those while the gateway is slow.

import { describe, expect, test } from 'vitest';
import type { Told } from '../../src/gateway/transport/turns.js';
import { FRESH_MS, openTurns, QUICK_MS } from '../../src/gateway/transport/turns.js';

const LONG_MS = 60_000;
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches by their numbers: which get ready, which are at the gateway; each ends when told to. */
function openPlace(size: number) {
  let now = 0;
  const turns = openTurns(size, () => now);
  const ready: number[] = [];
  const there: number[] = [];
  /** each question, by whose it is, and what the last answer to each was used as */
  const asked: number[] = [];
  const went = new Map<number, number>();
  const answers = new Map<number, () => void>();
  const ends = new Map<number, (isClear: boolean) => void>();
  const visit = async (number: number, place: number, told: Told): Promise<boolean> => {
    there.push(number);
    went.set(number, place);
    await new Promise<void>((resolve) => answers.set(number, resolve));
    told.answered();
    if (await new Promise<boolean>((resolve) => ends.set(number, resolve))) told.isClear();
    return true;
  };
  const send = (number: number, waitMs = LONG_MS): Promise<boolean> =>
    turns.prepare(async () => {
      ready.push(number);
      const ask = async (): Promise<number> => asked.push(number) - 1;
      const work = (place: number, told: Told) => visit(number, place, told);
      return (await turns.atGateway(waitMs, ask, work)) ?? false;
    });
  const answer = async (number: number): Promise<void> => {
    answers.get(number)?.();
    await pause();
  };
  const end = async (number: number, isClear = true): Promise<void> => {
    await answer(number);
    ends.get(number)?.(isClear);
    await pause();
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { send, answer, end, pass, ready, there, asked, went };
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

  test('let three get ready where four may be there, and hand a turn on in the order of waiting', async () => {
    const { send, end, ready, there } = openPlace(4);
    const first = send(0);
    await pause();
    await end(0);
    const all = [first, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => send(number))];
    await pause();
    expect(ready).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(there).toEqual([0, 1, 2, 3, 4]);
    await end(2);
    expect(ready).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(there).toEqual([0, 1, 2, 3, 4, 5]);
    for (const number of [1, 3, 4, 5, 6, 7, 8, 9]) await end(number);
    expect(there).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await Promise.all(all)).toEqual(Array(10).fill(true));
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
    const ask = async () => 'asked';
    const failing = () => Promise.reject(new Error('no'));
    await expect(turns.prepare(() => turns.atGateway(1, ask, failing))).rejects.toThrow('no');
    const answering = async () => 'yes';
    expect(await turns.prepare(() => turns.atGateway(1, ask, answering))).toBe('yes');
  });

  /** One is there, one has its turn next; a third, where there is one, after it. */
  async function openLine(size = 1) {
    const place = openPlace(size);
    const all = [place.send(0)];
    await pause();
    await place.end(0);
    for (let number = 1; number <= size + 1; number += 1) {
      all.push(place.send(number));
      await pause();
    }
    return { ...place, all };
  }

  test('are asked for while the answer of whoever leaves is taken in', async () => {
    const { all, answer, end, asked, went, there } = await openLine();
    expect(asked).toEqual([0, 1]);
    await answer(1);
    expect([asked, there]).toEqual([
      [0, 1, 2],
      [0, 1],
    ]);
    await end(1);
    expect([asked, there, went.get(2)]).toEqual([[0, 1, 2], [0, 1, 2], 2]);
    await end(2);
    await Promise.all(all);
  });

  test.each(['left trouble', 'took long'])('are asked for anew where it %s', async (what) => {
    const { all, answer, end, pass, asked, went } = await openLine();
    await answer(1);
    if (what === 'took long') pass(FRESH_MS + 1);
    await end(1, what !== 'left trouble');
    expect([asked, went.get(2)]).toEqual([[0, 1, 2, 2], 3]);
    await end(2);
    await Promise.all(all);
  });

  test('are asked for anew where somebody else left trouble', async () => {
    const { all, answer, end, asked, went } = await openLine(2);
    await answer(2);
    expect(asked).toEqual([0, 1, 2, 3]);
    const ofTwo = end(1, false);
    await ofTwo;
    expect([asked, went.get(3)]).toEqual([[0, 1, 2, 3, 3], 4]);
    await end(2);
    await end(3);
    await Promise.all(all);
  });

  test('are asked for by as many as will leave, and by whoever joins the line then', async () => {
    const { all, send, answer, end, asked } = await openLine();
    await end(1);
    await answer(2);
    expect(asked).toEqual([0, 1, 2]);
    all.push(send(3));
    await pause();
    expect(asked).toEqual([0, 1, 2, 3]);
    await end(2);
    await end(3);
    await Promise.all(all);
    expect(asked).toEqual([0, 1, 2, 3]);
  });
});
