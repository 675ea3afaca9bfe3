// How far the heap may grow before it is collected: by the same amount for every night, and by a
// share of what is in use where that is very little or very much.

import { expect, test } from 'vitest';
import { growthPercent } from '../../src/cli/heapLimit.js';

const MB = 1024 * 1024;

test.each([
  ['a program that is being loaded', 8, 80],
  ['the pull of a night', 32, 50],
  ['its workbooks', 40, 40],
  ['a process that holds very much', 1_000, 30],
])('of %s, %i MB in use: by %i percent', (_what, inUse, percent) => {
  expect(growthPercent(inUse * MB)).toBe(percent);
});
