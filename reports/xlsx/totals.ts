// Totals that a reader can work out again: formulas over the rows of a table, each with the value
// that it has when the file is written. It must never sum across currencies, nor give a formula
// whose value a double cannot hold. Pure; neighbours: columns.ts (what the ranges are of),
// table.ts.

import { formatAmount } from '../../src/core/money.js';
import type { Table } from '../column.js';
import { columnNumber, columnOf, sheetText } from '../column.js';
import { addsExactly, freeText, hundredthsOf, moneyCell } from './cells.js';
import type { Cell } from './format/cellXml.js';
import { columnLetters } from './format/cellXml.js';
import { moneyStyle, STYLES } from './styles.js';
import { SHEET_ROWS_MAX } from './workbook.js';

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
  isAbsolute = false,
): string {
  const sums = parts.map((part) => {
    const range = columnRanges(table, money, [part]).join();
    if (matching === 'words') return `SUMIFS(${[range, ...criteria(table, part, keys)].join(',')})`;
    const tests = exactTests(table, part, keys);
    if (!isAbsolute) return `SUMPRODUCT(${[...tests, range].join(',')})`;
    // Not ABS: it fails on an amount that stands as text because it is too long for a number.
    const [above, below] = ['>', '<'].map((sign) => `--(${range}${sign}0)`);
    const sumOf = (sign = '') => `SUMPRODUCT(${[...tests, sign, range].join(',')})`;
    return `${sumOf(above)}-${sumOf(below)}`;
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

/**
 * Text as text: an account "0010" is not "10", "*" is no wildcard, "a1" is not "A1". Dates as
 * numbers: their text is that of the cell to one spreadsheet, and that of the number to another.
 */
function exactTests<R>(
  table: Table<R>,
  part: Part,
  keys: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(keys).map(([key, cell]) => {
    const range = columnRanges(table, key, [part]).join();
    return columnOf(table, key).kind === 'date'
      ? `--(${range}=${cell})`
      : `--EXACT(${range},${cell})`;
  });
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

/** What the block of totals above a table is made of. */
export interface TotalsSpec {
  /** One line for each group of these columns; one of them is the currency. */
  down: readonly string[];
  /** A column of totals for each value of this one. */
  across?: string;
  /** Beside the total a column for each value of this one, of rows that the total counts, too. */
  ofThese?: string;
  money: string;
}

/** What the rows that a block of totals is about come to. */
interface RowTotals {
  rows: number;
  groups: Map<string, GroupTotal>;
}

/** A block of totals that stands over the heading, and where the rows will be beneath it. */
export function totalsBlock<R>(
  table: Table<R>,
  name: string,
  { rows, groups }: RowTotals,
  spec: TotalsSpec,
  linesBefore: number,
): { lines: (Cell | null)[][]; parts: Part[] } {
  const lineKeys = distinctKeys(groups, (group) => group.down);
  const columnKeys = distinctKeys(groups, (group) => [group.across]).flat();
  // The heading of the block, its lines, one empty line.
  const height = groups.size === 0 ? 0 : lineKeys.length + 2;
  const parts = plannedParts(name, rows, linesBefore + height);
  if (height === 0) return { lines: [], parts };
  const headingRow = linesBefore + 1;
  const lines = lineKeys.map((down, index) => [
    ...down.map((key) => ({ value: key, style: STYLES.text })),
    ...columnKeys.map((across, column) => {
      const group = groups.get(groupId(down, across));
      const keys: Record<string, string> = {};
      for (const [i, key] of spec.down.entries()) {
        keys[key] = `$${columnLetters(i + 1)}$${headingRow + index + 1}`;
      }
      const letters = columnLetters(spec.down.length + column + 1);
      const byHeading = across === '' ? spec.across : (spec.across ?? spec.ofThese);
      if (byHeading !== undefined) keys[byHeading] = `$${letters}$${headingRow}`;
      return group ? totalCell(group, matchingSum(table, parts, spec.money, keys)) : null;
    }),
  ]);
  return { lines: [blockHeading(table, spec, columnKeys), ...lines, []], parts };
}

function blockHeading<R>(table: Table<R>, spec: TotalsSpec, columnKeys: readonly string[]): Cell[] {
  const { heading } = columnOf(table, spec.money);
  return [
    ...spec.down.map((key) => ({
      value: columnOf(table, key).heading,
      style: STYLES.blockHead,
    })),
    ...columnKeys.map((key) => ({
      value: spec.across === undefined && key === '' ? heading : key,
      style: STYLES.blockHeadRight,
    })),
  ];
}

function totalCell(group: GroupTotal, formula: string): Cell {
  const shown = formatAmount(group.sum);
  const result = moneyCell(shown);
  const isLive = group.fits && typeof result === 'number';
  return {
    value: isLive ? { formula, result } : shown,
    style: moneyStyle(group.currency, [shown]),
  };
}

/** The number of rows that the filter leaves, as a live formula. */
export function shownCount(parts: readonly Part[], count: number): Cell {
  const sums = parts.map((part) => {
    return `SUBTOTAL(103,'${part.sheet}'!$A$${part.first}:$A$${Math.max(part.first, part.last)})`;
  });
  return { value: { formula: sums.join('+'), result: count }, style: STYLES.count };
}

export interface GroupTotal {
  down: string[];
  across: string;
  currency: string | null;
  sum: bigint;
  fits: boolean;
}

/** Adds these rows to the groups that they belong to; how many have no amount, and are in none. */
export function addToGroups<R>(
  groups: Map<string, GroupTotal>,
  table: Table<R>,
  spec: TotalsSpec,
  rows: readonly R[],
): number {
  let without = 0;
  const { down: downColumns, across: acrossColumn, ofThese, money } = spec;
  for (const row of rows) {
    const amount = readText(table, money, row);
    if (amount === null) {
      without += 1;
      continue;
    }
    const down = downColumns.map((key) => freeText(readText(table, key, row) ?? ''));
    const across =
      acrossColumn === undefined ? '' : freeText(readText(table, acrossColumn, row) ?? '');
    const currency = readText(table, 'currency', row);
    const further = ofThese === undefined ? '' : freeText(readText(table, ofThese, row) ?? '');
    for (const one of further === '' ? [across] : [across, further]) {
      const id = groupId(down, one);
      const group = groups.get(id) ?? { down, across: one, currency, sum: 0n, fits: true };
      group.sum += hundredthsOf(amount);
      group.fits &&= addsExactly(amount);
      groups.set(id, group);
    }
  }
  return without;
}

function groupId(down: readonly string[], across: string): string {
  return JSON.stringify([...down, across]);
}

function distinctKeys(
  groups: ReadonlyMap<string, GroupTotal>,
  keysOf: (group: GroupTotal) => string[],
): string[][] {
  const distinct = new Map<string, string[]>();
  for (const group of groups.values()) distinct.set(JSON.stringify(keysOf(group)), keysOf(group));
  return [...distinct.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, keys]) => keys);
}

/** A column's text as the sheet shows it, which is what the formulas compare. */
function readText<R>(table: Table<R>, key: string, row: R): string | null {
  const column = columnOf(table, key);
  const value = column.kind === 'text' ? sheetText(column, row) : column.read(row);
  return value === null ? null : String(value);
}
