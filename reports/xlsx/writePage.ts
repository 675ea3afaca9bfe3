// Writes a sheet that was made in memory as lines of a page: the first sheets of our workbooks.
// Neighbours: page.ts (the lines), workbook.ts (the sheet).

import { lineHeight, rowHeight } from './columnWidths.js';
import type { BarChart } from './format/chart.js';
import type { Page } from './page.js';
import { PAGE_COLUMNS, pageWidths } from './page.js';
import { pageBreaks } from './pageBreaks.js';
import type { Book } from './workbook.js';
import { closeSheet, openSheet, putRow } from './workbook.js';

interface PageSheet {
  name: string;
  page: Page;
  charts: readonly BarChart[];
  frozenRows: number;
  repeatedRows: string;
  /** What the page's verdict says while everything ties. */
  ties: string;
}

/** Of a line without a cell, between sections or under pictures: it is not written. */
const EMPTY_POINTS = 15;

export async function writePage(book: Book, one: PageSheet): Promise<void> {
  const { page, frozenRows, repeatedRows, charts } = one;
  const widths = pageWidths(page);
  const sheet = await openSheet(book, one.name, {
    widths,
    frozenRows,
    frozenColumns: 0,
    repeatedRows,
  });
  const whole = [widths.reduce((sum, width) => sum + width, 0)];
  const heights = page.lines.map((line, index) => {
    const isWide = page.wide.has(index + 1);
    // Told for every line: each reader has a height of its own for those without.
    const wrapped = isWide ? rowHeight(line.slice(0, 1), whole) : rowHeight(line, widths);
    return line.length === 0 ? EMPTY_POINTS : Math.max(wrapped ?? 0, ...line.map(lineHeight));
  });
  const breaks = pageBreaks({
    ...{ heights, widths, sections: page.sections },
    repeatedLines: Number(repeatedRows.split(':')[1]),
  });
  for (const [index, line] of page.lines.entries()) {
    await putRow(sheet, line, {
      height: line.length === 0 ? null : (heights[index] ?? null),
      endsPage: breaks.includes(index + 1),
      ...(page.wide.has(index + 1) && { mergedColumns: PAGE_COLUMNS }),
    });
  }
  const verdict = page.verdict === '' ? {} : { textOrRed: { ref: page.verdict, text: one.ties } };
  await closeSheet(sheet, { zeroOrRed: page.checks, ...verdict, charts });
}
