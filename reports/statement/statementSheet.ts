// The first sheet of the nightly workbook: the statement that one signs, a page for each account
// and currency. From what the ledger says to what the gateway says by named items, each a live sum
// over the lines of the sheet Statement lines; what no line explains stands in a cell that turns
// red. It decides nothing. Neighbours: core/runs/statement.ts (the figures), statementLines.ts (the
// lines).

import { formatAmount } from '../../src/core/money.js';
import type { Signing } from '../../src/core/runs/businessDay.js';
import { SIGNING_BOXES, signingWords } from '../../src/core/runs/businessDay.js';
import { movedWords, onPage } from '../../src/core/runs/closingChecklist.js';
import type { AboutData } from '../../src/core/runs/reporting.js';
import { isSignedAs } from '../../src/core/runs/sinceClosed.js';
import type { Statement } from '../../src/core/runs/statement.js';
import { isExplained, itemWords } from '../../src/core/runs/statement.js';
import { freeText, idText, wallClock, wallText } from '../xlsx/cells.js';
import { linkCell } from '../xlsx/columnCell.js';
import { LINE_POINTS, lineHeight, rowHeight } from '../xlsx/columnWidths.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import type { CellStyle } from '../xlsx/format/styleSheet.js';
import { count, money, moneyFormula, zeroTerm } from '../xlsx/page.js';
import { moneyStyle, STYLES, totalMoneyStyle } from '../xlsx/styles.js';
import type { Book } from '../xlsx/workbook.js';
import { closeSheet, openSheet, putRow } from '../xlsx/workbook.js';
import { listedSums } from './listedSums.js';
import { addBooks } from './statementBooks.js';
import { LINES_NAME, MOVED_HEADINGS, STATEMENT_LINES } from './statementLines.js';
import type { Frame, SheetPage } from './statementPage.js';

const STATEMENT_NAME = 'Statement';
/** What it is, orders, captured, refunded: so wide that each page is as wide as the paper. */
const WIDTHS = [64, 14, 24, 24];

const EXPLAINED = 'Unexplained: 0.00. Every difference is a line of the sheet Statement lines.';
const EXPLAINED_WITH_BOOKS =
  'Unexplained: 0.00. Every difference is a line of the sheet Statement lines, and what is not ' +
  'settled one of the sheet Not settled.';
const NOT_EXPLAINED = 'UNEXPLAINED MONEY: do not sign. See the red cells.';

const MOVED_ORDERS =
  `Its orders: sheet ${LINES_NAME}, columns ${MOVED_HEADINGS.capture} and ` +
  `${MOVED_HEADINGS.refund}.`;

/**
 * Answers a term that must be 0: how many of its pages say that money is unexplained. One for all,
 * since a formula that names each page is too long for a spreadsheet where accounts are many.
 */
export async function writeStatement(
  book: Book,
  statements: readonly Statement[],
  frame: Omit<Frame, 'matching'>,
): Promise<string> {
  const matching = statements.every(isPlain) ? 'words' : 'exact';
  const pages: SheetPage[] = [];
  let first = 2;
  for (const [at, one] of statements.entries()) {
    const movedAfter = onPage(frame.movedAfter, statements, at);
    const page = pageOf(one, { ...frame, matching, movedAfter }, first);
    pages.push(page);
    first += page.lines.length;
  }
  const heading = headingOf(frame.about);
  const widths = widthsFor(pages, lineHeight(heading));
  const sheet = await openSheet(book, STATEMENT_NAME, {
    widths,
    frozenRows: 1,
    frozenColumns: 0,
    repeatedRows: '1:1',
  });
  await putRow(sheet, [heading]);
  if (statements.length === 0) await putRow(sheet, [said('No order in any currency.')]);
  for (const [at, { lines }] of pages.entries()) {
    for (const [index, line] of lines.entries()) {
      await putRow(sheet, line.cells, {
        height: heightOf(line, widths),
        ...(line.isWide ? { mergedColumns: widths.length } : {}),
        endsPage: index === lines.length - 1 && at < pages.length - 1,
      });
    }
  }
  const checks = pages.flatMap((page) => page.checks);
  await closeSheet(sheet, { zeroOrRed: checks });
  const verdicts = `'${STATEMENT_NAME}'!$A$1:$A$${first}`;
  return `SUMPRODUCT(--EXACT(${verdicts},"${NOT_EXPLAINED}"))`;
}

