// Working days: Monday to Friday less holidays. A business date is a date already, so that no
// timezone is asked here. Pure.

import { DAY_MS } from '../time.js';

const [SUNDAY, SATURDAY] = [0, 6] as const;

/** A date of the calendar as it is written in files: 2026-02-30 is none. */
export function isCalendarDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && dateOf(Date.parse(text)) === text;
}

/** The date on which so many working days after `date` are over; 0: `date` itself. */
export function workingDaysAfter(date: string, days: number, holidays: readonly string[]): string {
  let at = Date.parse(date);
  for (let left = days; left > 0; ) {
    at += DAY_MS;
    if (isWorkingDay(at, holidays)) left -= 1;
  }
  return dateOf(at);
}

/** The last date of which so many working days were over at the end of `date`. */
export function workingDaysBefore(date: string, days: number, holidays: readonly string[]): string {
  // The one after it would still have been waited for.
  let at = Date.parse(date);
  while (workingDaysAfter(dateOf(at), days, holidays) > date) at -= DAY_MS;
  return dateOf(at);
}

function isWorkingDay(at: number, holidays: readonly string[]): boolean {
  const weekday = new Date(at).getUTCDay();
  return weekday !== SUNDAY && weekday !== SATURDAY && !holidays.includes(dateOf(at));
}

function dateOf(at: number): string {
  return Number.isNaN(at) ? '' : new Date(at).toISOString().slice(0, 10);
}
