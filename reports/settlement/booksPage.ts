// The three books on the first sheet of the settlement report: how each leads from opening to
// closing, and its closing against the open items, in all and by age. Every figure is a live
// formula over the sheet that lists its rows, and every check can fail. Pure; neighbours:
// settlementPage.ts puts the sheet together, settlementSums.ts has the sums.

import { AGES } from '../../src/core/breaks/breakAge.js';
import { formatAmount } from '../../src/core/money.js';
import type {
  GatewayDay,
  OpenBook,
  SettlementReportData,
} from '../../src/core/settlement/settlementReport.js';
import { dateCell, hundredthsOf } from '../xlsx/cells.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { columnLetters } from '../xlsx/format/cellXml.js';
import type { CellStyle } from '../xlsx/format/styleSheet.js';
import type { Page } from '../xlsx/page.js';
import {
  addSection,
  addWide,
  count,
  endLines,
  id,
  money,
  moneyFormula,
  text,
} from '../xlsx/page.js';
import { moneyStyle, STYLES } from '../xlsx/styles.js';
import type { Part } from '../xlsx/totals.js';
import { matchingSum } from '../xlsx/totals.js';
import { BATCHES, BOOK_WORDS, GATEWAY_DAYS, OPEN_ITEMS } from './settlementColumns.js';
import type { ListedSums, Sum, Sums } from './settlementSums.js';
import { addUp, BATCH_SUMS, oldestOf, sumOf } from './settlementSums.js';

/** Where the rows of the other sheets will stand. */
interface SettlementParts {
  readonly open: readonly Part[];
  readonly days: readonly Part[];
  readonly batches: readonly Part[];
  readonly fees: readonly Part[];
  readonly chargebacks: readonly Part[];
  readonly breaks: readonly Part[];
  readonly files: readonly Part[];
}

/** An account and a currency. */
export type Pair = readonly [accountId: string, currency: string];

/** The closing of a book, and the cell that has it. */
interface Closing {
  readonly book: OpenBook;
  readonly pair: Pair;
  readonly row: number;
  readonly cell: string;
  readonly sum: Sum;
}

/** The rows of the payable book by account and currency, for what is held against them. */
export type PayableRows = ReadonlyMap<string, number>;

export interface Listed {
  readonly sums: ListedSums;
  readonly parts: SettlementParts;
}

export function addBooks(page: Page, data: SettlementReportData, listed: Listed): PayableRows {
  const atGateway = addGateway(page, data, listed);
  const payable = addPayable(page, data, listed);
  const bank = addBank(page, data, listed);
  addAges(page, [...atGateway, ...payable, ...bank], listed);
  return new Map(payable.map(({ pair, row }) => [keyOf(pair), row]));
}

/** What moved, and the column of the sheet that lists it by date. */
const FLOWS = [
  ['capturedHere', 'captured_here', 1n],
  ['capturedElsewhere', 'captured_elsewhere', 1n],
  ['refundedHere', 'refunded_here', -1n],
  ['refundedElsewhere', 'refunded_elsewhere', -1n],
  ['settled', 'settled', -1n],
] as const;

function addGateway(
  page: Page,
  { days, from }: SettlementReportData,
  { sums, parts }: Listed,
): Closing[] {
  addSection(page, 'At the gateway: opening + captured − refunded − settled = closing', [
    ['Account', 'Currency', 'Opening', 'Captured here', 'Captured elsewhere', 'Refunded here'],
    ['Refunded elsewhere', 'Settled', 'Closing', 'Open items', 'Difference', 'In suspense'],
    ['Oldest since'],
  ]);
  const first = page.lines.length + 1;
  const pairs = pairsOf(days.map(pairOf), openPairs(sums, 'atGateway'));
  const closings = pairs.map((pair): Closing => {
    const mine = days.filter((day) => keyOf(pairOf(day)) === keyOf(pair));
    const row = page.lines.length + 1;
    const flows = flowsOf(mine.filter((day) => day.on !== null));
    const opening = openingOf(mine.filter((day) => day.on === null));
    const open = sumOf(sums.open, 'atGateway', ...pair);
    const closing = FLOWS.reduce((all, [name, , sign]) => {
      return all + sign * sumOf(flows, name).sum;
    }, opening.sum);
    const inputs = [...opening.inputs, ...FLOWS.flatMap(([name]) => sumOf(flows, name).inputs)];
    const style = moneyStyle(pair[1], [...inputs, ...open.inputs]);
    const difference = closing - open.sum;
    page.ties &&= difference === 0n;
    page.lines.push([
      ...heads(pair),
      money(formatAmount(opening.sum), style),
      ...FLOWS.map(([name, column]) => {
        const live = matchingSum(GATEWAY_DAYS, parts.days, column, keysAt(row));
        return liveSum(live, sumOf(flows, name), style);
      }),
      moneyFormula(
        `ROUND(C${row}+D${row}+E${row}-F${row}-G${row}-H${row},2)`,
        closing,
        inputs,
        style,
      ),
      listedCell('atGateway', row, open, parts, style),
      moneyFormula(`ROUND(I${row}-J${row},2)`, difference, [...inputs, ...open.inputs], style),
      count(mine.reduce((all, { suspense }) => all + suspense, 0)),
      oldestCell(oldestOf(sums, 'atGateway', ...pair)),
    ]);
    const sum = { sum: closing, inputs: [formatAmount(closing), ...inputs] };
    return { book: 'atGateway', pair, row, cell: `I${row}`, sum };
  });
  endLines(page, first, 'K');
  const words =
    'Opening: what stood open before the period, nothing before ' +
    `${from}. Here: by instructions of ours; elsewhere: by the shop or at the portal. Settled: ` +
    'lines of captures and refunds in the acquirer’s files. In suspense: refunds made elsewhere ' +
    'whose amount nobody knows yet; they are in no sum. Day by day they stand on the sheet of ' +
    'that name.';
  addWide(page, words, STYLES.note);
  return closings;
}