function heightOf(
  { cells, isWide }: SheetPage['lines'][number],
  widths: readonly number[],
): number {
  const wrapped = rowHeight(cells, isWide ? [sumOf(widths)] : widths) ?? 0;
  return Math.max(wrapped, ...cells.map(lineHeight));
}

/** What A4 across leaves for rows, and the width that goes with it, in characters. */
const PRINTED = { points: 515, characters: 149 };
/** Smaller than so nobody reads it: then a page becomes two. */
const SCALE_MIN = 0.65;

/**
 * A sheet is printed as wide as the paper: where its highest page would not stand on one, wider
 * columns make it as much smaller, so that who signs has the figures beside the boxes.
 */
function widthsFor(pages: readonly SheetPage[], repeated: number): readonly number[] {
  const heights = pages.map(({ lines }) =>
    sumOf(lines.map((line) => heightOf(line, WIDTHS) || LINE_POINTS)),
  );
  const highest = Math.max(0, ...heights) + repeated;
  if (highest <= PRINTED.points) return WIDTHS;
  const smaller = Math.max(PRINTED.points / highest, SCALE_MIN);
  const wider = PRINTED.characters / smaller / sumOf(WIDTHS);
  return WIDTHS.map((width) => Math.ceil(width * wider));
}

/** A spreadsheet compares such keys as we do: no number, no wildcard, no other case. */
const PLAIN_ACCOUNT = /^[A-Z][A-Z0-9_-]*$/;
const PLAIN_CURRENCY = /^[A-Z]{3}$/;

function isPlain({ accountId, currency }: Statement): boolean {
  return PLAIN_ACCOUNT.test(accountId) && PLAIN_CURRENCY.test(currency);
}

function headingOf({ businessDate, environment }: AboutData): Cell {
  const isLive = environment === 'live';
  const words = isLive ? 'LIVE environment: real money' : 'TEST environment: no real money';
  return {
    value: freeText(`Reconciliation ${businessDate} · ${words}`),
    style: isLive ? STYLES.live : STYLES.test,
  };
}

function pageOf(one: Statement, frame: Frame, first: number): SheetPage {
  const page: SheetPage = { first, lines: [], checks: [] };
  const { accountId, currency } = one;
  const { about } = frame;
  const asOf = wallText(wallClock(about.timezone), about.asOf);
  wide(page, `Statement of account ${idText(accountId)} in ${currency}`, STYLES.title);
  wide(
    page,
    `Business date ${about.businessDate}, revision ${about.revision}; checked at ${asOf} ` +
      `${about.timezone}. Orders of this run, each counted once.`,
    STYLES.running,
  );
  const verdictRow = nextOf(page);
  wide(page, '', STYLES.verdict);
  page.lines.push({
    cells: ['', 'Orders', 'Captured', 'Refunded'].map((value, at) => ({
      value,
      style: at === 0 ? STYLES.head : STYLES.headRight,
    })),
  });
  const bridge = addBridge(page, one, frame);
  const bottoms = [bridge.bottom, ...addBooks(page, one, frame, bridge.shown)];
  page.checks.push(...bottoms.map((bottom) => `C${bottom}:D${bottom}`));
  const left = page.checks.map(zeroTerm).join('+');
  const words = one.books === null ? EXPLAINED : EXPLAINED_WITH_BOOKS;
  const verdict = `IF(${left}=0,"${words}","${NOT_EXPLAINED}")`;
  const [cell] = page.lines[verdictRow - first]?.cells ?? [];
  if (cell) {
    cell.value = { formula: verdict, result: isExplained(one) ? words : NOT_EXPLAINED };
  }
  for (const words of movedWords(frame.movedAfter)) {
    wide(page, `Moved ${words}. ${MOVED_ORDERS}`, STYLES.note);
  }
  addBoxes(page, one, frame);
  return page;
}

