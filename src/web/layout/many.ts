// What stands on a page in full, and what is a table of it where there are many: one rule for the
// statement, for what one press signs and for the settlement.

import { andMore } from '../../core/text/amounts.js';
import type { Fields } from '../visitor/fields.js';

/** Accounts, or statements of them, that a page shows each in full; more are rows of a table. */
const IN_FULL_MAX = 20;
/** Rows of such a table on one page. */
const ROWS_A_PAGE = 100;
const PAGES_MAX = 10_000;
/** Names in a sentence; the table has all. */
const NAMED_MAX = 5;

export function areMany(rows: readonly unknown[]): boolean {
  return rows.length > IN_FULL_MAX;
}

interface PageOf<Row> {
  shown: readonly Row[];
  /** from 0 */
  at: number;
  pages: number;
}

/** The page that the address gives by this name; behind the last one it is the last. */
export function pageOf<Row>(
  rows: readonly Row[],
  query: Pick<Fields, 'whole'>,
  name: string,
): PageOf<Row> {
  const pages = Math.ceil(rows.length / ROWS_A_PAGE);
  const asked = (query.whole(name, PAGES_MAX) ?? 1) - 1;
  const at = Math.max(0, Math.min(asked, pages - 1));
  return { shown: rows.slice(at * ROWS_A_PAGE, (at + 1) * ROWS_A_PAGE), at, pages };
}

/** "S1, S2, S10 and 597 more" */
export function firstNamed(names: readonly string[]): string {
  return names.slice(0, NAMED_MAX).join(', ') + andMore(names.length - NAMED_MAX);
}

/** S2 before S10. */
export function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
