// Working days: Monday to Friday less holidays. A business date is a date already, so that no
// timezone is asked here. Pure.

import { DAY_MS } from '../time.js';

const [SUNDAY, SATURDAY] = [0, 6] as const;

/** A date of the calendar as it is written in files: 2026-02-30 is none. */
export function isCalendarDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && dateOf(Date.parse(text)) === text;
}

/**
 * The last date of which so many working days were over at the end of `date`: that many lie between
 * the two. Counted back once, since a year of them is asked of every account.
 */
export function workingDaysBefore(date: string, days: number, holidays: readonly string[]): string {
  const off = timesOf(holidays);
  let at = Date.parse(date);
  for (let left = days; left > 0; at -= DAY_MS) if (isWorkingDay(at, off)) left -= 1;
  return dateOf(at);
}

/** The first date at whose end so many working days are over since the end of `date`. */
export function workingDaysAfter(date: string, days: number, holidays: readonly string[]): string {
  const off = timesOf(holidays);
  let at = Date.parse(date);
  for (let left = days; left > 0; ) {
    at += DAY_MS;
    if (isWorkingDay(at, off)) left -= 1;
  }
  return dateOf(at);
}

function timesOf(dates: readonly string[]): ReadonlySet<number> {
  return new Set(dates.map((date) => Date.parse(date)));
}

function isWorkingDay(at: number, off: ReadonlySet<number>): boolean {
  const weekday = new Date(at).getUTCDay();
  return weekday !== SUNDAY && weekday !== SATURDAY && !off.has(at);
}

function dateOf(at: number): string {
  return Number.isNaN(at) ? '' : new Date(at).toISOString().slice(0, 10);
}
