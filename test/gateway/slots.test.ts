// Slots: never more at once than there are, and of those who wait the lowest rank first.

import { describe, expect, test } from 'vitest';
import { openSlots } from '../../src/gateway/transport/slots.js';

/** Work that ends when it is told to. */
function held(): { work: () => Promise<void>; end: () => void; begun: () => boolean } {
  let end = (): void => {};
  let isBegun = false;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    work: () => {
      isBegun = true;
      return done;
    },
    end: () => end(),
    begun: () => isBegun,
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  test('let so many through at once and no more', async () => {
    const slots = openSlots(2);
    const works = [held(), held(), held()];
    const ends = works.map(({ work }) => slots(work));
    await turn();
    expect(works.map((one) => one.begun())).toEqual([true, true, false]);
    works[0]?.end();
    await turn();
    expect(works[2]?.begun()).toBe(true);
    for (const one of works) one.end();
    await Promise.all(ends);
  });

  test('hand a free one to the lowest rank, and among equals to the one that waits longest', async () => {
    const slots = openSlots(1);
    const order: string[] = [];
    const first = held();
    const all = [slots(first.work)];
    for (const [name, rank] of [
      ['late', 7n],
      ['early', 3n],
      ['early too', 3n],
      ['earliest', 1n],
    ] as const) {
      all.push(slots(async () => void order.push(name), rank));
    }
    first.end();
    await Promise.all(all);
    expect(order).toEqual(['earliest', 'early', 'early too', 'late']);
  });

  test('are free again after work that failed', async () => {
    const slots = openSlots(1);
    await expect(slots(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots(async () => 'yes')).toBe('yes');
  });
});
