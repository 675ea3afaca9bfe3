// A table of very many accounts on pages: one rule for the night, the statement, business days,
// chains of digests and the settlement. Neighbour: core/accounts/alike.ts says what is many.

import type { Fields } from '../visitor/fields.js';

/** Rows of such a table on one page. */
export const ROWS_A_PAGE = 100;
const PAGES_MAX = 10_000;

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
