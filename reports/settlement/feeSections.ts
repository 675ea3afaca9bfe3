// The fees on the first sheet of the settlement report: what was taken and what was agreed, the
// effective rate, the fees and chargebacks that are listed against those of the payable book, and a
// picture of the fees by month, or by type where there is one month. Never added across currencies.
// Pure; neighbours: booksPage.ts, ../pictures.ts.

import { formatAmount } from '../../src/core/money.js';
import type { FeeRow } from '../../src/core/settlement/settlementReport.js';
import { labelOf } from '../../src/core/text/labels.js';
import { addPictureRoom, cellRef, PICTURE_LINES, rangeRef } from '../pictures.js';
import { freeText, hundredthsOf } from '../xlsx/cells.js';
import type { BarChart } from '../xlsx/format/chart.js';
import type { Page } from '../xlsx/page.js';
import {
  addCheck,
  addSection,
  addWide,
  endLines,
  moneyFormula,
  PAGE_COLUMNS,
  text,
} from '../xlsx/page.js';
import { moneyStyle, STYLES } from '../xlsx/styles.js';
import type { Part } from '../xlsx/totals.js';
import { matchingSum } from '../xlsx/totals.js';
import type { Listed, PayableRows } from './booksPage.js';
import { heads, inputsOf, keyOf, keysAt, liveSum, pairOf, pairsOf } from './booksPage.js';
import { CHARGEBACKS, FEES } from './settlementColumns.js';
import type { Sum, Sums } from './settlementSums.js';
import { addUp, sumOf } from './settlementSums.js';

/** Fees by account and currency; `payable` says in which row the book has them. */
export function addFees(
  page: Page,
  fees: readonly FeeRow[],
  { sums, parts }: Listed,
  payable: PayableRows,
): void {
  addSection(page, 'Fees and chargebacks, against the payable book', [
    ['Account', 'Currency', 'Captured gross', 'Fees listed', 'Fees of the book', 'Difference'],
    ['Effective rate (%)', 'Agreed', 'Variance', 'No tariff'],
    ['Chargebacks listed', 'Chargebacks of the book', 'Difference'],
  ]);
  const first = page.lines.length + 1;
  const listed = feeSums(fees);
  for (const pair of pairsOf(
    [...payable.keys()].map((key) => JSON.parse(key)),
    fees.map(pairOf),
  )) {
    const row = page.lines.length + 1;
    const book = payable.get(keyOf(pair));
    const [gross, taken, agreed, variance, untold] = NAMES.map((name) =>
      sumOf(listed, name, ...pair),
    ) as [Sum, Sum, Sum, Sum, Sum];
    const [bookFees, bookCharged] = ['fees', 'chargebacks'].map((name) => {
      return sumOf(sums.batches, name, ...pair);
    }) as [Sum, Sum];
    const charged = sumOf(sums.chargebacks, ...pair);
    const [off, chargedOff] = [taken.sum - bookFees.sum, charged.sum - bookCharged.sum];
    page.ties &&= off === 0n && chargedOff === 0n;
    const sides = [gross, taken, agreed, variance, untold, bookFees, charged, bookCharged];
    const inputs = sides.flatMap(inputsOf);
    const style = moneyStyle(pair[1], inputs);
    const ofFees = (column: string, keys = {}) =>
      matchingSum(FEES, parts.fees, column, { ...keysAt(row), ...keys });
    const ofBook = (column: string) => (book === undefined ? '0' : `${column}${book}`);
    const chargedLive = matchingSum(CHARGEBACKS, parts.chargebacks, 'amount', keysAt(row));
    page.lines.push([
      ...heads(pair),
      liveSum(ofFees('gross', { type: '"captured"' }), gross, style),
      liveSum(ofFees('fees'), taken, style),
      liveSum(`ROUND(${ofBook('E')},2)`, bookFees, style),
      moneyFormula(`ROUND(D${row}-E${row},2)`, off, inputs, style),
      moneyFormula(
        `IF(C${row}=0,0,ROUND(100*D${row}/C${row},2))`,
        percentOf(taken.sum, gross.sum),
        inputs,
        STYLES.money,
      ),
      liveSum(ofFees('agreed'), agreed, style),
      liveSum(ofFees('variance'), variance, style),
      liveSum(ofFees('without_tariff'), untold, style),
      liveSum(chargedLive, charged, style),
      liveSum(`ROUND(${ofBook('F')},2)`, bookCharged, style),
      moneyFormula(`ROUND(K${row}-L${row},2)`, chargedOff, inputs, style),
    ]);
  }
  endLines(page, first, null);
  if (payable.size + fees.length > 0)
    for (const column of ['F', 'M']) addCheck(page, column, first);
  addWide(page, FEE_WORDS, STYLES.note);
}

const NAMES = ['gross', 'fees', 'agreed', 'variance', 'withoutTariff'] as const;
const FEE_WORDS =
  'Effective rate: all fees, those on lines of their own included, in percent of what was ' +
  'captured. Agreed and variance: of the lines that settlement.tariff says something of, on the ' +
  'date of each line; no tariff: the fees of all others, whose variance nobody can say. Agreed, ' +
  'variance and no tariff make the fees listed. By month and type they stand on the sheet Fees.';

