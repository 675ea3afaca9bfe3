// The two pictures of the first sheet and the figures under them: open breaks by age, money by
// state. Each bar is drawn from cells of the sheet, so that picture and figures cannot part. Pure;
// neighbours: chart.ts draws, summarySheet.ts says where.

import { AGES, isOfAge } from '../src/core/breaks/breakAge.js';
import { formatAmount } from '../src/core/money.js';
import type { BreakRow, ReconciliationData } from '../src/core/runs/reporting.js';
import type { OrderClass } from '../src/core/runs/summary.js';
import { ORDER_CLASSES } from '../src/core/runs/summary.js';
import { labelOf } from '../src/core/text/labels.js';
import type { Table } from './column.js';
import { BREAKS_SHEET } from './columns.js';
import { freeText, hundredthsOf } from './xlsx/cells.js';
import { columnLetters } from './xlsx/format/cellXml.js';
import type { BarChart, ChartSeries } from './xlsx/format/chart.js';
import type { Page } from './xlsx/page.js';
import { addSection, formula, money, moneyFormula, PAGE_COLUMNS, text } from './xlsx/page.js';
import { moneyStyle } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { columnRanges } from './xlsx/totals.js';

/** Lines that stay empty under the pictures. */
export const PICTURE_LINES = 14;
/** The last column of the first picture; the second takes the rest. */
const SPLIT_COLUMN = 4;

/** Apart also where a printer knows no colours. */
const COLOURS: Record<OrderClass, string> = {
  matched: 'DCE6EC',
  explained: 'CDE0C9',
  due: '6FA0BC',
  awaited: 'F3D48A',
  broken: 'C00000',
  notCompared: '5A6770',
};

/** Keeps room for the pictures here; they are drawn once their figures have a place. */
export function addPictureRoom(page: Page): number {
  const first = page.lines.length;
  for (let line = 0; line < PICTURE_LINES; line += 1) page.lines.push([]);
  return first;
}

/** The figures of both pictures, and the pictures themselves from this row of the sheet on. */
export function addPictures(
  page: Page,
  sheet: string,
  fromRow: number,
  data: ReconciliationData,
  breaks: { ages: Ages; parts: readonly Part[] },
): BarChart[] {
  const toRow = fromRow + PICTURE_LINES;
  const left = { fromColumn: 0, toColumn: SPLIT_COLUMN, fromRow, toRow };
  const right = { fromColumn: SPLIT_COLUMN + 1, toColumn: PAGE_COLUMNS - 1, fromRow, toRow };
  return [
    { ...addAges(page, sheet, breaks.ages, BREAKS_SHEET, breaks.parts), place: left },
    { ...addMoneyByState(page, sheet, data), place: right },
  ].filter(({ categories }) => categories.length > 0);
}

type Drawn = Omit<BarChart, 'place'>;

/** Open breaks by age, on the whole width of the page. */
export function addAgePicture<R extends BreakRow>(
  page: Page,
  sheet: string,
  fromRow: number,
  rows: readonly R[],
  table: Table<R>,
  parts: readonly Part[],
): BarChart {
  const toRow = fromRow + PICTURE_LINES;
  const place = { fromColumn: 0, toColumn: PAGE_COLUMNS - 1, fromRow, toRow };
  const ages = noAges();
  addToAges(ages, rows);
  return { ...addAges(page, sheet, ages, table, parts), place };
}

/** How many open breaks are of each of the ages, in their order. */
export type Ages = number[];

export function noAges(): Ages {
  return AGES.map(() => 0);
}

export function addToAges(ages: Ages, rows: readonly BreakRow[]): void {
  for (const { ageDays } of rows) {
    const at = AGES.findIndex((age) => isOfAge(ageDays, age));
    ages[at] = (ages[at] ?? 0) + 1;
  }
}

