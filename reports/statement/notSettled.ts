// What the Summary says of the books of settlement: what is captured less refunded and not settled
// at the end of the business date, in a sentence a currency, and by account against the lines of
// the sheet Not settled. Pure; neighbours: core/runs/statementBooks.ts (what the lines are),
// bookLines.ts (their sheet).

import { formatAmount } from '../../src/core/money.js';
import type { Statement } from '../../src/core/runs/statement.js';
import type { BookLine, StatementBooks } from '../../src/core/runs/statementBooks.js';
import { bookWords, isInClosing, LISTED_APART } from '../../src/core/runs/statementBooks.js';
import { moneyIn } from '../../src/core/text/amounts.js';
import { fitsNumber, hundredthsOf } from '../xlsx/cells.js';
import type { Page } from '../xlsx/page.js';
import { addCheck, addSection, id, money, moneyFormula, text } from '../xlsx/page.js';
import { moneyStyle } from '../xlsx/styles.js';
import type { Part } from '../xlsx/totals.js';
import { matchingSum } from '../xlsx/totals.js';
import { BOOK_LINES, BOOK_LINES_NAME } from './bookLines.js';

/** What the lines of an account and currency come to that are in the closing. */
interface Listed {
  net: bigint;
  since: string | null;
  /** Amounts that stand in their cells as text; no formula can add these. */
  tooLong: string[];
}

export type ListedNotSettled = Map<string, Listed>;

export interface NotSettled {
  statements: readonly Statement[];
  listed: ListedNotSettled;
  parts: readonly Part[];
}

export function addNotSettledLines(sums: ListedNotSettled, lines: readonly BookLine[]): void {
  for (const line of lines) {
    if (!isInClosing(line)) continue;
    const key = keyOf(line);
    const sum = sums.get(key) ?? { net: 0n, since: null, tooLong: [] };
    sum.net += hundredthsOf(line.captured) - hundredthsOf(line.refunded);
    if (line.since !== null && (sum.since === null || line.since < sum.since)) {
      sum.since = line.since;
    }
    if (sum.tooLong.length === 0) {
      sum.tooLong = [line.captured, line.refunded].filter((amount) => !fitsNumber(amount));
    }
    sums.set(key, sum);
  }
}

/** One sentence a currency, over all accounts. */
export function notSettledSentences({ statements, listed }: NotSettled, date: string): string[] {
  const open = statements.filter((one) => listed.has(keyOf(one)));
  if (open.length === 0) {
    return [`Nothing that was captured or refunded is not yet settled at the end of ${date}.`];
  }
  return [...new Set(open.map(({ currency }) => currency))].sort().map((currency) => {
    const mine = open.filter((one) => one.currency === currency);
    const net = mine.reduce((sum, { books }) => sum + netOf(books), 0n);
    const [since] = mine.flatMap((one) => listed.get(keyOf(one))?.since ?? []).sort();
    const amount = moneyIn(formatAmount(net), currency);
    return (
      `Captured less refunded, and not yet settled at the end of ${date}: ${amount}, ` +
      `the oldest since ${since}. Its lines: sheet ${BOOK_LINES_NAME}.`
    );
  });
}

/** By account and currency: the closing of the statement, and what the lines come to. */
export function addNotSettled(page: Page, { statements, listed, parts }: NotSettled): void {
  addSection(page, 'Captured and not yet settled, against the sheet Not settled', [
    ['Account', 'Currency', 'Captured', 'Refunded', 'Not settled', 'Listed', 'Difference'],
  ]);
  const first = page.lines.length + 1;
  for (const one of statements) {
    const { accountId, currency, books } = one;
    if (books === null) continue;
    const row = page.lines.length + 1;
    const { captured, refunded } = books.closing;
    const { net, tooLong } = listed.get(keyOf(one)) ?? { net: 0n, tooLong: [] };
    const sides = [captured, refunded].map(formatAmount);
    const all = [...sides, formatAmount(net), ...tooLong];
    const style = moneyStyle(currency, all);
    const difference = net - netOf(books);
    page.ties &&= difference === 0n;
    page.lines.push([
      id(accountId),
      text(currency),
      ...sides.map((amount) => money(amount, style)),
      moneyFormula(`ROUND(C${row}-D${row},2)`, netOf(books), sides, style),
      moneyFormula(listedNet(parts, row), net, all, style),
      moneyFormula(`ROUND(F${row}-E${row},2)`, difference, all, style),
    ]);
  }
  addCheck(page, 'G', first);
}

/** All lines of the account and currency, but those that are in no closing. */
function listedNet(parts: readonly Part[], row: number): string {
  const keys = { account_id: `$A${row}`, currency: `$B${row}` };
  const side = (column: 'captured' | 'refunded', of: Readonly<Record<string, string>>): string =>
    matchingSum(BOOK_LINES, parts, column, of);
  const net = (of: Readonly<Record<string, string>>): string =>
    `${side('captured', of)}-${side('refunded', of)}`;
  const apart = LISTED_APART.map((item) => `-(${net({ ...keys, item: `"${bookWords(item)}"` })})`);
  return `ROUND(${net(keys)}${apart.join('')},2)`;
}

function netOf(books: StatementBooks | null): bigint {
  return books === null ? 0n : books.closing.captured - books.closing.refunded;
}

function keyOf({ accountId, currency }: Pick<Statement, 'accountId' | 'currency'>): string {
  return JSON.stringify([accountId, currency]);
}
