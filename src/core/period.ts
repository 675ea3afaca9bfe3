// A day or a month of business dates, as a report is asked for. Pure; the dates are those that runs
// bear, so that no zone is needed here.

import { UsageError } from './errors.js';

export interface Period {
  /** 2026-11-20 or 2026-11 */
  name: string;
  from: string;
  to: string;
}

/** Throws a UsageError for a text that is no business date. */
export function checkDay(text: string): void {
  if (!isDay(text)) throw new UsageError(`${text}: not a date of the form YYYY-MM-DD`);
}

export function isDay(text: string): boolean {
  const period = periodOf(text);
  return period !== null && period.from === period.name;
}

/** The business dates that a text names; null when it names neither a day nor a month. */
export function periodOf(text: string): Period | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  const first = `${year}-${month}-${day ?? '01'}`;
  const date = new Date(`${first}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== first) return null;
  if (day !== undefined) return { name: text, from: first, to: first };
  const last = new Date(Date.UTC(Number(year), Number(month), 0));
  return { name: text, from: first, to: last.toISOString().slice(0, 10) };
}
