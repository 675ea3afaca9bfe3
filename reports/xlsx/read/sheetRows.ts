// The rows of a sheet one by one, each as the values of its cells, however the program that saved
// it writes them: texts in the cell or shared, numbers, dates, formulas with what they came to. A
// cell or row without a place stands behind the one before. Neighbours: xmlScan.ts, bookParts.ts.

import { UsageError } from '../../../src/core/errors.js';
import { CELL_TEXT_MAX } from '../cells.js';
import { SHEET_ROWS_MAX } from '../workbook.js';
import { tooLong } from './bookParts.js';
import { attributeOf, scanXml } from './xmlScan.js';

const COLUMNS_MAX = 16_384;
/** Of one sheet, those without a cell counted as well. */
const ROWS_MAX = SHEET_ROWS_MAX;

/** Null stands for a cell with nothing in it. */
export interface ReadCell {
  readonly value: string | number;
  /** What it shows was worked out by this, and is nothing that somebody wrote; null: it was not. */
  readonly formula: string | null;
}

/** Cells by column, counted from 0. */
export type ReadRow = ReadonlyMap<number, ReadCell>;

interface OpenCell {
  column: number;
  type: string;
  text: string;
  formula: string | null;
}

/** Hands over each row that has anything in it, with its number. */
export async function scanRows(
  text: AsyncIterable<string>,
  shared: readonly string[],
  take: (number: number, row: ReadRow) => void,
): Promise<void> {
  const inside: string[] = [];
  let number = 0;
  let rows = 0;
  let cells = 0;
  let column = -1;
  let row = new Map<number, ReadCell>();
  let cell: OpenCell | null = null;
  await scanXml(text, {
    open: (name, attributes) => {
      inside.push(name);
      if (name === 'row') {
        number = rowNumber(attributeOf(attributes, 'r'), number);
        row = new Map();
        column = -1;
        cells = 0;
        rows += 1;
        if (rows > ROWS_MAX) throw new UsageError(`a sheet has more than ${ROWS_MAX} rows`);
      } else if (name === 'c') {
        column = columnOf(attributeOf(attributes, 'r'), column);
        cells += 1;
        if (cells > COLUMNS_MAX) throw tooManyCells();
        const type = attributeOf(attributes, 't') ?? 'n';
        cell = { column, type, text: '', formula: null };
      } else if (name === 'f' && cell !== null) cell.formula = '';
    },
    text: (piece) => {
      if (cell === null) return;
      const at = inside.at(-1);
      if (at === 'f' && cell.formula !== null) {
        cell.formula += piece;
        if (cell.formula.length > CELL_TEXT_MAX) throw tooLong();
      }
      const isValue =
        at === 'v' || (at === 't' && inside.includes('is') && !inside.includes('rPh'));
      if (!isValue) return;
      cell.text += piece;
      if (cell.text.length > CELL_TEXT_MAX) throw tooLong();
    },
    close: (name) => {
      inside.pop();
      if (name === 'c' && cell !== null) {
        const value = cellValue(cell, shared);
        const { formula } = cell;
        if (value !== '' || formula !== null) row.set(cell.column, { value, formula });
        cell = null;
      } else if (name === 'row' && row.size > 0) take(number, row);
    },
  });
}

function cellValue({ type, text }: OpenCell, shared: readonly string[]): string | number {
  if (type === 's') {
    const found = /^\s*\d{1,9}\s*$/.test(text) ? shared[Number(text)] : undefined;
    if (found === undefined) throw new UsageError('a cell names a text that is not there');
    return found;
  }
  if (type !== 'n' || text.trim() === '') return type === 'n' ? '' : text;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new UsageError('a cell has a number that is none');
  return value;
}

function rowNumber(given: string | null, before: number): number {
  if (given === null) return before + 1;
  return /^\d{1,7}$/.test(given) ? Number(given) : before + 1;
}

/** `AB12` stands in column 27. */
function columnOf(place: string | null, before: number): number {
  const letters = /^([A-Z]{1,3})\d{1,7}$/.exec(place ?? '')?.[1];
  const column =
    letters === undefined
      ? before + 1
      : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  if (column >= COLUMNS_MAX) throw tooManyCells();
  return column;
}

function tooManyCells(): UsageError {
  return new UsageError('a row has too many cells');
}