function flowsOf(days: readonly GatewayDay[]): Sums {
  const sums: Sums = new Map();
  for (const day of days) for (const [name] of FLOWS) addUp(sums, [name], day[name]);
  return sums;
}

function openingOf(before: readonly GatewayDay[]): Sum {
  const flows = flowsOf(before);
  const sum = FLOWS.reduce((all, [name, , sign]) => all + sign * sumOf(flows, name).sum, 0n);
  return { sum, inputs: [formatAmount(sum)] };
}

function addPayable(
  page: Page,
  { openings }: SettlementReportData,
  { sums, parts }: Listed,
): Closing[] {
  addSection(page, 'Payable: how the settled gross became the payout', [
    ['Account', 'Currency', 'Opening', 'Gross', 'Fees', 'Chargebacks', 'Other', 'Paid out'],
    ['Closing', 'Open items', 'Difference', 'Oldest since'],
  ]);
  const first = page.lines.length + 1;
  const closings = bookPairs(openings, sums).map((pair): Closing => {
    const row = page.lines.length + 1;
    const before = openings.find((one) => keyOf(pairOf(one)) === keyOf(pair));
    const opening = before?.payable ?? '0.00';
    const [gross, fees, chargebacks, other, paidOut] = PAYABLE.map((name) => {
      return sumOf(sums.batches, name, ...pair);
    }) as [Sum, Sum, Sum, Sum, Sum];
    const open = sumOf(sums.open, 'payable', ...pair);
    const closing =
      hundredthsOf(opening) + gross.sum - fees.sum - chargebacks.sum + other.sum - paidOut.sum;
    const difference = closing - open.sum;
    page.ties &&= difference === 0n;
    const inputs = [opening, ...[gross, fees, chargebacks, other, paidOut].flatMap(inputsOf)];
    const style = moneyStyle(pair[1], [...inputs, ...open.inputs]);
    const tie = `ROUND(C${row}+D${row}-E${row}-F${row}+G${row}-H${row},2)`;
    page.lines.push([
      ...heads(pair),
      money(opening, style),
      ...batchCells(PAYABLE, pair, row, { sums, parts }, style),
      moneyFormula(tie, closing, inputs, style),
      listedCell('payable', row, open, parts, style),
      moneyFormula(`ROUND(I${row}-J${row},2)`, difference, [...inputs, ...open.inputs], style),
      oldestCell(oldestOf(sums, 'payable', ...pair)),
    ]);
    const sum = { sum: closing, inputs: [formatAmount(closing), ...inputs] };
    return { book: 'payable', pair, row, cell: `I${row}`, sum };
  });
  endLines(page, first, 'K');
  const words =
    'Closing = opening + gross − fees − chargebacks + other − paid out: what is settled and not ' +
    'yet paid out; a batch that is over must come to 0.00. Gross: of captured and refunded ' +
    'lines. Other: reserves, balances carried over, adjustments.';
  addWide(page, words, STYLES.note);
  return closings;
}

function oldestCell(oldest: string | null): Cell | null {
  return oldest === null ? null : { value: dateCell(oldest), style: STYLES.date };
}

const PAYABLE = ['gross', 'fees', 'chargebacks', 'other', 'paidOut'] as const;
const BANK = ['paidOut', 'arrived'] as const;

