// How cells look: one object for each look, shared by every cell that has it. The workbook library
// recognises a style by its identity; a fresh object for every cell would make it build and compare
// the style's XML each time. Data only, never changed after it is made; neighbour: workbook.ts.

import type { Borders, Fill, Style } from 'exceljs';

export type CellStyle = Partial<Style>;

const MONEY = '#,##0.00;[Red]-#,##0.00';
const MONEY_WITHOUT_DECIMALS = '#,##0;[Red]-#,##0';
const COUNT = '#,##0';
/** Text cells stay text, also when a person edits one that begins with "=". */
const TEXT = '@';

const HEAD_FILL = solid('FF1F3A4D');
const SECTION_FILL = solid('FFDCE6EC');
const TOTAL_LINE: Partial<Borders> = { top: { style: 'thin', color: { argb: 'FF1F3A4D' } } };
const WHITE_BOLD = { bold: true, color: { argb: 'FFFFFFFF' } };

export const STYLES = {
  text: { numFmt: TEXT, alignment: { vertical: 'top' } },
  wrapped: { numFmt: TEXT, alignment: { vertical: 'top', wrapText: true } },
  money: { numFmt: MONEY, alignment: { horizontal: 'right', vertical: 'top' } },
  wholeMoney: {
    numFmt: MONEY_WITHOUT_DECIMALS,
    alignment: { horizontal: 'right', vertical: 'top' },
  },
  count: { numFmt: COUNT, alignment: { horizontal: 'right', vertical: 'top' } },
  instant: {
    numFmt: 'yyyy-mm-dd hh:mm:ss',
    alignment: { horizontal: 'right', vertical: 'top' },
  },
  head: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    alignment: { vertical: 'middle', wrapText: true },
  },
  headRight: {
    font: WHITE_BOLD,
    fill: HEAD_FILL,
    alignment: { horizontal: 'right', vertical: 'middle', wrapText: true },
  },
  title: { numFmt: TEXT, font: { bold: true, size: 16 } },
  section: { numFmt: TEXT, font: { bold: true, size: 12 }, fill: SECTION_FILL },
  sentence: { numFmt: TEXT, font: { size: 12 } },
  quiet: { numFmt: TEXT, font: { italic: true, color: { argb: 'FF5A6770' } } },
  test: {
    numFmt: TEXT,
    font: { bold: true, color: { argb: 'FF7A4B00' } },
    fill: solid('FFFFE7B8'),
  },
  live: { numFmt: TEXT, font: WHITE_BOLD, fill: solid('FF8A1F1F') },
  totalText: { numFmt: TEXT, font: { bold: true }, border: TOTAL_LINE },
  totalCount: {
    numFmt: COUNT,
    font: { bold: true },
    border: TOTAL_LINE,
    alignment: { horizontal: 'right' },
  },
  totalMoney: {
    numFmt: MONEY,
    font: { bold: true },
    border: TOTAL_LINE,
    alignment: { horizontal: 'right' },
  },
  verdict: { font: { bold: true }, alignment: { horizontal: 'left' } },
} as const satisfies Record<string, CellStyle>;

/** Laid over a cell whose check fails. */
export const RED: CellStyle = {
  font: { bold: true, color: { argb: 'FFFFFFFF' } },
  fill: { type: 'pattern', pattern: 'solid', bgColor: { argb: 'FFC00000' } },
};

function solid(argb: string): Fill {
  return { type: 'pattern', pattern: 'solid', fgColor: { argb } };
}
