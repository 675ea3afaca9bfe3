// Writes rows as a sheet: a few lines on top, the heading that stays in view, one row each, filter
// arrows. A table that outgrows a sheet goes on in the next one; no row is ever left out. It knows
// nothing of what the columns mean. Neighbours: columns.ts (the columns), workbook.ts (the sheets).

import type { WallClock } from './cells.js';
import { finiteNumber, freeText, idText, isWholeMoney, moneyCell } from './cells.js';
import type { Column, Table } from './columns.js';
import { STYLES } from './styles.js';
import type { Part } from './totals.js';
import type { Book, Cell, Sheet } from './workbook.js';
import { closeSheet, columnLetters, openSheet, putRow, SHEET_ROWS_MAX } from './workbook.js';

/** Columns as wide as this hold sentences, which break into lines. */
const WRAPPED_FROM_WIDTH = 40;

export interface TableSpec<R> {
  name: string;
  table: Table<R>;
  /** The lines above the heading, on every sheet of the table. */
  top: readonly (readonly (Cell | null)[])[];
  timezone: string;
  clock: WallClock;
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
  const parts: Part[] = [];
  let sheet = await openTableSheet(book, spec);
  for await (const rows of chunks) {
    for (const row of rows) {
      if (sheet.row >= limit) {
        parts.push(await closeTableSheet(sheet, spec));
        sheet = await openTableSheet(book, spec);
      }
      await putRow(sheet, rowCells(spec, row));
    }
  }
  parts.push(await closeTableSheet(sheet, spec));
  return parts;
}

async function openTableSheet<R>(book: Book, spec: TableSpec<R>): Promise<Sheet> {
  const sheet = openSheet(book, spec.name, {
    widths: spec.table.columns.map((column) => column.width),
    frozenRows: spec.top.length + 1,
    frozenColumns: spec.table.frozenColumns,
  });
  for (const line of spec.top) await putRow(sheet, line);
  await putRow(
    sheet,
    spec.table.columns.map((column) => headingCell(column, spec.timezone)),
  );
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
  return { value: column.heading + zone, style: isRight ? STYLES.headRight : STYLES.head };
}

function rowCells<R>(spec: TableSpec<R>, row: R): (Cell | null)[] {
  const keep = spec.table.keep(row);
  return spec.table.columns.map((column) => columnCell(column, row, keep, spec.clock));
}

function columnCell<R>(
  column: Column<R>,
  row: R,
  keep: readonly string[],
  clock: WallClock,
): Cell | null {
  switch (column.kind) {
    case 'id': {
      const value = column.read(row);
      return value === null ? null : { value: idText(value), style: STYLES.text };
    }
    case 'text': {
      const value = column.read(row);
      if (value === null) return null;
      const isLong = column.width >= WRAPPED_FROM_WIDTH;
      return { value: freeText(value, keep), style: isLong ? STYLES.wrapped : STYLES.text };
    }
    case 'money': {
      const value = column.read(row);
      if (value === null) return null;
      const isWhole = isWholeMoney(column.currency(row), value);
      return { value: moneyCell(value), style: isWhole ? STYLES.wholeMoney : STYLES.money };
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
