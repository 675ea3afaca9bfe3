// What an item of the statement counts and comes to, live over its listed lines: of its account and
// currency, by the words that stand in the first cell of its row. One home for both halves of a
// page: statementSheet.ts over the sheet Statement lines, statementBooks.ts over Not settled.

import type { Statement } from '../../src/core/runs/statement.js';
import type { Table } from '../column.js';
import { freeText, idText } from '../xlsx/cells.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { formula, moneyFormula } from '../xlsx/page.js';
import type { Matching, Part } from '../xlsx/totals.js';
import { matchingCount, matchingSum } from '../xlsx/totals.js';

interface Listed<R> {
  readonly table: Table<R>;
  readonly parts: readonly Part[];
  readonly matching: Matching;
}

interface Item {
  readonly lines: number;
  readonly captured: bigint;
  readonly refunded: bigint;
}

/** Number, captured, refunded: the cells beside the words of an item in `row`. */
export function listedSums<R>(
  { table, parts, matching }: Listed<R>,
  { accountId, currency }: Statement,
  { item, row }: { item: Item; row: number },
  { amounts, style }: { amounts: readonly string[]; style: Cell['style'] },
): Cell[] {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const keys = {
    account_id: quoted(idText(accountId)),
    currency: quoted(freeText(currency)),
    item: `$A${row}`,
  };
  const sum = (column: 'captured' | 'refunded'): Cell =>
    moneyFormula(matchingSum(table, parts, column, keys, matching), item[column], amounts, style);
  return [
    formula(matchingCount(table, parts, keys, matching), item.lines),
    sum('captured'),
    sum('refunded'),
  ];
}
