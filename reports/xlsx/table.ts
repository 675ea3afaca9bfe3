// Writes rows as a sheet: a few lines on top, the heading that stays in view, one row each, filter
// arrows. A table that outgrows a sheet goes on in the next one; no row is ever left out. It knows
// nothing of what the columns mean. Neighbours: columns.ts (the columns), rowXml.ts (the rows),
// workbook.ts (the sheets).

import type { Chunks } from '../../src/core/runs/reporting.js';
import type { Column, Table } from '../column.js';
import { decisionColumn, hiddenColumn } from '../decisions/decisionColumns.js';
import type { WallClock } from './cells.js';
import { columnCell } from './columnCell.js';
import { LINE_POINTS, rowHeight, wantedHeadingWidth, wantedWidth } from './columnWidths.js';
import type { Cell } from './format/cellXml.js';
import { columnLetters } from './format/cellXml.js';
import type { SheetEnd } from './format/sheetXml.js';
import type { RowXml } from './rowXml.js';
import { rowXml } from './rowXml.js';
import { STYLES } from './styles.js';
import type { Part } from './totals.js';
import type { Book, Sheet } from './workbook.js';
import {
  closeSheet,
  nextRow,
  openSheet,
  putRow,
  putRowXml,
  SHEET_ROWS_MAX,
  styleOf,
} from './workbook.js';

/** More lines than this above the rows would leave a small screen no room to scroll. */
const FROZEN_ROWS_MAX = 16;
/** An identifier longer than this goes on in the next line; a UUID stands on one. */
const ID_WIDTH_MAX = 40;

interface TableSpec<R> {
  name: string;
  table: Table<R>;
  /** The lines above the heading, on every sheet of the table. */
  top: readonly (readonly (Cell | null)[])[];
  timezone: string;
  clock: WallClock;
  /** Fitted where all rows were gone through before; else the first rows stand for all. */
  widths?: readonly number[];
  /** Cells above the rows that have to be 0: red unless they are. */
  checks?: readonly string[];
  /** Rows of one sheet, all lines counted; a spreadsheet's own limit unless a test lowers it. */
  rowsPerSheet?: number;
}

/** A table under way. */
interface OpenTable<R> {
  book: Book;
  spec: TableSpec<R>;
  widths: readonly number[];
  xmlOf: RowXml<R>;
  parts: Part[];
  sheet: Sheet;
}

/** Writes all rows and says where they went; at least one sheet, also for no rows. */
export async function writeTable<R>(
  book: Book,
  spec: TableSpec<R>,
  chunks: Chunks<R>,
): Promise<Part[]> {
  let table: OpenTable<R> | null = null;
  for await (const rows of chunks) {
    table ??= await openTable(book, spec, rows);
    await addRows(table, rows);
  }
  table ??= await openTable(book, spec, []);
  table.parts.push(await closeTableSheet(table.sheet, spec));
  return table.parts;
}

async function openTable<R>(
  book: Book,
  spec: TableSpec<R>,
  firstRows: readonly R[],
): Promise<OpenTable<R>> {
  const { table, clock } = spec;
  const widths = spec.widths ?? likelyWidths(spec, firstRows);
  const xmlOf = rowXml({ table, widths, clock, styleOf: (style) => styleOf(book, style) });
  const sheet = await openTableSheet(book, spec, widths);
  return { book, spec, widths, xmlOf, parts: [], sheet };
}

async function addRows<R>(table: OpenTable<R>, rows: readonly R[]): Promise<void> {
  const { book, spec, widths, xmlOf, parts } = table;
  const limit = spec.rowsPerSheet ?? SHEET_ROWS_MAX;
  for (const row of rows) {
    if (table.sheet.row >= limit) {
      parts.push(await closeTableSheet(table.sheet, spec));
      table.sheet = await openTableSheet(book, spec, widths);
    }
    const waiting = putRowXml(table.sheet, xmlOf(row, nextRow(table.sheet)));
    if (waiting !== null) await waiting;
  }
}

/** The table's own widths, or more where the first rows ask for it. */
function likelyWidths<R>(spec: TableSpec<R>, firstRows: readonly R[]): number[] {
  const fitted = fittedWidths({ ...spec, top: [] }, firstRows);
  return spec.table.columns.map(({ width }, at) => Math.max(width, fitted[at] ?? 0));
}

/** Columns as wide as their contents ask; long text breaks into lines at the table's width. */
export function fittedWidths<R>(spec: TableSpec<R>, rows: readonly R[]): number[] {
  const widths = headingWidths(spec.table, spec.timezone);
  widenForRows(widths, spec.table, spec.clock, rows);
  widenForTop(widths, spec.top);
  return widths;
}