function feeSums(fees: readonly FeeRow[]): Sums {
  const sums: Sums = new Map();
  for (const row of fees) {
    const pair = pairOf(row);
    if (row.type === 'captured') addUp(sums, ['gross', ...pair], row.gross);
    for (const name of ['fees', 'agreed', 'variance', 'withoutTariff'] as const) {
      addUp(sums, [name, ...pair], row[name]);
    }
  }
  return sums;
}

/** In hundredths of a percent, half away from zero, as ROUND does. */
function percentOf(part: bigint, whole: bigint): bigint {
  if (whole === 0n) return 0n;
  const [over, under] = [part * 10_000n, whole];
  const isBelow = over < 0n !== under < 0n;
  const [top, bottom] = [over < 0n ? -over : over, under < 0n ? -under : under];
  const rounded = (2n * top + bottom) / (2n * bottom);
  return isBelow ? -rounded : rounded;
}

/** More pictures than this would not be looked at. */
const CURRENCIES_DRAWN_MAX = 2;
/** The last column of the first of two pictures. */
const SPLIT_COLUMN = 5;
const BARS = [
  { name: 'fees', heading: 'Fees', colour: '6FA0BC' },
  { name: 'agreed', heading: 'Agreed', colour: 'F3D48A' },
] as const;

/** Keeps room where there is something to draw. */
export function addFeeRoom(page: Page, fees: readonly FeeRow[]): number {
  return drawnCurrencies(fees).length === 0 ? page.lines.length : addPictureRoom(page);
}

/** The figures and the pictures over them, from this row of the sheet on. */
export function addFeePictures(
  page: Page,
  sheet: string,
  fromRow: number,
  fees: readonly FeeRow[],
  parts: readonly Part[],
): BarChart[] {
  const currencies = drawnCurrencies(fees);
  const toRow = fromRow + PICTURE_LINES;
  const by = new Set(fees.map(({ month }) => month)).size > 1 ? 'month' : 'type';
  return currencies.map((currency, at) => {
    const fromColumn = at === 0 ? 0 : SPLIT_COLUMN + 1;
    const toColumn = at === 0 && currencies.length > 1 ? SPLIT_COLUMN : PAGE_COLUMNS - 1;
    const place = { fromColumn, toColumn, fromRow, toRow };
    const mine = fees.filter((row) => row.currency === currency);
    return { ...addBars(page, sheet, { currency, by }, mine, parts), place };
  });
}

/** Those with most lines that cost something; by name where as many. */
function drawnCurrencies(fees: readonly FeeRow[]): string[] {
  const lines = new Map<string, number>();
  for (const { currency, lines: count, fees: taken } of fees) {
    if (hundredthsOf(taken) !== 0n) lines.set(currency, (lines.get(currency) ?? 0) + count);
  }
  return [...lines]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, CURRENCIES_DRAWN_MAX)
    .map(([currency]) => currency);
}

function addBars(
  page: Page,
  sheet: string,
  { currency, by }: { currency: string; by: 'month' | 'type' },
  fees: readonly FeeRow[],
  parts: readonly Part[],
): Omit<BarChart, 'place'> {
  const title = `Fees and what was agreed by ${by}, ${freeText(currency)}, all accounts`;
  const head = [by === 'month' ? 'Month' : 'Type', 'Currency', ...BARS.map((bar) => bar.heading)];
  addSection(page, title, [head]);
  const [headRow, first] = [page.lines.length, page.lines.length + 1];
  const sums: Sums = new Map();
  for (const row of fees) {
    for (const { name } of BARS) addUp(sums, [name, row[by]], row[name]);
  }
  const values = BARS.map(() => [] as number[]);
  const drawn = [...new Set(fees.map((row) => row[by]))].sort().filter((one) => {
    return BARS.some(({ name }) => sumOf(sums, name, one).sum !== 0n);
  });
  const style = moneyStyle(
    currency,
    fees.flatMap((row) => [row.fees, row.agreed ?? '0.00']),
  );
  for (const one of drawn) {
    const row = page.lines.length + 1;
    const keys = { [by]: `$A${row}`, currency: `$B${row}` };
    const cells = BARS.map(({ name }, at) => {
      const sum = sumOf(sums, name, one);
      values[at]?.push(Number(formatAmount(sum.sum)));
      return liveSum(matchingSum(FEES, parts, name, keys), sum, style);
    });
    page.lines.push([text(by === 'month' ? one : labelOf(one)), text(currency), ...cells]);
  }
  const last = page.lines.length;
  const series = BARS.map(({ heading, colour }, at) => {
    const column = at === 0 ? 'C' : 'D';
    const nameRef = cellRef(sheet, column, headRow);
    const valuesRef = rangeRef(sheet, column, first, last);
    return { name: heading, nameRef, valuesRef, values: values[at] ?? [], colour };
  });
  const categoriesRef = rangeRef(sheet, 'A', first, last);
  const categories = drawn.map((one) => (by === 'month' ? one : labelOf(one)));
  return { title, categoriesRef, categories, series };
}
