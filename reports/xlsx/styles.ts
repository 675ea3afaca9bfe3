// How cells look: one object for each style, shared by every cell that has it. The workbook
// library recognises a style by its identity; a fresh object for every cell would make it build and
// compare the style's XML each time. Data that is never changed after it is made; neighbours:
// workbook.ts, cells.ts.

import type { Borders, Fill, Style } from 'exceljs';
import { isWholeMoney } from './cells.js';

export type CellStyle = Partial<Style>;

/** Negative is a minus sign and no colour: red means one thing, a check that fails. */
const MONEY = '#,##0.00';
const MONEY_WITHOUT_DECIMALS = '#,##0';
const COUNT = '#,##0';
/** Text cells stay text, also when a person edits one that begins with "=". */
const TEXT = '@';

/** Between headings that stand close to each other. */
const HEAD_LINES: Partial<Borders> = {
  left: { style: 'thin', color: { argb: 'FF5A7A8F' } },
  right: { style: 'thin', color: { argb: 'FF5A7A8F' } },
};
const HEAD_FILL = solid('FF1F3A4D');
const SECTION_FILL = solid('FFDCE6EC');
const TOTAL_LINE: Partial<Borders> = { top: { style: 'thin', color: { argb: 'FF1F3A4D' } } };
const BLOCK_LINE: Partial<Borders> = { bottom: { style: 'thin', color: { argb: 'FF1F3A4D' } } };
/** Named in full: a reader takes some font of its own for one that has no name. */
const FONT = { name: 'Calibri', family: 2, size: 11 } as const;
const BOLD = { ...FONT, bold: true } as const;
const WHITE_BOLD = { ...BOLD, color: { argb: 'FFFFFFFF' } };
/** Keeps a text away from the end of the column before it. */
const WORDS = { horizontal: 'left', indent: 1, vertical: 'top' } as const;
/** Without an indent: some readers forget a right one where only the number format changes. */
const FIGURE = { horizontal: 'right', vertical: 'top' } as const;

export const STYLES = {
  text: { numFmt: TEXT, alignment: WORDS },
  wrapped: { numFmt: TEXT, alignment: { ...WORDS, wrapText: true } },
  /** For a figure that is longer than its column: small, but never "####". */
  shrunkMoney: { numFmt: MONEY, alignment: { ...FIGURE, shrinkToFit: true } },
  money: { numFmt: MONEY, alignment: FIGURE },
  wholeMoney: { numFmt: MONEY_WITHOUT_DECIMALS, alignment: FIGURE },
  count: { numFmt: COUNT, alignment: FIGURE },
  date: { numFmt: 'yyyy-mm-dd', alignment: FIGURE },
  /** Where a date is what the line is of. */
  dateLeft: { numFmt: 'yyyy-mm-dd', alignment: WORDS },
  instant: { numFmt: 'yyyy-mm-dd hh:mm', alignment: FIGURE },
  head: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...WORDS, vertical: 'middle', wrapText: true },
  },
  headRight: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...FIGURE, vertical: 'middle', wrapText: true },
  },
  /** Over a filter's buttons, which stand at the foot of the cell and hide what is there. */
  filterHead: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...WORDS, wrapText: true },
  },
  filterHeadRight: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...FIGURE, wrapText: true },
  },
  title: { numFmt: TEXT, font: { ...BOLD, size: 16 } },
  section: { numFmt: TEXT, font: { ...BOLD, size: 12 }, fill: SECTION_FILL },
  sentence: {
    numFmt: TEXT,
    font: { ...FONT, size: 13 },
    alignment: { vertical: 'middle', wrapText: true },
  },
  running: { numFmt: TEXT, alignment: { vertical: 'top', wrapText: true } },
  quiet: { numFmt: TEXT, font: { ...FONT, italic: true, color: { argb: 'FF5A6770' } } },
  /** The same over several lines. */
  note: {
    numFmt: TEXT,
    font: { ...FONT, italic: true, color: { argb: 'FF5A6770' } },
    alignment: { vertical: 'top', wrapText: true },
  },
  test: {
    numFmt: TEXT,
    font: { ...BOLD, color: { argb: 'FF7A4B00' } },
    fill: solid('FFFFE7B8'),
  },
  live: { numFmt: TEXT, font: WHITE_BOLD, fill: solid('FF8A1F1F') },
  blockHead: { numFmt: TEXT, font: BOLD, border: BLOCK_LINE, alignment: WORDS },
  blockHeadRight: {
    numFmt: TEXT,
    font: BOLD,
    border: BLOCK_LINE,
    alignment: FIGURE,
  },
  totalText: { numFmt: TEXT, font: BOLD, border: TOTAL_LINE, alignment: WORDS },
  totalCount: { numFmt: COUNT, font: BOLD, border: TOTAL_LINE, alignment: FIGURE },
  verdict: { font: { ...BOLD, color: { argb: 'FF1E6B3A' } }, alignment: { horizontal: 'left' } },
} as const satisfies Record<string, CellStyle>;

/** Laid over a cell whose check fails. */
export const RED: CellStyle = {
  font: { bold: true, color: { argb: 'FFFFFFFF' } },
  fill: { type: 'pattern', pattern: 'solid', bgColor: { argb: 'FFC00000' } },
};

/** Whole money where the currency has no decimals and none of the amounts shows any. */
export function moneyStyle(currency: string | null, amounts: readonly string[]): CellStyle {
  const isWhole = amounts.every((amount) => isWholeMoney(currency, amount));
  return isWhole ? STYLES.wholeMoney : STYLES.money;
}

function solid(argb: string): Fill {
  return { type: 'pattern', pattern: 'solid', fgColor: { argb } };
}
