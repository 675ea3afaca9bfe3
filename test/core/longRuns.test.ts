// A foreign text of many equal signs costs no more than its length: a pattern that begins anew at
// each of them would stop the whole process for as long as the sender likes.

import { expect, test } from 'vitest';
import { sumOf } from '../../src/core/mapping/mappedAmounts.js';

test('an amount of zeros with a one behind them', () => {
  const tiny = `0.${'0'.repeat(60_000)}1`;
  const began = performance.now();
  expect(sumOf([tiny])).toBe(tiny);
  expect(performance.now() - began).toBeLessThan(1_500);
  expect(sumOf(['1.2', '0.300', '-0.10500'])).toBe('1.395');
});
