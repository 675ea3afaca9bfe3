// How old a break is: in days from the date on which a night first saw it, by the calendar of the
// schedule's zone, and in the few ages that commands, console and workbook count. The database is
// given them as the instants between which a break of that age was first seen, so that no statement
// counts days by itself. Pure.

import { DAY_MS, dateIn, startOfDay } from '../time.js';

export interface BreakAge {
  /** as commands and addresses name it */
  name: string;
  words: string;
  /** in days, both included; the last one has no end */
  from: number;
  to: number | null;
}

export const AGES: readonly BreakAge[] = [
  { name: '0-1', words: 'up to 1 day', from: 0, to: 1 },
  { name: '2-7', words: '2 to 7 days', from: 2, to: 7 },
  { name: '8-30', words: '8 to 30 days', from: 8, to: 30 },
  { name: '31-90', words: '31 to 90 days', from: 31, to: 90 },
  { name: '91+', words: 'over 90 days', from: 91, to: null },
];

/** When one asks, and the calendar by which days are counted. */
export interface AgeClock {
  at: Date;
  timezone: string;
}

/** None for a break that a faster clock saw first. */
export function ageInDays(firstSeen: Date, { at, timezone }: AgeClock): number {
  return daysBetween(dateIn(timezone, firstSeen), dateIn(timezone, at));
}

/** From one date to another, 2026-11-19; none where it is not later. */
export function daysBetween(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY_MS);
}

export function isOfAge(days: number, { from, to }: DayRange): boolean {
  return days >= from && (to === null || days <= to);
}

type DayRange = Pick<BreakAge, 'from' | 'to'>;

/** Between which instants a break was first seen that is of this age; null: no such end. */
interface SeenRange {
  seenFrom: Date | null;
  seenBefore: Date | null;
}

export function seenRange({ from, to }: DayRange, { at, timezone }: AgeClock): SeenRange {
  const today = Date.parse(dateIn(timezone, at));
  const start = (daysAgo: number) =>
    startOfDay(new Date(today - daysAgo * DAY_MS).toISOString().slice(0, 10), timezone);
  return {
    seenFrom: to === null ? null : start(to),
    seenBefore: from === 0 ? null : start(from - 1),
  };
}

/** All ages with their instants, to be joined by a statement. */
export function seenRanges(clock: AgeClock): readonly (SeenRange & { name: string })[] {
  return AGES.map((age) => ({ name: age.name, ...seenRange(age, clock) }));
}
