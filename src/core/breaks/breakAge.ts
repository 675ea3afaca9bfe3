// How old a break is: in whole days since it was first seen, and in the few ages that commands,
// console and workbook count. The database is given them as the instants between which a break of
// that age was first seen, so that no statement counts days by itself. Pure.

import { DAY_MS } from '../time.js';

export interface BreakAge {
  /** as commands and addresses name it */
  name: string;
  words: string;
  /** in whole days, both included; the last one has no end */
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

/** Whole days; none for a break that a faster clock saw first. */
export function ageInDays(firstSeen: Date, at: Date): number {
  return Math.max(0, Math.floor((at.getTime() - firstSeen.getTime()) / DAY_MS));
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

/** The ends lie a millisecond later than whole days: a range of instants excludes its end. */
export function seenRange({ from, to }: DayRange, at: Date): SeenRange {
  const daysAgo = (days: number) => new Date(at.getTime() - days * DAY_MS + 1);
  return {
    seenFrom: to === null ? null : daysAgo(to + 1),
    seenBefore: from === 0 ? null : daysAgo(from),
  };
}

/** All ages with their instants, to be joined by a statement. */
export function seenRanges(at: Date): readonly (SeenRange & { name: string })[] {
  return AGES.map((age) => ({ name: age.name, ...seenRange(age, at) }));
}
