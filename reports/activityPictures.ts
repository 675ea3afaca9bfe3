// The picture of the activity statement: what was captured and refunded on each business date, in
// the currencies that moved most often. Each bar is drawn from cells of the sheet. It never adds
// currencies together. Pure; neighbours: chart.ts draws, activity.ts says where.

import { formatAmount } from '../src/core/money.js';
import type { DayFigures } from '../src/core/runs/businessDay.js';
import { DAYS } from './periodColumns.js';
import { addPictureRoom, cellRef, PICTURE_LINES, rangeRef } from './pictures.js';
import { dateCell, freeText, hundredthsOf } from './xlsx/cells.js';
import type { BarChart } from './xlsx/format/chart.js';
import type { Page } from './xlsx/page.js';
import { addSection, moneyFormula, PAGE_COLUMNS, text } from './xlsx/page.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { matchingSum } from './xlsx/totals.js';

/** More pictures than this would not be looked at. */
const CURRENCIES_DRAWN_MAX = 2;
/** The last column of the first of two pictures. */
const SPLIT_COLUMN = 5;
const BARS = [
  { name: 'captured', heading: 'Captured', colour: '6FA0BC' },
  { name: 'refunded', heading: 'Refunded', colour: 'F3D48A' },
] as const;

/** Keeps room where there is something to draw. */
export function addPictureRoomFor(page: Page, days: readonly DayFigures[]): number {
  return drawnCurrencies(days).length === 0 ? page.lines.length : addPictureRoom(page);
}

/** The figures and the pictures over them, from this row of the sheet on. */
export function addActivityPictures(
  page: Page,
  sheet: string,
  fromRow: number,
  days: readonly DayFigures[],
  parts: readonly Part[],
): BarChart[] {
  const currencies = drawnCurrencies(days);
  const toRow = fromRow + PICTURE_LINES;
  return currencies.map((currency, at) => {
    const isAlone = currencies.length === 1;
    const fromColumn = at === 0 ? 0 : SPLIT_COLUMN + 1;
    const toColumn = at === 0 && !isAlone ? SPLIT_COLUMN : PAGE_COLUMNS - 1;
    const place = { fromColumn, toColumn, fromRow, toRow };
    const ofCurrency = days.filter((day) => day.currency === currency);
    return { ...addByDate(page, sheet, currency, ofCurrency, parts), place };
  });
}

/** Those with most days on which money moved; by name where as many. */
function drawnCurrencies(days: readonly DayFigures[]): string[] {
  const moved = new Map<string, number>();
  for (const { currency, captures, refunds } of days) {
    if (captures + refunds > 0) moved.set(currency, (moved.get(currency) ?? 0) + 1);
  }
  return [...moved]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, CURRENCIES_DRAWN_MAX)
    .map(([currency]) => currency);
}

function addByDate(
  page: Page,
  sheet: string,
  currency: string,
  days: readonly DayFigures[],
  parts: readonly Part[],
): Omit<BarChart, 'place'> {
  const title = `Captured and refunded by business date, ${freeText(currency)}, all accounts`;
  addSection(page, title, [
    ['Business date', 'Currency', 'Day', ...BARS.map(({ heading }) => heading)],
  ]);
  const [head, first] = [page.lines.length, page.lines.length + 1];
  const dates = [...new Set(days.map(({ businessDate }) => businessDate))].sort();
  const amounts = days.flatMap(({ captured, refunded }) => [captured, refunded]);
  const style = moneyStyle(currency, amounts);
  const values = BARS.map(() => [] as number[]);
  for (const date of dates) {
    const row = page.lines.length + 1;
    const keys = { business_date: `$A${row}`, currency: `$B${row}` };
    const cells = BARS.map(({ name }, at) => {
      const sum = days
        .filter(({ businessDate }) => businessDate === date)
        .reduce((all, day) => all + hundredthsOf(day[name]), 0n);
      values[at]?.push(Number(formatAmount(sum)));
      return moneyFormula(matchingSum(DAYS, parts, name, keys), sum, amounts, style);
    });
    const when = { value: dateCell(date), style: STYLES.dateLeft };
    const day = { value: dayOfMonth(date), style: STYLES.count };
    page.lines.push([when, text(currency), day, ...cells]);
  }
  const last = page.lines.length;
  const series = BARS.map(({ heading, colour }, at) => {
    const column = at === 0 ? 'D' : 'E';
    const valuesRef = rangeRef(sheet, column, first, last);
    const nameRef = cellRef(sheet, column, head);
    return { name: heading, nameRef, valuesRef, values: values[at] ?? [], colour };
  });
  const categoriesRef = rangeRef(sheet, 'C', first, last);
  const categories = dates.map(dayOfMonth);
  return { title, categoriesRef, categories, series };
}

/** What stands under a bar: a period is a day or a month. */
function dayOfMonth(date: string): string {
  return date.slice(-2);
}