/** From the ledger to the gateway; the row of what it shows, and that of what is left. */
function addBridge(
  page: SheetPage,
  one: Statement,
  frame: Frame,
): { shown: number; bottom: number } {
  const { ledger, gateway, items, unexplained, currency } = one;
  const amounts = [ledger, gateway, unexplained, ...items].flatMap(({ captured, refunded }) =>
    [captured, refunded].map(formatAmount),
  );
  const style = moneyStyle(currency, amounts);
  const bold = totalMoneyStyle(currency, amounts);
  const from = nextOf(page);
  const side = (words: string, { orders, captured, refunded }: Statement['ledger']): void => {
    const cells = [captured, refunded].map((sum) => money(formatAmount(sum), bold));
    page.lines.push({ cells: [strong(words), counted(orders), ...cells] });
  };
  side('By the ledger', ledger);
  for (const item of items) addItem(page, one, item, { style, frame, amounts });
  const until = nextOf(page) - 1;
  const sum = {
    captured: gateway.captured - unexplained.captured,
    refunded: gateway.refunded - unexplained.refunded,
  };
  const row = (words: string, formulas: [string, string], [c, r]: [bigint, bigint]): number => {
    const cells = [
      moneyFormula(formulas[0], c, amounts, bold),
      moneyFormula(formulas[1], r, amounts, bold),
    ];
    page.lines.push({ cells: [strong(words), counted(null), ...cells] });
    return nextOf(page) - 1;
  };
  const worked = row(
    'By the gateway, worked out: the ledger and the lines above',
    [`ROUND(SUM(C${from}:C${until}),2)`, `ROUND(SUM(D${from}:D${until}),2)`],
    [sum.captured, sum.refunded],
  );
  side('By the gateway, as it shows', gateway);
  const shown = nextOf(page) - 1;
  const bottom = row(
    'Unexplained',
    [`ROUND(C${shown}-C${worked},2)`, `ROUND(D${shown}-D${worked},2)`],
    [unexplained.captured, unexplained.refunded],
  );
  return { shown, bottom };
}

function addItem(
  page: SheetPage,
  one: Statement,
  item: Statement['items'][number],
  { style, frame, amounts }: { style: CellStyle; frame: Frame; amounts: readonly string[] },
): void {
  const listed = { table: STATEMENT_LINES, parts: frame.parts, matching: frame.matching };
  const name = { value: freeText(itemWords(item.item)), style: STYLES.wrapped };
  const sums = listedSums(listed, one, { item, row: nextOf(page) }, { amounts, style });
  page.lines.push({ cells: [name, ...sums] });
}

/** Who signs, beside what they sign: who signed the day already, or a line for a signature. */
function addBoxes(
  page: SheetPage,
  one: Statement,
  { about, signings: ofAccounts, signedFigures }: Frame,
): void {
  const { accountId } = one;
  const { businessDate, revision, consoleAddress, timezone } = about;
  const signings = ofAccounts.get(accountId) ?? [];
  wide(page, NOTE, STYLES.note);
  const day = `/days/${encodeURIComponent(accountId)}/${businessDate}`;
  page.lines.push({
    cells: [consoleAddress === null ? said(SIGNED_AT) : linkCell(consoleAddress + day, SIGNED_AT)],
    isWide: true,
  });
  page.lines.push({ cells: [] });
  for (const { event, box, what } of SIGNING_BOXES) {
    const found = signings.findLast((one) => one.event === event);
    if (found === undefined) {
      const words = `${box} by, date, signature (${businessDate}, revision ${revision})`;
      page.lines.push({ cells: [strong(words), strong(''), strong(''), strong('')] });
    } else {
      const at = `${wallText(wallClock(timezone), new Date(found.at))} ${timezone}`;
      const isOther = isOtherwise(one, found, signedFigures);
      const words = `${box}: ${what} ${signingWords(found, at)}${isOther ? OTHERWISE : ''}`;
      wide(page, words, STYLES.totalWrapped);
    }
    page.lines.push({ cells: [] });
  }
}

const OTHERWISE = ', which has OTHER FIGURES than this page';

function isOtherwise(one: Statement, { revision }: Signing, kept: Frame['signedFigures']): boolean {
  return revision !== null && isSignedAs(one, revision, kept) === false;
}

const SIGNED_AT =
  'Whether this day can be signed, what speaks against it and who signed it: its page in the ' +
  'console, under Days.';

const NOTE =
  `Each item is the sum of its lines on the sheet ${LINES_NAME} (gateway − ledger). By the ` +
  'ledger: what is to be captured of orders that it expects captured, and the refunds asked of ' +
  'them. By ' +
  'the gateway: what it shows as taken and given back; of a partial refund, whose amount it does ' +
  'not show, the requests that count as done. The file of all orders adds both up order by order.';

function nextOf(page: SheetPage): number {
  return page.first + page.lines.length;
}

function wide(page: SheetPage, value: string, style: CellStyle): void {
  page.lines.push({ cells: [{ value: freeText(value), style }], isWide: true });
}

function said(value: string): Cell {
  return { value: freeText(value), style: STYLES.text };
}

function strong(value: string): Cell {
  return { value: freeText(value), style: STYLES.totalText };
}

function counted(orders: number | null): Cell {
  return orders === null ? strong('') : { ...count(orders), style: STYLES.totalCount };
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}
