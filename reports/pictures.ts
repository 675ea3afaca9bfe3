// The pictures of the first sheet and the figures under them: open breaks by night and by age, and
// of the currencies that matter most what is not matched and what is at stake. Each bar shows a
// size, in the currency that its title names, and is drawn from cells of the sheet, so that picture
// and figures cannot part. Pure; neighbours: chart.ts draws, summarySheet.ts says where.

import { AGES, isOfAge } from '../src/core/breaks/breakAge.js';
import { formatAmount } from '../src/core/money.js';
import type { BreakRow, NightMark, ReconciliationData } from '../src/core/runs/reporting.js';
import type { OrderClass } from '../src/core/runs/summary.js';
import { ORDER_CLASSES } from '../src/core/runs/summary.js';
import { moreOf } from '../src/core/text/amounts.js';
import { classLabel } from '../src/core/text/labels.js';
import type { Table } from './column.js';
import { BREAKS_SHEET } from './columns.js';
import { fitsNumber, freeText, hundredthsOf } from './xlsx/cells.js';
import { columnLetters } from './xlsx/format/cellXml.js';
import type { BarChart, ChartSeries } from './xlsx/format/chart.js';
import type { Page } from './xlsx/page.js';
import {
  addSection,
  count,
  formula,
  money,
  moneyFormula,
  PAGE_COLUMNS,
  text,
} from './xlsx/page.js';
import { moneyStyle } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { columnRanges } from './xlsx/totals.js';

/** Lines that stay empty under the pictures. */
export const PICTURE_LINES = 14;
/** The last column of the first picture; the second takes the rest. */
const SPLIT_COLUMN = 4;

/** Apart also where a printer knows no colours. */
const COLOURS = { due: '6FA0BC', broken: 'C00000' };

/** Keeps room for so many lines of pictures; they are drawn once their figures have a place. */
export function addPictureRoom(page: Page, rows = 1): number {
  const first = page.lines.length;
  for (let row = 0; row < rows; row += 1) {
    // No picture is cut by the end of a page; the first stand below the heading.
    if (row > 0) page.sections.push(page.lines.length + 1);
    for (let line = 0; line < PICTURE_LINES; line += 1) page.lines.push([]);
  }
  return first;
}

/** How many lines of pictures the first sheet has: nights and ages, then one for each currency. */
export function pictureRows({ currencies }: Pick<ReconciliationData, 'currencies'>): number {
  return 1 + drawnCurrencies(currencies).length;
}

/** What is drawn of the breaks that the workbook lists. */
interface DrawnBreaks {
  ages: Ages;
  stakes: Stakes;
  parts: readonly Part[];
}

/** The figures of the pictures, and the pictures themselves from this row of the sheet on. */
export function addPictures(
  page: Page,
  sheet: string,
  fromRow: number,
  data: ReconciliationData,
  breaks: DrawnBreaks,
): BarChart[] {
  const drawnFirst = drawnCurrencies(data.currencies);
  const money = new Map(addMoneyByState(page, sheet, data, drawnFirst));
  const byAge = new Map(addMoneyByAge(page, sheet, breaks, drawnFirst));
  const rows = [
    [
      addNights(page, sheet, data.nights ?? []),
      addAges(page, sheet, breaks.ages, BREAKS_SHEET, breaks.parts),
    ],
    ...drawnFirst.map((currency) => [money.get(currency), byAge.get(currency)]),
  ];
  return rows.flatMap((drawn, at) => {
    const top = fromRow + at * PICTURE_LINES;
    const place = { fromRow: top, toRow: top + PICTURE_LINES };
    return drawn.flatMap((one, column) => {
      if (one === undefined || one.categories.length === 0) return [];
      const [fromColumn, toColumn] = SIDES[column] ?? SIDES[0];
      return [{ ...one, place: { ...place, fromColumn, toColumn } }];
    });
  });
}

const SIDES = [
  [0, SPLIT_COLUMN],
  [SPLIT_COLUMN + 1, PAGE_COLUMNS - 1],
] as const;

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
    const at = placeOfAge(ageDays);
    ages[at] = (ages[at] ?? 0) + 1;
  }
}

function placeOfAge(ageDays: number): number {
  return AGES.findIndex((age) => isOfAge(ageDays, age));
}

/** By currency what is at stake in breaks of each age, and an amount that no formula can add. */
export type Stakes = Map<string, { sums: bigint[]; tooLong: string | null }>;

