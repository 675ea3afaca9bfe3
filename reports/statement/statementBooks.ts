// The second half of a page of the statement, where books of settlement are kept: from what the
// gateway shows to what the acquirer settled and what it did not, and the closing of the settlement
// with what is open of other orders. Each sum of listed lines is live. Pure; neighbours:
// core/runs/statementBooks.ts (the figures), bookLines.ts (the lines).

import { formatAmount } from '../../src/core/money.js';
import type { Statement } from '../../src/core/runs/statement.js';
import type { BookItem } from '../../src/core/runs/statementBooks.js';
import { bookWords, isBookLine, isOpen } from '../../src/core/runs/statementBooks.js';
import { freeText } from '../xlsx/cells.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { count, money, moneyFormula } from '../xlsx/page.js';
import { moneyStyle, STYLES, totalMoneyStyle } from '../xlsx/styles.js';
import { BOOK_LINES, BOOK_LINES_NAME } from './bookLines.js';
import { listedSums } from './listedSums.js';
import type { Frame, SheetPage } from './statementPage.js';

/** Answers the rows that must be 0: none where no books are kept. `shown`: the gateway's row. */
export function addBooks(page: SheetPage, one: Statement, frame: Frame, shown: number): number[] {
  const { books, gateway, currency } = one;
  if (books === null) return [];
  const { bridge, other, closing, unexplained } = books;
  const amounts = [gateway, closing, unexplained, ...bridge, ...other].flatMap((sums) =>
    [sums.captured, sums.refunded].map(formatAmount),
  );
  const style = moneyStyle(currency, amounts);
  const bold = totalMoneyStyle(currency, amounts);
  const next = (): number => page.first + page.lines.length;
  const sumRow = (words: string, of: (column: string) => string, sums: typeof closing): number => {
    const cells = (['captured', 'refunded'] as const).map((side, at) =>
      moneyFormula(of(at === 0 ? 'C' : 'D'), sums[side], amounts, bold),
    );
    const blank = { value: '', style: STYLES.totalCount };
    page.lines.push({ cells: [{ value: words, style: STYLES.totalText }, blank, ...cells] });
    return next() - 1;
  };
  page.lines.push({ cells: [] });
  page.lines.push({
    cells: [`Settlement, books kept since ${books.from}`, 'Number', 'Captured', 'Refunded'].map(
      (value, at) => ({ value, style: at === 0 ? STYLES.head : STYLES.headRight }),
    ),
  });
  sumRow('By the gateway, as it shows', (column) => `${column}${shown}`, gateway);
  const open: number[] = [];
  const add = (item: BookItem): void => {
    if (!bridge.includes(item) || isOpen(item)) open.push(next());
    page.lines.push({ cells: itemCells(one, item, next(), { frame, amounts, style }) });
  };
  const from = next();
  for (const item of bridge) add(item);
  const until = next() - 1;
  const left = sumRow(
    'Unexplained',
    (column) => `ROUND(${column}${shown}-SUM(${column}${from}:${column}${until}),2)`,
    unexplained,
  );
  for (const item of other) add(item);
  sumRow(
    'At the gateway, not settled: the closing of the settlement',
    (column) =>
      open.length === 0 ? '0' : `ROUND(${open.map((row) => `${column}${row}`).join('+')},2)`,
    closing,
  );
  page.lines.push({ cells: [{ value: NOTE, style: STYLES.note }], isWide: true });
  return [left];
}

const NOTE =
  `What is not settled is the sum of its lines on the sheet ${BOOK_LINES_NAME}; what is settled, ` +
  "of the lines in the acquirer's files. The closing, captured less refunded, is the one of the " +
  'settlement report of this date.';

function itemCells(
  one: Statement,
  item: BookItem,
  row: number,
  { frame, amounts, style }: { frame: Frame; amounts: string[]; style: Cell['style'] },
): Cell[] {
  const name = { value: freeText(bookWords(item.item)), style: STYLES.wrapped };
  if (!isBookLine(item)) {
    const sums = [item.captured, item.refunded].map((sum) => money(formatAmount(sum), style));
    return [name, count(item.lines), ...sums];
  }
  const listed = { table: BOOK_LINES, parts: frame.bookParts, matching: frame.matching };
  return [name, ...listedSums(listed, one, { item, row }, { amounts, style })];
}