function addBank(
  page: Page,
  { openings }: SettlementReportData,
  { sums, parts }: Listed,
): Closing[] {
  addSection(page, 'To arrive at the bank: opening + paid out − arrived = closing', [
    ['Account', 'Currency', 'Opening', 'Paid out', 'Arrived', 'Closing', 'Open items'],
    ['Difference', 'Oldest since'],
  ]);
  const first = page.lines.length + 1;
  const closings = bookPairs(openings, sums).map((pair): Closing => {
    const row = page.lines.length + 1;
    const before = openings.find((one) => keyOf(pairOf(one)) === keyOf(pair));
    const opening = before?.bank ?? '0.00';
    const [paidOut, arrived] = BANK.map((name) => sumOf(sums.batches, name, ...pair)) as [Sum, Sum];
    const open = sumOf(sums.open, 'bank', ...pair);
    const closing = hundredthsOf(opening) + paidOut.sum - arrived.sum;
    const difference = closing - open.sum;
    page.ties &&= difference === 0n;
    const inputs = [opening, ...paidOut.inputs, ...arrived.inputs];
    const style = moneyStyle(pair[1], [...inputs, ...open.inputs]);
    page.lines.push([
      ...heads(pair),
      money(opening, style),
      ...batchCells(BANK, pair, row, { sums, parts }, style),
      moneyFormula(`ROUND(C${row}+D${row}-E${row},2)`, closing, inputs, style),
      listedCell('bank', row, open, parts, style),
      moneyFormula(`ROUND(F${row}-G${row},2)`, difference, [...inputs, ...open.inputs], style),
      oldestCell(oldestOf(sums, 'bank', ...pair)),
    ]);
    const sum = { sum: closing, inputs: [formatAmount(closing), ...inputs] };
    return { book: 'bank', pair, row, cell: `F${row}`, sum };
  });
  endLines(page, first, 'H');
  addWide(page, 'Statements of the bank are not read yet: nothing has arrived.', STYLES.note);
  return closings;
}

/** Each closing by the age of its items, at the end of the period. */
function addAges(page: Page, closings: readonly Closing[], { sums, parts }: Listed): void {
  addSection(page, 'Open items by age', [
    ['Account', 'Currency', 'Book', ...AGES.map(({ words }) => words), 'All', 'Closing'],
    ['Difference'],
  ]);
  const first = page.lines.length + 1;
  for (const { book, pair, cell, sum } of closings) {
    const row = page.lines.length + 1;
    const aged = AGES.map(({ words }) => sumOf(sums.ages, book, ...pair, words));
    const all = aged.reduce((total, one) => total + one.sum, 0n);
    const inputs = aged.flatMap(inputsOf);
    const difference = all - sum.sum;
    page.ties &&= difference === 0n;
    const style = moneyStyle(pair[1], [...inputs, ...sum.inputs]);
    page.lines.push([
      ...heads(pair),
      text(BOOK_WORDS[book]),
      ...AGES.map(({ words }, at) => {
        const keys = { ...keysAt(row), book: `$C${row}`, age: `"${words}"` };
        const live = matchingSum(OPEN_ITEMS, parts.open, 'amount', keys);
        return liveSum(live, aged[at] as Sum, style);
      }),
      moneyFormula(`ROUND(SUM(D${row}:H${row}),2)`, all, inputs, style),
      moneyFormula(`ROUND(${cell},2)`, sum.sum, sum.inputs, style),
      moneyFormula(`ROUND(I${row}-J${row},2)`, difference, [...inputs, ...sum.inputs], style),
    ]);
  }
  endLines(page, first, 'K');
}

function batchCells(
  names: readonly (keyof typeof BATCH_SUMS)[],
  pair: Pair,
  row: number,
  { sums, parts }: Listed,
  style: CellStyle,
): Cell[] {
  return names.map((name) => {
    const live = matchingSum(BATCHES, parts.batches, BATCH_SUMS[name], keysAt(row));
    return liveSum(live, sumOf(sums.batches, name, ...pair), style);
  });
}

function listedCell(
  book: OpenBook,
  row: number,
  open: Sum,
  parts: SettlementParts,
  style: CellStyle,
): Cell {
  const keys = { ...keysAt(row), book: `"${BOOK_WORDS[book]}"` };
  return liveSum(matchingSum(OPEN_ITEMS, parts.open, 'amount', keys), open, style);
}

/** A live sum over listed rows. */
export function liveSum(formula: string, { sum, inputs }: Sum, style: CellStyle): Cell {
  return moneyFormula(formula, sum, inputs, style);
}

export function inputsOf({ inputs }: Sum): readonly string[] {
  return inputs;
}

export function keysAt(row: number): Record<string, string> {
  return { account_id: `$${columnLetters(1)}${row}`, currency: `$${columnLetters(2)}${row}` };
}

export function heads([accountId, currency]: Pair): Cell[] {
  return [id(accountId), text(currency)];
}

export function pairOf({ accountId, currency }: { accountId: string; currency: string }): Pair {
  return [accountId, currency];
}

export function keyOf(pair: Pair): string {
  return JSON.stringify(pair);
}

/** Each once, by account and currency. */
export function pairsOf(...lists: readonly (readonly Pair[])[]): Pair[] {
  const keys = [...new Set(lists.flat().map(keyOf))].sort();
  return keys.map((key) => JSON.parse(key) as Pair);
}

function openPairs({ open }: ListedSums, book: OpenBook): Pair[] {
  const keys = [...open.keys()].map((key) => JSON.parse(key) as [string, string, string]);
  return keys.filter(([of]) => of === book).map(([, ...pair]) => pair);
}

function bookPairs(openings: SettlementReportData['openings'], sums: ListedSums): Pair[] {
  const batches = [...sums.batches.keys()].map((key) => JSON.parse(key) as string[]);
  return pairsOf(
    openings.map(pairOf),
    batches.map(([, accountId = '', currency = '']): Pair => [accountId, currency]),
    openPairs(sums, 'payable'),
    openPairs(sums, 'bank'),
  );
}
