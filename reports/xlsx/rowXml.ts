// Rows of a table as the XML that a sheet holds, for rows by the million. What stands in a cell is
// what columnCell.ts and cellXml.ts make of it; most values are short, plain or seen before, and
// for those there is a shorter way to the same XML, which a test compares with the long one. It
// must never let a text through unescaped. Neighbours: table.ts (the sheet around the rows),
// columns.ts.

import { mayHoldCardNumber } from '../../src/core/text/masking.js';
import type { Column, Table } from '../column.js';
import type { WallClock } from './cells.js';
import { finiteNumber, fitsNumber } from './cells.js';
import { columnCell } from './columnCell.js';
import { fitsOneLine, rowHeight, surelyFitsFigure } from './columnWidths.js';
import type { StyleOf } from './format/cellXml.js';
import { cellXml, columnLetters, countText, opening, serialOf } from './format/cellXml.js';
import type { CellStyle } from './format/styleSheet.js';
import { moneyStyle, STYLES } from './styles.js';

interface RowXmlSpec<R> {
  table: Table<R>;
  widths: readonly number[];
  clock: WallClock;
  styleOf: StyleOf;
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
        if (column.link !== undefined) return null;
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
    case 'entry':
    case 'hidden':
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
  const openings = new Map<CellStyle, string>();
  const openingOf = (style: CellStyle): string => {
    const known = openings.get(style) ?? opening(spec.styleOf(style));
    openings.set(style, known);
    return known;
  };
  return (row) => {
    const amount = column.read(row);
    if (amount === null) return '';
    if (!surelyFitsFigure(amount, width) || !fitsNumber(amount)) return null;
    const style = moneyStyle(column.currency(row), [amount]);
    return `${openingOf(style)}${amount}</v></c>`;
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
