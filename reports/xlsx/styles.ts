// How cells look: one object for each style, shared by every cell that has it, since a style
// is known by its identity. Data that is never changed after it is made; neighbours: styleSheet.ts
// makes it a part of the file, cells.ts.

import { decimalsOf } from '../../src/core/currency.js';
import { isWholeMoney } from './cells.js';
import type { CellStyle } from './format/styleSheet.js';

/** Negative is a minus sign and no colour: red means one thing, a check that fails. */
const MONEY = '#,##0.00';
const MONEY_WITHOUT_DECIMALS = '#,##0';
const MONEY_OF_THREE = '#,##0.000';
const MONEY_OF_FOUR = '#,##0.0000';
const COUNT = '#,##0';
/** Text cells stay text, also when a person edits one that begins with "=". */
const TEXT = '@';

/** Between headings that stand close to each other. */
const HEAD_LINES = { left: 'FF5A7A8F', right: 'FF5A7A8F' };
const HEAD_FILL = 'FF1F3A4D';
const TOTAL_LINE = { top: 'FF1F3A4D' };
const BLOCK_LINE = { bottom: 'FF1F3A4D' };
const BOLD = { size: 11, bold: true } as const;
const WHITE_BOLD = { ...BOLD, colour: 'FFFFFFFF' };
const QUIET = { size: 11, italic: true, colour: 'FF5A6770' } as const;
/** Keeps a text away from the end of the column before it. */
const WORDS = { horizontal: 'left', indent: 1, vertical: 'top' } as const;
/** Without an indent: some readers forget a right one where only the number format changes. */
const FIGURE = { horizontal: 'right', vertical: 'top' } as const;
const SHRUNK_FIGURE = { ...FIGURE, shrinkToFit: true } as const;

