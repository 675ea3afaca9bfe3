// Working days, case by case. 2026-11-20 is a Friday.

import { describe, expect, it } from 'vitest';
import { isCalendarDate, workingDaysBefore } from '../../../src/core/settlement/workingDays.js';

/** Counted the other way, day by day: what the program's answer is held against. */
function workingDaysAfter(date: string, days: number, holidays: readonly string[]): string {
  const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  let at = Date.parse(date);
  for (let left = days; left > 0; ) {
    at += 86_400_000;
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    if (!isWeekend && !holidays.includes(dateOf(at))) left -= 1;
  }
  return dateOf(at);
}

const CHRISTMAS = ['2026-12-25', '2026-12-26', '2027-01-01'];

describe('working days', () => {
  it.each([
    // date, days, holidays, the date on which they are over
    ['2026-11-16', 0, [], '2026-11-16'],
    ['2026-11-16', 1, [], '2026-11-17'],
    ['2026-11-16', 5, [], '2026-11-23'],
    ['2026-11-20', 1, [], '2026-11-23'],
    ['2026-11-21', 1, [], '2026-11-23'],
    ['2026-11-22', 1, [], '2026-11-23'],
    ['2026-11-20', 5, [], '2026-11-27'],
    ['2026-11-20', 1, ['2026-11-23'], '2026-11-24'],
    ['2026-11-20', 1, ['2026-11-21'], '2026-11-23'],
    ['2026-12-23', 3, CHRISTMAS, '2026-12-29'],
    ['2026-12-30', 2, CHRISTMAS, '2027-01-04'],
    ['2026-12-24', 1, CHRISTMAS, '2026-12-28'],
    // clocks change on 2026-03-29 and 2026-10-25: dates do not
    ['2026-03-27', 2, [], '2026-03-31'],
    ['2026-10-23', 1, [], '2026-10-26'],
    ['2028-02-28', 1, [], '2028-02-29'],
    ['2026-11-16', 20, [], '2026-12-14'],
  ])('%s and %i working days', (date, days, holidays, over) => {
    expect(workingDaysAfter(date, days, holidays)).toBe(over);
    const last = workingDaysBefore(over, days, holidays);
    expect(last >= date).toBe(true);
    expect(workingDaysAfter(last, days, holidays)).toBe(over);
  });

  it.each([
    // date, days, holidays, the last date of which they are over
    ['2026-11-23', 0, [], '2026-11-23'],
    ['2026-11-23', 1, [], '2026-11-22'],
    ['2026-11-22', 1, [], '2026-11-19'],
    ['2026-11-20', 1, [], '2026-11-19'],
    ['2026-11-23', 5, [], '2026-11-16'],
    ['2026-12-29', 3, CHRISTMAS, '2026-12-23'],
  ])('at %s the last date of which %i working days are over', (date, days, holidays, last) => {
    expect(workingDaysBefore(date, days, holidays)).toBe(last);
    expect(workingDaysAfter(last, days, holidays) <= date).toBe(true);
  });

  it('a year of them is counted for a hundred dates in less than two seconds', () => {
    const began = performance.now();
    const holidays = ['2026-01-01', ...CHRISTMAS];
    const first = Date.parse('2026-03-02');
    const dates = Array.from({ length: 100 }, (_, at) => {
      return new Date(first + at * 86_400_000).toISOString().slice(0, 10);
    });
    const found = dates.map((date) => workingDaysBefore(date, 365, holidays));
    expect(performance.now() - began).toBeLessThan(2_000);
    for (const [at, last] of found.slice(0, 50).entries()) {
      const next = new Date(Date.parse(last) + 86_400_000).toISOString().slice(0, 10);
      expect(workingDaysAfter(last, 365, holidays) <= (dates[at] ?? '')).toBe(true);
      expect(workingDaysAfter(next, 365, holidays) > (dates[at] ?? '')).toBe(true);
    }
  });

  it.each([
    ['2026-11-01', true],
    ['2028-02-29', true],
    ['2026-02-29', false],
    ['2026-11-31', false],
    ['2026-11-1', false],
    ['01.11.2026', false],
    ['', false],
  ])('%s is a date: %s', (text, isDate) => {
    expect(isCalendarDate(text)).toBe(isDate);
  });
});
