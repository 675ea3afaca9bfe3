// By when somebody has to act on a break: so many working days after the date on which a night
// first saw it, in the schedule's zone. Derived, so that nothing is stored that could disagree with
// the break. Pure.

import { workingDaysAfter, workingDaysBefore } from '../settlement/workingDays.js';
import { DAY_MS, dateIn, startOfDay } from '../time.js';

export interface DueRule {
  /** working days: Monday to Friday less holidays; 0: the day on which it was first seen */
  readonly days: number;
  readonly timezone: string;
  /** business dates on which nobody works */
  readonly holidays: readonly string[];
}

/** The last date on which it is in time, 2026-11-30. */
export function dueDate(firstSeen: Date, { days, timezone, holidays }: DueRule): string {
  return workingDaysAfter(dateIn(timezone, firstSeen), days, holidays);
}

/** A break that was first seen before this instant is overdue at `now`. */
export function overdueBefore(now: Date, { days, timezone, holidays }: DueRule): Date {
  const yesterday = dayAfter(dateIn(timezone, now), -1);
  const last = workingDaysBefore(yesterday, days, holidays);
  return startOfDay(dayAfter(last, 1), timezone);
}

export function isOverdue(firstSeen: Date, now: Date, rule: DueRule): boolean {
  return firstSeen < overdueBefore(now, rule);
}

function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}
