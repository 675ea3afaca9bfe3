// Rows of a table as the XML that a sheet holds, for rows by the million. What stands in a cell is
// what columnCell.ts makes of it; most values are short, plain or seen before, and for those there
// is a shorter way to the same XML, which a test compares with the long one. It must never let a
// text through unescaped. Neighbours: table.ts (the sheet around the rows), columns.ts.

import { mayHoldCardNumber } from '../../src/core/text/masking.js';
import type { Column, Table } from '../column.js';
import type { WallClock } from './cells.js';
import { finiteNumber, fitsNumber } from './cells.js';
import { columnCell } from './columnCell.js';
import { fitsOneLine, rowHeight, surelyFitsFigure } from './columnWidths.js';
import type { CellStyle } from './styles.js';
import { moneyStyle, STYLES } from './styles.js';
import type { Cell } from './workbook.js';
import { columnLetters } from './workbook.js';

export interface RowXmlSpec<R> {
  table: Table<R>;
  widths: readonly number[];
  clock: WallClock;
  /** The number of a style in the file. */
  styleOf: (style: CellStyle) => number;
}

/** Makes one row, under its number, into XML. */
export type RowXml<R> = (row: R, number: number) => string;

/** What follows the place of a cell; null where the shorter way does not lead there. */
type Short<R> = (row: R) => string | null;

export function rowXml<R>(spec: RowXmlSpec<R>): RowXml<R> {
  const { table, widths } = spec;
  const columns = table.columns.map((column, at) => ({
    place: `<c r="${columnLetters(at + 1)}`,
    short: shortWay(spec, column, widths[at] ?? 0),
    long: longWay(spec, column, widths[at] ?? 0),
  }));
  return (row, number) => {
    const line = countText(number);
    let inside = '';
    let height = 0;
    for (const { place, short, long } of columns) {
      let cell = short(row);
      if (cell === null) {
        const made = long(row);
        cell = made.xml;
        height = Math.max(height, made.height);
      }
      if (cell !== '') inside += place + line + cell;
    }
    const tall = height === 0 ? '' : ` ht="${height}" customHeight="1"`;
    return `<row r="${line}"${tall}>${inside}</row>`;
  };
}

function longWay<R>(
  { table, clock, styleOf }: RowXmlSpec<R>,
  column: Column<R>,
  width: number,
): (row: R) => { xml: string; height: number } {
  const widths = [width];
  return (row) => {
    const cell = columnCell(column, row, table.keep(row), clock, width);
    return { xml: cellXml(cell, styleOf), height: rowHeight([cell], widths) ?? 0 };
  };
}

function shortWay<R>(spec: RowXmlSpec<R>, column: Column<R>, width: number): Short<R> {
  const { styleOf } = spec;
  switch (column.kind) {
    case 'id': {
      const open = opening(styleOf(STYLES.text), 'str');
      return (row) => {
        const id = column.read(row);
        if (id === null) return '';
        return isPlain(id, width) ? `${open}${id}</v></c>` : null;
      };
    }
    case 'text':
      return shortText(spec, column, width);
    case 'money':
      return shortMoney(spec, column, width);
    case 'count': {
      const open = opening(styleOf(STYLES.count));
      return (row) => {
        const value = column.read(row);
        return value === null ? '' : `${open}${finiteNumber(value)}</v></c>`;
      };
    }
    case 'instant': {
      const open = opening(styleOf(STYLES.instant));
      return (row) => {
        const at = column.read(row);
        return at === null ? '' : `${open}${serialOf(spec.clock(at))}</v></c>`;
      };
    }
    case 'date':
      return () => null;
  }
}

/** Texts that a column keeps ready; one of ever new texts keeps no more than these. */
const TEXTS_KEPT = 500;