function addAges<R>(
  page: Page,
  sheet: string,
  ages: Readonly<Ages>,
  table: Table<R>,
  parts: readonly Part[],
): Drawn {
  addSection(page, 'Open breaks by age', [['Age', '', 'Open breaks']]);
  const [head, first] = [page.lines.length, page.lines.length + 1];
  for (const [index, { words, from, to }] of AGES.entries()) {
    const listed = ages[index] ?? 0;
    const counts = columnRanges(table, 'age_days', parts).map((range) => {
      const upTo = to === null ? '' : `,${range},"<=${to}"`;
      return `COUNTIFS(${range},">=${from}"${upTo})`;
    });
    page.lines.push([text(words), text(''), formula(counts.join('+'), listed)]);
  }
  const last = page.lines.length;
  const series: ChartSeries = {
    name: 'Open breaks',
    nameRef: cellRef(sheet, 'C', head),
    valuesRef: rangeRef(sheet, 'C', first, last),
    values: ages,
    colour: COLOURS.broken,
  };
  return {
    title: `Open breaks by age: ${ages.reduce((sum, one) => sum + one, 0)}`,
    categoriesRef: rangeRef(sheet, 'A', first, last),
    categories: AGES.map(({ words }) => words),
    series: [series],
    isShare: false,
  };
}

/** Matched money is left out of the picture, where all the rest would be a thin line beside it. */
const DRAWN_CLASSES = ORDER_CLASSES.filter((name) => name !== 'matched');

function addMoneyByState(page: Page, sheet: string, data: ReconciliationData): Drawn {
  const byCurrency = moneyByCurrency(data);
  const title = 'Money that is not matched, by state of its orders';
  if (byCurrency.size === 0) {
    return { title, categoriesRef: '', categories: [], series: [], isShare: true };
  }
  addSection(page, 'Money by state of its orders, all accounts', [
    ['Currency', 'Not matched', ...ORDER_CLASSES.map(headed), 'All'],
  ]);
  const [head, first] = [page.lines.length, page.lines.length + 1];
  const labels: string[] = [];
  for (const [currency, sums] of byCurrency) {
    const row = page.lines.length + 1;
    const amounts = ORDER_CLASSES.map((name) => formatAmount(sums[name]));
    const all = ORDER_CLASSES.reduce((sum, name) => sum + sums[name], 0n);
    const style = moneyStyle(currency, amounts);
    const label = freeText(`${currency}: ${shareText(all - sums.matched, all)}`);
    labels.push(label);
    page.lines.push([
      text(currency),
      text(label),
      ...amounts.map((amount) => money(amount, style)),
      moneyFormula(`ROUND(SUM(C${row}:H${row}),2)`, all, amounts, style),
    ]);
  }
  const last = page.lines.length;
  const series = DRAWN_CLASSES.map((name) => {
    const column = columnLetters(ORDER_CLASSES.indexOf(name) + 3);
    return {
      name: headed(name),
      nameRef: cellRef(sheet, column, head),
      valuesRef: rangeRef(sheet, column, first, last),
      values: [...byCurrency.values()].map((sums) => Number(formatAmount(sums[name]))),
      colour: COLOURS[name],
    };
  });
  const categoriesRef = rangeRef(sheet, 'B', first, last);
  return { title, categoriesRef, categories: labels, series, isShare: true };
}

/** In tenths of a percent; what is there at all is never shown as nothing. */
function shareText(part: bigint, all: bigint): string {
  if (all === 0n || part === 0n) return '0 %';
  const tenths = (part * 1000n + all / 2n) / all;
  return tenths === 0n ? 'under 0.1 %' : `${tenths / 10n}.${tenths % 10n} %`;
}

/** Bars beyond these are too thin to read; the figures hold all currencies. */
const CURRENCIES_DRAWN_MAX = 12;

function moneyByCurrency(data: ReconciliationData): Map<string, Record<OrderClass, bigint>> {
  const sums = new Map<string, Record<OrderClass, bigint>>();
  for (const { currency, money: amounts } of data.currencies) {
    if (currency === '' || (!sums.has(currency) && sums.size >= CURRENCIES_DRAWN_MAX)) continue;
    const of = sums.get(currency) ?? zeros();
    for (const name of ORDER_CLASSES) of[name] += hundredthsOf(amounts[name]);
    sums.set(currency, of);
  }
  return sums;
}

function zeros(): Record<OrderClass, bigint> {
  return { matched: 0n, explained: 0n, due: 0n, awaited: 0n, broken: 0n, notCompared: 0n };
}

function headed(name: OrderClass): string {
  const words = labelOf(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function cellRef(sheet: string, column: string, row: number): string {
  return `'${sheet}'!$${column}$${row}`;
}

export function rangeRef(sheet: string, column: string, first: number, last: number): string {
  return `'${sheet}'!$${column}$${first}:$${column}$${last}`;
}
