// Which business days stand on one page: whole ones, the newest first, and where the next page
// begins; and amounts there with the decimals of their currency.

import { expect, it } from 'vitest';
import { wordsFor } from '../../src/web/format.js';
import { newestDays } from '../../src/web/pages/days/days.js';

const rowsOf = (...dates: string[]) => dates.map((date, at) => ({ businessDate: date, at }));
const [OLD, MIDDLE, NEW] = ['2026-11-17', '2026-11-18', '2026-11-19'];

it.each([
  ['all of them where there is room', 9, rowsOf(OLD, NEW, MIDDLE), [NEW, MIDDLE, OLD], null],
  ['whole days only', 3, rowsOf(OLD, MIDDLE, MIDDLE, NEW, NEW), [NEW, NEW], MIDDLE],
  [
    'as many as fit exactly',
    4,
    rowsOf(OLD, MIDDLE, MIDDLE, NEW, NEW),
    [NEW, NEW, MIDDLE, MIDDLE],
    OLD,
  ],
  ['one day at least', 1, rowsOf(MIDDLE, NEW, NEW), [NEW, NEW], MIDDLE],
  ['none where there is none', 1, [], [], null],
])('shows %s', (_what, rows, found, shown, next) => {
  const page = newestDays(found, rows);
  expect(page.days.map(({ businessDate }) => businessDate)).toEqual(shown);
  expect(page.next).toBe(next);
  const ofNewest = page.days.filter(({ businessDate }) => businessDate === NEW);
  expect(ofNewest).toEqual(ofNewest.toSorted((a, b) => a.at - b.at));
});

it.each([
  ['23400.00', 'JPY', '23,400'],
  ['23400.00', 'EUR', '23,400.00'],
  ['1234.50', null, '1,234.50'],
])('%s in %s is %s', (amount, currency, shown) => {
  expect(wordsFor('UTC').amount(amount, currency)).toBe(shown);
});