function shortText<R>(
  spec: RowXmlSpec<R>,
  column: Column<R> & { kind: 'text' },
  width: number,
): Short<R> {
  const { read, words, rowWords } = column;
  const ready = new Map<string, string>();
  const open = opening(spec.styleOf(STYLES.text), 'str');
  return (row) => {
    if (rowWords !== undefined) return null;
    const text = read(row);
    if (text === null) return words === undefined ? '' : null;
    if (typeof text !== 'string') return null;
    const kept = ready.get(text);
    if (kept !== undefined) return kept;
    // Masking depends on the identifiers of the row, so such a text is good for this row only.
    const isFree = !mayHoldCardNumber(text);
    if (!isFree && (words !== undefined || !spec.table.keep(row).includes(text))) return null;
    const shown = words === undefined ? text : words(text);
    if (!isPlain(shown, width)) return null;
    const xml = shown === '' && words !== undefined ? '' : `${open}${shown}</v></c>`;
    if (isFree && ready.size < TEXTS_KEPT) ready.set(text, xml);
    return xml;
  };
}

function shortMoney<R>(
  spec: RowXmlSpec<R>,
  column: Column<R> & { kind: 'money' },
  width: number,
): Short<R> {
  const cents = opening(spec.styleOf(STYLES.money));
  const whole = opening(spec.styleOf(STYLES.wholeMoney));
  return (row) => {
    const amount = column.read(row);
    if (amount === null) return '';
    if (!surelyFitsFigure(amount, width) || !fitsNumber(amount)) return null;
    const style = moneyStyle(column.currency(row), [amount]);
    return `${style === STYLES.wholeMoney ? whole : cents}${amount}</v></c>`;
  };
}

/** Whether a text goes into the XML as it is and on one line: nothing to clean, cut or escape. */
function isPlain(text: string, width: number): boolean {
  if (typeof text !== 'string' || text.includes('_x')) return false;
  for (let at = 0; at < text.length; at += 1) {
    if (PLAIN_CODES[text.charCodeAt(at)] !== 1) return false;
  }
  return fitsOneLine(text, width);
}

/** Printable characters that XML takes as they are. */
const PLAIN_CODES = Uint8Array.from({ length: 127 }, (_, code) =>
  code >= 32 && !'&<>'.includes(String.fromCharCode(code)) ? 1 : 0,
);

/** A cell in full, without its place; empty where there is none. */
export function cellXml(cell: Cell | null, styleOf: (style: CellStyle) => number): string {
  if (cell === null || cell.value === null) return '';
  const { value } = cell;
  const style = styleOf(cell.style);
  if (typeof value === 'number') return `${opening(style)}${finiteNumber(value)}</v></c>`;
  if (value instanceof Date) return `${opening(style)}${serialOf(value)}</v></c>`;
  // A formula is never part of a row that came from outside.
  return `${opening(style, 'str')}${escaped(String(value))}</v></c>`;
}

function opening(style: number, type?: 'str'): string {
  return type === undefined ? `" s="${style}"><v>` : `" s="${style}" t="${type}"><v>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const DAY_SECONDS = 86_400;
/** 1970-01-01 as a spreadsheet counts days. */
const EPOCH_DAYS = 25_569;
/** A second is 0.0000116 of a day; a spreadsheet shows no finer time than a thousandth of it. */
const PARTS_A_DAY = 1_000_000_000;

/** An instant of the wall clock, in whole seconds, as a spreadsheet counts time. */
function serialOf(wall: Date): string {
  const seconds = finiteNumber(wall.getTime()) / 1000;
  const days = Math.floor(seconds / DAY_SECONDS);
  const second = Math.floor(seconds - days * DAY_SECONDS);
  if (days + EPOCH_DAYS < 0) return String(EPOCH_DAYS + seconds / DAY_SECONDS);
  return `${EPOCH_DAYS + days}.${decimalsOf(second)}`;
}

function decimalsOf(second: number): string {
  const parts = Math.round((second * PARTS_A_DAY) / DAY_SECONDS);
  const thousands = Math.floor(parts / 1000);
  return three(Math.floor(thousands / 1000)) + three(thousands % 1000) + three(parts % 1000);
}

/**
 * A whole number as text. The engine keeps the texts of thousands of numbers that it was asked for
 * lately; a million rows that are numbered once are better put together of few texts.
 */
function countText(count: number): string {
  if (count < 1000) return String(count);
  return String(Math.floor(count / 1000)) + three(count % 1000);
}

const THREE_DIGITS = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

function three(below1000: number): string {
  return THREE_DIGITS[below1000] ?? '';
}
