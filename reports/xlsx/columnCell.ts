// One value of a row as the cell that a sheet shows: cleaned, masked where it is free text, in the
// look of its kind, wrapped or shrunk where it is longer than its column. Pure; neighbours:
// columns.ts (what a column shows), cells.ts (what may stand in a cell), rowXml.ts (many rows).

import type { Column } from '../column.js';
import { sheetText } from '../column.js';
import type { WallClock } from './cells.js';
import { dateCell, finiteNumber, freeText, idText, moneyCell } from './cells.js';
import { fitsFigure, fitsOneLine } from './columnWidths.js';
import type { Cell } from './format/cellXml.js';
import { moneyStyle, STYLES, shrunk } from './styles.js';

/** Of a text in a formula: a file with a longer one is not opened. */
const QUOTED_MAX = 255;

/** `keep`: identifiers that free text of this row may name; masking leaves them alone. */
export function columnCell<R>(
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
      const to = column.link?.(row) ?? null;
      const isLink = to !== null && Math.max(to.length, id.length) <= QUOTED_MAX;
      return isLink ? linkCell(to, idText(id)) : textCell(idText(id), width);
    }
    case 'text': {
      const text = sheetText(column, row);
      return text === null ? null : textCell(freeText(text, keep), width);
    }
    case 'money': {
      const value = column.read(row);
      if (value === null) return null;
      const style = moneyStyle(column.currency(row), [value]);
      const cell = { value: moneyCell(value), style };
      return fitsFigure(cell, value, width) ? cell : { ...cell, style: shrunk(style) };
    }
    case 'count': {
      const value = column.read(row);
      return value === null ? null : { value: finiteNumber(value), style: STYLES.count };
    }
    case 'instant': {
      const value = column.read(row);
      return value === null ? null : { value: clock(value), style: STYLES.instant };
    }
    case 'hidden': {
      const text = column.read(row);
      return text === null ? null : { value: idText(text), style: STYLES.text };
    }
    case 'entry':
      return column.read(row) === null ? null : { value: null, style: STYLES.entry };
    case 'date': {
      const value = column.read(row);
      return value === null ? null : { value: dateCell(value), style: STYLES.date };
    }
  }
}

/** A formula, since it needs no list of links at the end of the sheet. */
export function linkCell(to: string, result: string): Cell {
  const quoted = [to, result].map((part) => `"${part.replaceAll('"', '""')}"`);
  return { value: { formula: `HYPERLINK(${quoted.join()})`, result }, style: STYLES.link };
}

const LINK = /^\s*HYPERLINK\(\s*"([^"]*)"\s*[,;]\s*"([^"]*)"\s*\)\s*$/i;

/**
 * What a cell with this formula shows, where it is nothing but the link from a number to the page
 * of that number; null: it is another formula. Some programs leave out what it came to.
 */
export function linkedText(formula: string, value: string | number): string | null {
  const [, to = '', shown = ''] = LINK.exec(formula) ?? [];
  if (shown === '' || !to.endsWith(`/${shown}`)) return null;
  return value === '' || String(value) === shown ? shown : null;
}

function textCell(value: string, width: number): Cell {
  return { value, style: fitsOneLine(value, width) ? STYLES.text : STYLES.wrapped };
}
