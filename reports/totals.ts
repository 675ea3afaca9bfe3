// Totals that a reader can work out again: formulas over the rows of a table, each with the value
// that it has when the file is written. It must never sum across currencies, nor give a formula
// whose value a double cannot hold. Pure; neighbours: columns.ts (what the ranges are of),
// table.ts.

import { formatAmount } from '../src/core/money.js';
import { fitsNumber, freeText, hundredthsOf, moneyCell } from './cells.js';
import type { Table } from './columns.js';
import { columnNumber } from './columns.js';
import { STYLES } from './styles.js';
import type { Cell } from './workbook.js';
import { columnLetters, SHEET_ROWS_MAX } from './workbook.js';

/** The rows of a table in one sheet; `last` is above `first` when there are none. */
export interface Part {
  sheet: string;
  first: number;
  last: number;
}

/** Where the rows of a table will stand, for formulas that are written before them. */
export function plannedParts(
  name: string,
  count: number,
  topLines: number,
  limit?: number,
): Part[] {
  const first = topLines + 2;
  const perSheet = (limit ?? SHEET_ROWS_MAX) - first + 1;
  const sheets = Math.max(1, Math.ceil(count / perSheet));
  return Array.from({ length: sheets }, (_, index) => ({
    sheet: index === 0 ? name : `${name} (${index + 1})`,
    first,
    last: first - 1 + Math.min(perSheet, count - index * perSheet),
  }));
}

/** A whole column of a table as a reference, one for each sheet; never an empty range. */
export function columnRanges<R>(table: Table<R>, key: string, parts: readonly Part[]): string[] {
  const letters = columnLetters(columnNumber(table, key));
  return parts.map((part) => {
    const last = Math.max(part.first, part.last);
    return `'${part.sheet}'!$${letters}$${part.first}:$${letters}$${last}`;
  });
}

/** How keys are compared. `exact` takes any text; `words` is fast for rows by the million. */
export type Matching = 'exact' | 'words';

/** Sums the money of the rows whose keys equal those cells, over all sheets of the table. */
export function matchingSum<R>(
  table: Table<R>,
  parts: readonly Part[],
  money: string,
  keys: Readonly<Record<string, string>>,
  matching: Matching = 'exact',
): string {
  const sums = parts.map((part) => {
    const range = columnRanges(table, money, [part]).join();
    if (matching === 'words') return `SUMIFS(${[range, ...criteria(table, part, keys)].join(',')})`;
    return `SUMPRODUCT(${[...exactTests(table, part, keys), range].join(',')})`;
  });
  return `ROUND(${sums.join('+')},2)`;
}

/** Counts those rows. */
export function matchingCount<R>(
  table: Table<R>,
  parts: readonly Part[],
  keys: Readonly<Record<string, string>>,
  matching: Matching = 'exact',
): string {
  return parts
    .map((part) =>
      matching === 'words'
        ? `COUNTIFS(${criteria(table, part, keys).join(',')})`
        : `SUMPRODUCT(${exactTests(table, part, keys).join(',')})`,
    )
    .join('+');
}

/** Text as text: an account "0010" is not "10", "*" is no wildcard, "a1" is not "A1". */
function exactTests<R>(
  table: Table<R>,
  part: Part,
  keys: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(keys).map(
    ([key, cell]) => `--EXACT(${columnRanges(table, key, [part]).join()},${cell})`,
  );
}

function criteria<R>(
  table: Table<R>,
  part: Part,
  keys: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(keys).flatMap(([key, cell]) => [
    columnRanges(table, key, [part]).join(),
    cell,
  ]);
}

/** One line for each group of keys with its sum, to stand above the heading in the same columns. */
export function totalLines<R>(
  table: Table<R>,
  name: string,
  rows: readonly R[],
  groupBy: readonly string[],
  money: string,
): { lines: (Cell | null)[][]; parts: Part[] } {
  const groups = groupTotals(table, rows, groupBy, money);
  // Title, count, one line each, one empty line.
  const topLines = groups.length + 3;
  const parts = plannedParts(name, rows.length, topLines);
  const lines = groups.map((group, index) => {
    const line: (Cell | null)[] = table.columns.map(() => null);
    const keys: Record<string, string> = {};
    line[0] = { value: 'Total', style: STYLES.totalText };
    for (const [i, key] of groupBy.entries()) {
      const column = columnNumber(table, key);
      line[column - 1] = { value: group.keys[i] ?? '', style: STYLES.totalText };
      keys[key] = `$${columnLetters(column)}$${index + 3}`;
    }
    const result = moneyCell(formatAmount(group.sum));
    const isLive = group.fits && typeof result === 'number';
    const formula = matchingSum(table, parts, money, keys);
    line[columnNumber(table, money) - 1] = {
      value: isLive ? { formula, result } : formatAmount(group.sum),
      style: STYLES.totalMoney,
    };
    return line;
  });
  return { lines, parts };
}

/** The number of rows that the filter leaves, as a live formula. */
export function shownCount(parts: readonly Part[], count: number): Cell {
  const sums = parts.map((part) => {
    return `SUBTOTAL(103,'${part.sheet}'!$A$${part.first}:$A$${Math.max(part.first, part.last)})`;
  });
  return { value: { formula: sums.join('+'), result: count }, style: STYLES.totalCount };
}

interface GroupTotal {
  keys: string[];
  sum: bigint;
  fits: boolean;
}

function groupTotals<R>(
  table: Table<R>,
  rows: readonly R[],
  groupBy: readonly string[],
  money: string,
): GroupTotal[] {
  const groups = new Map<string, GroupTotal>();
  for (const row of rows) {
    const amount = readText(table, money, row);
    if (amount === null) continue;
    const keys = groupBy.map((key) => freeText(readText(table, key, row) ?? ''));
    const id = JSON.stringify(keys);
    const group = groups.get(id) ?? { keys, sum: 0n, fits: true };
    group.sum += hundredthsOf(amount);
    group.fits &&= fitsNumber(amount);
    groups.set(id, group);
  }
  return [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function readText<R>(table: Table<R>, key: string, row: R): string | null {
  const column = table.columns[columnNumber(table, key) - 1];
  const value = column?.read(row) ?? null;
  return value === null ? null : String(value);
}
