// Who goes ahead for an account, and who follows: nobody waits for one that is not on its way from
// this process, or that takes too long.

import { describe, expect, it } from 'vitest';
import { openCanaries } from '../../src/night/canaries.js';

const FOREVER_MS = 600_000;

const nothing = async (): Promise<void> => {};

describe('the canary of an account', () => {
  it('is one at a time, and its end is told to those that follow', async () => {
    const canaries = openCanaries(FOREVER_MS);
    expect(canaries.goAhead('A', 1n)).toBe(true);
    expect(canaries.goAhead('A', 2n)).toBe(false);
    expect(canaries.goAhead('B', 3n)).toBe(true);
    const following = [canaries.follow('A', nothing), canaries.follow('A', nothing)];
    canaries.ended('A', 1n);
    expect(await Promise.all(following)).toEqual([true, true]);
    expect(canaries.goAhead('B', 4n)).toBe(false);
    expect(canaries.goAhead('A', 2n)).toBe(true);
  });

  it('leaves two of those that follow something to do, as long as it is away', async () => {
    const canaries = openCanaries(FOREVER_MS);
    canaries.goAhead('A', 1n);
    let begun = 0;
    const ends: (() => void)[] = [];
    const useful = async (): Promise<void> => {
      begun += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    const following = [1, 2, 3].map(() => canaries.follow('A', useful));
    expect(begun).toBe(2);
    canaries.ended('A', 1n);
    for (const end of ends) end();
    expect(await Promise.all(following)).toEqual([true, true, true]);
    expect(begun).toBe(2);
  });

  it('whose end is told twice ends no other one', async () => {
    const canaries = openCanaries(FOREVER_MS);
    canaries.goAhead('A', 1n);
    canaries.ended('A', 1n);
    canaries.goAhead('A', 2n);
    canaries.ended('A', 1n);
    expect(canaries.goAhead('A', 3n)).toBe(false);
  });

  it('is not waited for where none is away, nor too long', async () => {
    const canaries = openCanaries(1);
    expect(await canaries.follow('A', nothing)).toBe(false);
    canaries.goAhead('A', 1n);
    expect(await canaries.follow('A', nothing)).toBe(false);
  });
});