export function addToStakes(stakes: Stakes, rows: readonly BreakRow[]): void {
  for (const { ageDays, currency, stake } of rows) {
    if (stake === null || currency === null) continue;
    const of = stakes.get(currency) ?? { sums: AGES.map(() => 0n), tooLong: null };
    const at = placeOfAge(ageDays);
    of.sums[at] = (of.sums[at] ?? 0n) + hundredthsOf(stake);
    if (!fitsNumber(stake)) of.tooLong ??= stake;
    stakes.set(currency, of);
  }
}

type Drawn = Omit<BarChart, 'place'>;

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
  };
}

/** How many breaks were open at the end of each of the last nights. */
function addNights(page: Page, sheet: string, nights: readonly NightMark[]): Drawn {
  const title = `Open breaks at the end of the last nights: ${nights.length}`;
  if (nights.length === 0) return { title, categoriesRef: '', categories: [], series: [] };
  addSection(page, 'The last nights', [['Business date', '', 'Open breaks']]);
  const [head, first] = [page.lines.length, page.lines.length + 1];
  for (const { businessDate, open } of nights) {
    page.lines.push([text(businessDate), text(''), count(open)]);
  }
  const last = page.lines.length;
  const series: ChartSeries = {
    name: 'Open breaks',
    nameRef: cellRef(sheet, 'C', head),
    valuesRef: rangeRef(sheet, 'C', first, last),
    values: nights.map(({ open }) => open),
    colour: COLOURS.due,
  };
  return {
    title: 'Open breaks at the end of the last nights',
    categoriesRef: rangeRef(sheet, 'A', first, last),
    categories: nights.map(({ businessDate }) => businessDate),
    series: [series],
  };
}

/** What is at stake in open breaks by age, a line a currency: live sums over their sheet. */
function addMoneyByAge(
  page: Page,
  sheet: string,
  { stakes, parts }: DrawnBreaks,
  drawn: readonly string[],
): [currency: string, Drawn][] {
  const { shown: currencies, rest } = shownOf([...stakes.keys()].sort(), drawn);
  if (currencies.length === 0) return [];
  addSection(page, 'Money at stake in open breaks by age, all accounts', [
    ['Currency', '', ...AGES.map(({ words }) => words), 'All'],
  ]);
  const head = page.lines.length;
  const [money, of, age] = ['stake', 'currency', 'age_days'].map((key) =>
    columnRanges(BREAKS_SHEET, key, parts),
  );
  const pictures = currencies.map((currency): [string, Drawn] => {
    const { sums, tooLong } = stakes.get(currency) ?? { sums: [], tooLong: null };
    const row = page.lines.length + 1;
    const amounts = [...sums.map(formatAmount), ...(tooLong === null ? [] : [tooLong])];
    const style = moneyStyle(currency, amounts);
    const cells = AGES.map(({ from, to }, at) => {
      const live = (money ?? []).map((range, part) => {
        const upTo = to === null ? '' : `,${age?.[part]},"<=${to}"`;
        return `SUMIFS(${range},${of?.[part]},$A${row},${age?.[part]},">=${from}"${upTo})`;
      });
      return moneyFormula(`ROUND(${live.join('+')},2)`, sums[at] ?? 0n, amounts, style);
    });
    const all = sums.reduce((sum, one) => sum + one, 0n);
    const total = moneyFormula(`ROUND(SUM(C${row}:G${row}),2)`, all, amounts, style);
    page.lines.push([text(currency), text(''), ...cells, total]);
    const picture = acrossRow(sheet, {
      ...{ currency, title: 'money at stake in open breaks, by age', head, row, sums },
      ...{ words: AGES.map(({ words }) => words), colour: COLOURS.broken },
    });
    return [currency, picture];
  });
  addRest(page, rest, 'the sheet Breaks');
  return pictures;
}

/** One line of a section, from its third column on, as bars with their figures. */
function acrossRow(
  sheet: string,
  one: {
    currency: string;
    title: string;
    head: number;
    row: number;
    words: readonly string[];
    sums: readonly bigint[];
    colour: string;
    /** the first column of it */
    column?: number;
  },
): Drawn {
  const { currency, head, row, words, sums, colour, column = 3 } = one;
  const across = (of: number): string =>
    `'${sheet}'!$${columnLetters(column)}$${of}:$${columnLetters(column + words.length - 1)}$${of}`;
  return {
    title: `${freeText(currency)}: ${one.title}`,
    categoriesRef: across(head),
    categories: words,
    series: [
      {
        name: freeText(currency),
        nameRef: cellRef(sheet, 'A', row),
        valuesRef: across(row),
        values: sums.map((sum) => Number(formatAmount(sum))),
        colour,
      },
    ],
  };
}

