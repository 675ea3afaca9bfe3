// Why a time of other people's files is refused: what to type, or by which shape it was read.

import { expect, it } from 'vitest';
import { instantOf, timeRefusal } from '../../src/core/mapping/mappedTimes.js';

it.each([
  [
    null,
    '2026-11-25 08:00:00',
    'names no zone: with times: "yyyy-MM-dd HH:mm:ss" in the map it is a time in Europe/Berlin',
  ],
  [
    null,
    '2026-11-25T08:00',
    `names no zone: with times: "yyyy-MM-dd'T'HH:mm" in the map it is a time in Europe/Berlin`,
  ],
  [
    ['MM/dd/yyyy', 'dd/MM/yyyy'],
    '26/11/2026',
    'is no time in Europe/Berlin by the shape MM/dd/yyyy, the first one that fits',
  ],
  [
    ['MM/dd/yyyy', 'dd/MM/yyyy'],
    '26.11.2026',
    'is no time of the shape MM/dd/yyyy or dd/MM/yyyy in Europe/Berlin',
  ],
])('of times %s says of %s what to type, or which shape it is read by', (times, text, reason) => {
  const map = { timezone: 'Europe/Berlin', times };
  expect(instantOf(map, text)).toBe(null);
  expect(timeRefusal(map, text)).toBe(reason);
});