export const STYLES = {
  text: { numFmt: TEXT, alignment: WORDS },
  link: { numFmt: TEXT, font: { size: 11, colour: 'FF1F5FA8' }, alignment: WORDS },
  /** For a person to fill; the rest of such a sheet is protected. */
  entry: {
    numFmt: TEXT,
    fill: 'FFFFF8DC',
    border: { left: 'FFB0B8BE', right: 'FFB0B8BE', top: 'FFB0B8BE', bottom: 'FFB0B8BE' },
    alignment: { ...WORDS, wrapText: true },
    isUnlocked: true,
  },
  wrapped: { numFmt: TEXT, alignment: { ...WORDS, wrapText: true } },
  /** For a figure that is longer than its column: small, but never "####". */
  shrunkMoney: { numFmt: MONEY, alignment: SHRUNK_FIGURE },
  shrunkWholeMoney: { numFmt: MONEY_WITHOUT_DECIMALS, alignment: SHRUNK_FIGURE },
  shrunkMoneyOfThree: { numFmt: MONEY_OF_THREE, alignment: SHRUNK_FIGURE },
  shrunkMoneyOfFour: { numFmt: MONEY_OF_FOUR, alignment: SHRUNK_FIGURE },
  money: { numFmt: MONEY, alignment: FIGURE },
  wholeMoney: { numFmt: MONEY_WITHOUT_DECIMALS, alignment: FIGURE },
  moneyOfThree: { numFmt: MONEY_OF_THREE, alignment: FIGURE },
  moneyOfFour: { numFmt: MONEY_OF_FOUR, alignment: FIGURE },
  count: { numFmt: COUNT, alignment: FIGURE },
  date: { numFmt: 'yyyy-mm-dd', alignment: FIGURE },
  /** Where a date is what the line is of. */
  dateLeft: { numFmt: 'yyyy-mm-dd', alignment: WORDS },
  instant: { numFmt: 'yyyy-mm-dd hh:mm', alignment: FIGURE },
  head: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...WORDS, vertical: 'center', wrapText: true },
  },
  headRight: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    border: HEAD_LINES,
    alignment: { ...FIGURE, vertical: 'center', wrapText: true },
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
  section: { numFmt: TEXT, font: { ...BOLD, size: 12 }, fill: 'FFDCE6EC' },
  sentence: {
    numFmt: TEXT,
    font: { size: 13 },
    alignment: { vertical: 'center', wrapText: true },
  },
  running: { numFmt: TEXT, alignment: { vertical: 'top', wrapText: true } },
  quiet: { numFmt: TEXT, font: QUIET },
  /** The same over several lines. */
  note: {
    numFmt: TEXT,
    font: QUIET,
    alignment: { vertical: 'top', wrapText: true },
  },
  test: {
    numFmt: TEXT,
    font: { ...BOLD, colour: 'FF7A4B00' },
    fill: 'FFFFE7B8',
  },
  live: { numFmt: TEXT, font: WHITE_BOLD, fill: 'FF8A1F1F' },
  blockHead: { numFmt: TEXT, font: BOLD, border: BLOCK_LINE, alignment: WORDS },
  blockHeadRight: {
    numFmt: TEXT,
    font: BOLD,
    border: BLOCK_LINE,
    alignment: FIGURE,
  },
  totalText: { numFmt: TEXT, font: BOLD, border: TOTAL_LINE, alignment: WORDS },
  totalWrapped: {
    numFmt: TEXT,
    font: BOLD,
    border: TOTAL_LINE,
    alignment: { ...WORDS, wrapText: true },
  },
  totalMoney: { numFmt: MONEY, font: BOLD, border: TOTAL_LINE, alignment: FIGURE },
  totalWholeMoney: {
    numFmt: MONEY_WITHOUT_DECIMALS,
    font: BOLD,
    border: TOTAL_LINE,
    alignment: FIGURE,
  },
  totalMoneyOfThree: { numFmt: MONEY_OF_THREE, font: BOLD, border: TOTAL_LINE, alignment: FIGURE },
  totalMoneyOfFour: { numFmt: MONEY_OF_FOUR, font: BOLD, border: TOTAL_LINE, alignment: FIGURE },
  totalCount: { numFmt: COUNT, font: BOLD, border: TOTAL_LINE, alignment: FIGURE },
  verdict: { font: { ...BOLD, colour: 'FF1E6B3A' }, alignment: { horizontal: 'left' } },
} as const satisfies Record<string, CellStyle>;

/**
 * The decimals of the currency; whole money where it has none and none of the amounts shows any.
 */
export function moneyStyle(currency: string | null, amounts: readonly string[]): CellStyle {
  const decimals = currency === null ? null : decimalsOf(currency, {});
  if (decimals === 3) return STYLES.moneyOfThree;
  if (decimals === 4) return STYLES.moneyOfFour;
  const isWhole = amounts.every((amount) => isWholeMoney(currency, amount));
  return isWhole ? STYLES.wholeMoney : STYLES.money;
}

/** The same in a total. */
export function totalMoneyStyle(currency: string | null, amounts: readonly string[]): CellStyle {
  return TOTALS.get(moneyStyle(currency, amounts)) ?? STYLES.totalMoney;
}

const TOTALS: ReadonlyMap<CellStyle, CellStyle> = new Map<CellStyle, CellStyle>([
  [STYLES.wholeMoney, STYLES.totalWholeMoney],
  [STYLES.moneyOfThree, STYLES.totalMoneyOfThree],
  [STYLES.moneyOfFour, STYLES.totalMoneyOfFour],
]);

/** The same of a figure that is longer than its column. */
export function shrunk(style: CellStyle): CellStyle {
  return SHRUNK.get(style) ?? STYLES.shrunkMoney;
}

const SHRUNK: ReadonlyMap<CellStyle, CellStyle> = new Map<CellStyle, CellStyle>([
  [STYLES.wholeMoney, STYLES.shrunkWholeMoney],
  [STYLES.moneyOfThree, STYLES.shrunkMoneyOfThree],
  [STYLES.moneyOfFour, STYLES.shrunkMoneyOfFour],
]);
