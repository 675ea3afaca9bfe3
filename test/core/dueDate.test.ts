// By when a break is due: working days after the date on which a night first saw it, in the zone of
// the schedule; and which breaks are overdue, by the same rule read backwards.

import { expect, it } from 'vitest';
import type { DueRule } from '../../src/core/breaks/dueDate.js';
import { dueDate, isOverdue } from '../../src/core/breaks/dueDate.js';
import { dateIn, startOfDay } from '../../src/core/time.js';

const BERLIN = 'Europe/Berlin';
const rule = (days: number, holidays: string[] = [], timezone = BERLIN): DueRule => {
  return { days, timezone, holidays };
};

it.each([
  ['a Thursday and five working days', '2026-11-19T03:16:00Z', rule(5), '2026-11-26'],
  ['a Friday and one', '2026-11-20T03:16:00Z', rule(1), '2026-11-23'],
  ['a Saturday and one', '2026-11-21T03:16:00Z', rule(1), '2026-11-23'],
  ['a Saturday and none', '2026-11-21T03:16:00Z', rule(0), '2026-11-21'],
  ['holidays between', '2026-12-23T03:16:00Z', rule(2, ['2026-12-24', '2026-12-25']), '2026-12-29'],
  ['late in the evening, the next day in Berlin', '2026-11-19T23:30:00Z', rule(1), '2026-11-23'],
  [
    'the same instant in New York',
    '2026-11-19T23:30:00Z',
    rule(1, [], 'America/New_York'),
    '2026-11-20',
  ],
])('%s', (_what, firstSeen, wanted, due) => {
  expect(dueDate(new Date(firstSeen), wanted)).toBe(due);
});

it.each([
  rule(0),
  rule(1),
  rule(5, ['2026-10-26', '2026-03-30']),
  rule(3, [], 'America/New_York'),
  rule(3, [], 'Pacific/Auckland'),
])('is overdue exactly from the day after its due date: %j', (wanted) => {
  // Around both changes of the clocks, to the half hour.
  const found: string[] = [];
  for (const begin of ['2026-03-24T00:00:00Z', '2026-10-22T00:00:00Z']) {
    const first = new Date(begin);
    for (let half = 0; half < 48 * 12; half += 5) {
      const seen = new Date(first.getTime() + half * 1_800_000);
      for (let later = 0; later < 48 * 10; later += 7) {
        const now = new Date(seen.getTime() + later * 1_800_000);
        const isLate = dateIn(wanted.timezone, now) > dueDate(seen, wanted);
        if (isOverdue(seen, now, wanted) !== isLate) found.push(`${seen.toISOString()} ${later}`);
      }
    }
  }
  expect(found).toEqual([]);
});

// The clocks skip midnight, show it twice, or are changed later on the same day.
it.each([
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z'],
  [BERLIN, '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Pacific/Auckland', '2026-09-27', '2026-09-26T12:00:00.000Z'],
])('in %s the day %s begins with its first moment', (timezone, date, first) => {
  const begin = startOfDay(date, timezone);
  expect(begin.toISOString()).toBe(first);
  expect(dateIn(timezone, begin)).toBe(date);
  expect(dateIn(timezone, new Date(begin.getTime() - 1))).not.toBe(date);
});
