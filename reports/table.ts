// Writes rows as a sheet: a few lines on top, the heading that stays in view, one row each, filter
// arrows. A table that outgrows a sheet goes on in the next one; no row is ever left out. It knows
// nothing of what the columns mean. Neighbours: columns.ts (the columns), workbook.ts (the sheets).

import type { WallClock } from './cells.js';
import { finiteNumber, freeText, idText, moneyCell } from './cells.js';
import type { Column, Table } from './columns.js';
import { sheetText } from './columns.js';
import {
  fitsFigure,
  fitsOneLine,
  LINE_POINTS,
  rowHeight,
  wantedHeadingWidth,
  wantedWidth,
} from './fit.js';
import { moneyStyle, STYLES } from './styles.js';
import type { Part } from './totals.js';
import type { Book, Cell, Sheet } from './workbook.js';
import { closeSheet, columnLetters, openSheet, putRow, SHEET_ROWS_MAX } from './workbook.js';

/** More lines than this above the rows would leave a small screen no room to scroll. */
const FROZEN_ROWS_MAX = 16;
/** An identifier longer than this goes on in the next line. */
const ID_WIDTH_MAX = 36;

export interface TableSpec<R> {
  name: string;
  table: Table<R>;
  /** The lines above the heading, on every sheet of the table. */
  top: readonly (readonly (Cell | null)[])[];
  timezone: string;
  clock: WallClock;
  /** Made by `fittedWidths` where all rows are at hand; the table's own otherwise. */
  widths?: readonly number[];
  /** Rows of one sheet, all lines counted; a spreadsheet's own limit unless a test lowers it. */
  rowsPerSheet?: number;
}

/** Writes all rows and says where they went; at least one sheet, also for no rows. */
export async function writeTable<R>(
  book: Book,
  spec: TableSpec<R>,
  chunks: AsyncIterable<readonly R[]> | Iterable<readonly R[]>,
): Promise<Part[]> {
  const limit = spec.rowsPerSheet ?? SHEET_ROWS_MAX;
  const widths = spec.widths ?? spec.table.columns.map((column) => column.width);
  const parts: Part[] = [];
  let sheet = await openTableSheet(book, spec, widths);
  for await (const rows of chunks) {
    for (const row of rows) {
      if (sheet.row >= limit) {
        parts.push(await closeTableSheet(sheet, spec));
        sheet = await openTableSheet(book, spec, widths);
      }
      const cells = rowCells(spec, row, widths);
      await putRow(sheet, cells, { height: rowHeight(cells, widths) });
    }
  }
  parts.push(await closeTableSheet(sheet, spec));
  return parts;
}

/** Columns as wide as their contents ask; long text breaks into lines at the table's width. */
export function fittedWidths<R>(spec: TableSpec<R>, rows: readonly R[]): number[] {
  const { columns } = spec.table;
  const widths = columns.map((column) => wantedHeadingWidth(headingCell(column, spec.timezone)));
  const widen = (index: number, wanted: number) => {
    widths[index] = Math.max(widths[index] ?? 0, wanted);
  };
  for (const row of rows) {
    for (const [index, column] of columns.entries()) {
      const wanted = wantedWidth(columnCell(column, row, [], spec.clock, Infinity));
      if (column.kind === 'text') widen(index, Math.min(wanted, column.width));
      else widen(index, column.kind === 'id' ? Math.min(wanted, ID_WIDTH_MAX) : wanted);
    }
  }
  // The title may run over its neighbours, which are empty.
  for (const line of spec.top.slice(1)) {
    for (const [index, cell] of line.entries()) widen(index, wantedWidth(cell));
  }
  return widths;
}

async function openTableSheet<R>(
  book: Book,
  spec: TableSpec<R>,
  widths: readonly number[],
): Promise<Sheet> {
  const heading = spec.top.length + 1;
  const sheet = openSheet(book, spec.name, {
    widths,
    frozenRows: heading > FROZEN_ROWS_MAX ? 0 : heading,
    frozenColumns: spec.table.frozenColumns,
    repeatedRows: `${heading}:${heading}`,
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
  await closeSheet(sheet, { filter: `A${heading}:${lastColumn}${Math.max(sheet.row, heading)}` });
  return { sheet: sheet.name, first: heading + 1, last: sheet.row };
}

function headingCell<R>(column: Column<R>, timezone: string): Cell {
  const zone = column.kind === 'instant' ? ` (${timezone})` : '';
  const isRight = column.kind !== 'id' && column.kind !== 'text';
  return {
    value: column.heading + zone,
    style: isRight ? STYLES.filterHeadRight : STYLES.filterHead,
  };
}

function rowCells<R>(spec: TableSpec<R>, row: R, widths: readonly number[]): (Cell | null)[] {
  const keep = spec.table.keep(row);
  return spec.table.columns.map((column, index) =>
    columnCell(column, row, keep, spec.clock, widths[index] ?? 0),
  );
}

function columnCell<R>(
  column: Column<R>,
  row: R,
  keep: readonly string[],
  clock: WallClock,
  width: number,
): Cell | null {
  switch (column.kind) {
    case 'id': {
      const id = column.read(row);
      if (id === null) return null;
      const value = idText(id);
      return { value, style: fitsOneLine(value, width) ? STYLES.text : STYLES.wrapped };
    }
    case 'text': {
      const text = sheetText(column, row);
      if (text === null) return null;
      const value = freeText(text, keep);
      return { value, style: fitsOneLine(value, width) ? STYLES.text : STYLES.wrapped };
    }
    case 'money': {
      const value = column.read(row);
      if (value === null) return null;
      const style = moneyStyle(column.currency(row), [value]);
      const cell = { value: moneyCell(value), style };
      return fitsFigure(cell, value, width) ? cell : { ...cell, style: STYLES.shrunkMoney };
    }
    case 'count': {
      const value = column.read(row);
      return value === null ? null : { value: finiteNumber(value), style: STYLES.count };
    }
    case 'instant': {
      const value = column.read(row);
      return value === null ? null : { value: clock(value), style: STYLES.instant };
    }
  }
}