/** What the headings ask for; the rows and the lines above widen it. */
export function headingWidths<R>(table: Table<R>, timezone: string): number[] {
  return table.columns.map((column) => {
    const wanted = wantedHeadingWidth(headingCell(column, timezone));
    return column.kind === 'entry' ? Math.max(column.width, wanted) : wanted;
  });
}

export function widenForRows<R>(
  widths: number[],
  { columns }: Table<R>,
  clock: WallClock,
  rows: readonly R[],
): void {
  for (const row of rows) {
    for (const [index, column] of columns.entries()) {
      const wanted = wantedWidth(columnCell(column, row, [], clock, Infinity));
      widen(widths, index, Math.min(wanted, WIDTH_MAX[column.kind] ?? column.width));
    }
  }
}

/** The title may run over its neighbours, which are empty. */
export function widenForTop(widths: number[], top: TableSpec<never>['top']): void {
  for (const line of top.slice(1)) {
    for (const [index, cell] of line.entries()) widen(widths, index, wantedWidth(cell));
  }
}

/** Text breaks at the width of its column; figures and dates stand whole. */
const WIDTH_MAX: Readonly<Record<Column<never>['kind'], number | null>> = {
  ...{ id: ID_WIDTH_MAX, text: null },
  ...{
    money: Infinity,
    count: Infinity,
    instant: Infinity,
    date: Infinity,
    entry: null,
    hidden: null,
  },
};

function widen(widths: number[], index: number, wanted: number): void {
  widths[index] = Math.max(widths[index] ?? 0, wanted);
}

async function openTableSheet<R>(
  book: Book,
  spec: TableSpec<R>,
  widths: readonly number[],
): Promise<Sheet> {
  const heading = spec.top.length + 1;
  const sheet = await openSheet(book, spec.name, {
    widths,
    hiddenColumn: hiddenColumn(spec.table),
    frozenRows: heading > FROZEN_ROWS_MAX ? 0 : heading,
    frozenColumns: spec.table.frozenColumns,
    repeatedRows: `${heading}:${heading}`,
    ...(spec.table.pagesWide === undefined ? {} : { pagesWide: spec.table.pagesWide }),
  });
  for (const line of spec.top) await putRow(sheet, line);
  const cells = spec.table.columns.map((column) => headingCell(column, spec.timezone));
  // One line more than the words need: it is the buttons'.
  await putRow(sheet, cells, { height: (rowHeight(cells, widths) ?? LINE_POINTS) + LINE_POINTS });
  return sheet;
}

async function closeTableSheet<R>(sheet: Sheet, spec: TableSpec<R>): Promise<Part> {
  const heading = spec.top.length + 1;
  const lastColumn = columnLetters(spec.table.columns.length);
  const filter = `A${heading}:${lastColumn}${Math.max(sheet.row, heading)}`;
  const zeroOrRed = sheet.name === spec.name ? (spec.checks ?? []) : [];
  const decisions = decisionsEnd(spec.table, heading + 1, sheet.row);
  await closeSheet(sheet, { filter, zeroOrRed, ...decisions, ...printedPart(spec.table, sheet) });
  return { sheet: sheet.name, first: heading + 1, last: sheet.row };
}

/** Of a sheet that goes over several pages what is read on paper: nobody decides there. */
function printedPart<R>({ columns, pagesWide }: Table<R>, sheet: Sheet): SheetEnd {
  const first = columns.findIndex(({ kind }) => kind === 'entry');
  if (pagesWide === undefined || first === -1) return {};
  return { printed: `A1:${columnLetters(first)}${sheet.row}` };
}

/** What a sheet has at its end where decisions may come back. */
function decisionsEnd<R>(table: Table<R>, first: number, last: number): SheetEnd {
  const { decisions: words } = table;
  if (words === undefined) return {};
  if (last < first) return { isProtected: true };
  const letters = columnLetters(decisionColumn(table) + 1);
  return { isProtected: true, choice: { ref: `${letters}${first}:${letters}${last}`, words } };
}

function headingCell<R>(column: Column<R>, timezone: string): Cell {
  const zone = column.kind === 'instant' ? ` (${timezone})` : '';
  const isRight = !['id', 'text', 'entry', 'hidden'].includes(column.kind);
  return {
    value: column.heading + zone,
    style: isRight ? STYLES.filterHeadRight : STYLES.filterHead,
  };
}