/** Matched money is left out of the picture, where all the rest would be a thin line beside it. */
const DRAWN_CLASSES = ORDER_CLASSES.filter((name) => name !== 'matched');

function addMoneyByState(
  page: Page,
  sheet: string,
  data: ReconciliationData,
  drawn: readonly string[],
): [currency: string, Drawn][] {
  const byCurrency = moneyByCurrency(data);
  const { shown, rest } = shownOf([...byCurrency.keys()], drawn);
  if (shown.length === 0) return [];
  addSection(page, 'Money by state of its orders, all accounts', [
    ['Currency', 'Not matched', ...ORDER_CLASSES.map(headed), 'All'],
  ]);
  const head = page.lines.length;
  const pictures = shown.map((currency): [string, Drawn] => {
    const sums = byCurrency.get(currency) ?? zeros();
    const row = page.lines.length + 1;
    const amounts = ORDER_CLASSES.map((name) => formatAmount(sums[name]));
    const all = ORDER_CLASSES.reduce((sum, name) => sum + sums[name], 0n);
    const style = moneyStyle(currency, amounts);
    page.lines.push([
      text(currency),
      text(shareText(all - sums.matched, all)),
      ...amounts.map((amount) => money(amount, style)),
      moneyFormula(`ROUND(SUM(C${row}:H${row}),2)`, all, amounts, style),
    ]);
    const picture = acrossRow(sheet, {
      ...{ currency, title: 'money that is not matched, by state', head, row },
      ...{ words: DRAWN_CLASSES.map(headed), sums: DRAWN_CLASSES.map((name) => sums[name]) },
      ...{ colour: COLOURS.due, column: 4 },
    });
    return [currency, picture];
  });
  addRest(page, rest, 'Orders by account and currency');
  return pictures;
}

/** In their order; those that are drawn stand there in any case. */
function shownOf(
  currencies: readonly string[],
  drawn: readonly string[],
): { shown: string[]; rest: number } {
  const first = currencies.filter((one) => drawn.includes(one));
  const others = currencies.filter((one) => !drawn.includes(one));
  const kept = new Set([...first, ...others].slice(0, CURRENCIES_SHOWN_MAX));
  return {
    shown: currencies.filter((one) => kept.has(one)),
    rest: currencies.length - kept.size,
  };
}

/** How many currencies stand only where all of them do. */
function addRest(page: Page, rest: number, where: string): void {
  for (const more of moreOf(rest)) page.lines.push([text(`${more}: see ${where}`)]);
}

/** In tenths of a percent; what is there at all is never shown as nothing. */
function shareText(part: bigint, all: bigint): string {
  if (all === 0n || part === 0n) return '0 %';
  const tenths = (part * 1000n + all / 2n) / all;
  return tenths === 0n ? 'under 0.1 %' : `${tenths / 10n}.${tenths % 10n} %`;
}

/** The first sheet holds no more; the sums of each sheet hold all currencies. */
const CURRENCIES_SHOWN_MAX = 12;
/** More pictures than of these would not be looked at. */
const CURRENCIES_DRAWN_MAX = 2;

/** Those with most orders that are not matched; by name where as many. */
function drawnCurrencies(rows: ReconciliationData['currencies']): string[] {
  const orders = new Map<string, number>();
  for (const { currency, classes } of rows) {
    if (currency === '') continue;
    const open = DRAWN_CLASSES.reduce((sum, name) => sum + classes[name], 0);
    if (open > 0) orders.set(currency, (orders.get(currency) ?? 0) + open);
  }
  return [...orders]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, CURRENCIES_DRAWN_MAX)
    .map(([currency]) => currency);
}

function moneyByCurrency(data: ReconciliationData): Map<string, Record<OrderClass, bigint>> {
  const sums = new Map<string, Record<OrderClass, bigint>>();
  for (const { currency, money: amounts } of data.currencies) {
    if (currency === '') continue;
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
  const words = classLabel(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function cellRef(sheet: string, column: string, row: number): string {
  return `'${sheet}'!$${column}$${row}`;
}

export function rangeRef(sheet: string, column: string, first: number, last: number): string {
  return `'${sheet}'!$${column}$${first}:$${column}$${last}`;
}
