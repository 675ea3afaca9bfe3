// Heads of columns that put a long list in another order: each leads to the same address from its
// first page, by its column. Amounts stand largest first, and those of each currency together.

import type { Column } from './parts.js';

export type Direction = NonNullable<Column['sort']>['order'];

/** Makes the head of a column that can be sorted by; `to` is the address of that order. */
export function headsBy<S extends string>(
  sorted: S,
  directions: Readonly<Record<S, Direction>>,
  to: (by: S) => string,
): (head: string, by: S, isFigure?: boolean) => Column {
  return (head, by, isFigure = false) => ({
    head,
    isFigure,
    sort: { to: to(by), order: directions[by] },
    isSorted: sorted === by,
  });
}
