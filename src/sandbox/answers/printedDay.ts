// A calendar day as the eight digits that order numbers and dates of the wire begin with. Worked
// out once a day and remembered, because a large night prints the same thirty days millions of
// times. Pure to its callers.

import { DAY_MS } from '../../core/time.js';

const REMEMBERED_MAX = 1_000;

const remembered = new Map<number, string>();

/** `YYYYMMDD` of a day counted from the epoch in UTC. */
export function printedDay(day: number): string {
  const known = remembered.get(day);
  if (known !== undefined) return known;
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  const digits = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  remembered.set(day, digits);
  return digits;
}
