// The activity statement of a day or a month: what happened to open breaks and to money, night by
// night; how one business day leads to the next; a picture of what was captured and refunded. It
// decides nothing. Neighbours: periodReports.ts (heading, ageing), page.ts, activityPictures.ts.

import type { DayFigures } from '../src/core/runs/businessDay.js';
import {
  booksBegin,
  ELSEWHERE,
  MEMOS,
  PAYOUTS_LEFT_OUT,
  workedOutClosing,
} from '../src/core/runs/businessDay.js';
import type { ActivityRow, WrittenReport } from '../src/core/runs/reporting.js';
import { addActivityPictures, addPictureRoomFor } from './activityPictures.js';
import { ACTIVITY, DAYS, DAYS_OF_BOOKS } from './periodColumns.js';
import type { PeriodData } from './periodReports.js';
import {
  headedPage,
  PERIOD_SHEET,
  periodProperties,
  TOP_LINES,
  writeRows,
} from './periodReports.js';
import { writeAbout } from './reconciliation.js';
import { reachOf } from './summarySheet.js';
import { hundredthsOf } from './xlsx/cells.js';
import type { Page } from './xlsx/page.js';
import {
  addSection,
  addWide,
  count,
  endLines,
  id,
  money,
  moneyFormula,
  settleVerdict,
  text,
} from './xlsx/page.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { matchingSum, plannedParts } from './xlsx/totals.js';
import { writeWorkbook } from './xlsx/workbook.js';
import { writePage } from './xlsx/writePage.js';

const NAME = 'Activity';
const NIGHTS = 'Nights';
const BUSINESS_DAYS = 'Business days';

interface ActivityData extends PeriodData<ActivityRow> {
  days: readonly DayFigures[];
}

export function writeActivity(path: string, data: ActivityData): Promise<WrittenReport> {
  const { about, period, rows, days } = data;
  return writeWorkbook(path, periodProperties('Activity', data), async (book) => {
    const page = headedPage('Activity statement', data, [reachOf(about)]);
    const pictureRow = addPictureRoomFor(page, days);
    addDays(page, days, plannedParts(BUSINESS_DAYS, days.length, TOP_LINES));
    addRuns(page, rows, plannedParts(NIGHTS, rows.length, TOP_LINES));
    const parts = plannedParts(BUSINESS_DAYS, days.length, TOP_LINES);
    const charts = addActivityPictures(page, NAME, pictureRow, days, parts);
    await writePage(book, { ...PERIOD_SHEET, name: NAME, page: settleVerdict(page), charts });
    const table = hasBooks(days) ? DAYS_OF_BOOKS : DAYS;
    await writeRows(book, about, BUSINESS_DAYS, `Business days: ${period.name}`, table, days);
    await writeRows(book, about, NIGHTS, `Night by night: ${period.name}`, ACTIVITY, rows);
    await writeAbout(book, about);
  });
}

/** What a day holds, and the column of the sheet that lists it. */
const POSTED = [
  ['captured', 'captured'],
  ['refunded', 'refunded'],
  ['adjustments', 'adjustments'],
  ['cancelled', 'cancelled'],
  ['paidOut', 'paid_out'],
] as const;

const ROLLED = 'Business days: opening + captured − refunded + adjustments = closing';
const ROLLED_WITH_BOOKS =
  'Business days: opening + captured − refunded + adjustments + captured elsewhere − refunded ' +
  'elsewhere = closing';

/** Opening and what moved in all days make the closing. */
function addDays(page: Page, days: readonly DayFigures[], parts: readonly Part[]): void {
  addSection(page, hasBooks(days) ? ROLLED_WITH_BOOKS : ROLLED, [
    ['Account', 'Currency', 'Days', 'Opening', 'Captured', 'Refunded', 'Adjustments', 'Closing'],
    ['Difference', 'Cancelled', 'Payouts made', 'Days still open'],
    ...(hasBooks(days) ? [['Captured elsewhere', 'Refunded elsewhere', 'In suspense']] : []),
  ]);
  const first = page.lines.length + 1;
  for (const group of byAccountAndCurrency(days)) addDayLine(page, group, parts);
  endLines(page, first, 'I');
  const words =
    'A movement of money stands in the day of the run that sent it; one that became known after ' +
    `its day was closed is an adjustment of a later day. ${MEMOS} ${PAYOUTS_LEFT_OUT}`;
  const since = booksBegin(days);
  if (since !== null) addWide(page, `${ELSEWHERE} ${since}`, STYLES.note);
  addWide(page, words, STYLES.note);
}

function hasBooks(days: readonly DayFigures[]): boolean {
  return days.some(({ elsewhere }) => elsewhere !== undefined);
}

const OF_BOOKS = [
  ['captured', 'captured_elsewhere'],
  ['refunded', 'refunded_elsewhere'],
] as const;

function addDayLine(page: Page, days: readonly DayFigures[], parts: readonly Part[]): void {
  const [opening, closing] = [days[0], days.at(-1)];
  if (opening === undefined || closing === undefined) return;
  const row = page.lines.length + 1;
  const keys = { account_id: `$A${row}`, currency: `$B${row}` };
  const amounts = days.flatMap((day) => POSTED.map(([name]) => day[name]));
  const ends = [opening.opening, closing.closing];
  const style = moneyStyle(opening.currency, [...amounts, ...ends]);
  const [captured, refunded, adjustments, ...memos] = POSTED.map(([name, column]) => {
    const sum = days.reduce((all, day) => all + hundredthsOf(day[name]), 0n);
    const live = matchingSum(DAYS, parts, column, keys);
    return { sum, cell: moneyFormula(live, sum, amounts, style) };
  });
  const others = OF_BOOKS.map(([name, column]) => {
    const values = days.map((day) => day.elsewhere?.[name] ?? '0.00');
    const sum = values.reduce((all, one) => all + hundredthsOf(one), 0n);
    const live = matchingSum(DAYS_OF_BOOKS, parts, column, keys);
    return { sum, cell: moneyFormula(live, sum, values, style) };
  });
  const [taken = 0n, given = 0n] = others.map(({ sum }) => sum);
  const ours = (captured?.sum ?? 0n) - (refunded?.sum ?? 0n) + (adjustments?.sum ?? 0n);
  const moved = ours + taken - given;
  const difference = hundredthsOf(opening.opening) + moved - hundredthsOf(closing.closing);
  page.ties &&= difference === 0n && days.every((day) => workedOutClosing(day) === day.closing);
  const isBooked = closing.elsewhere !== undefined;
  const more = isBooked ? `+M${row}-N${row}` : '';
  const tie = `ROUND(D${row}+E${row}-F${row}+G${row}-H${row}${more},2)`;
  page.lines.push([
    id(opening.accountId),
    text(opening.currency),
    count(days.length),
    money(opening.opening, style),
    ...[captured, refunded, adjustments].map((one) => one?.cell ?? null),
    money(closing.closing, style),
    moneyFormula(tie, difference, [...amounts, ...ends], style),
    ...memos.map(({ cell }) => cell),
    count(days.filter(({ state }) => state === 'open').length),
    ...(isBooked
      ? [...others.map(({ cell }) => cell), count(closing.elsewhere?.suspense ?? 0)]
      : []),
  ]);
}

const FLOWS = ['captured', 'cancelled', 'refunded', 'net'] as const;
const MOVES = ['change', ...FLOWS] as const;

/** Opening + changes of all nights = closing: only so when each begins where the last ended. */
function addRuns(page: Page, rows: readonly ActivityRow[], parts: readonly Part[]): void {
  addSection(page, 'Night by night: open breaks in money, and money confirmed', [
    ['Account', 'Currency', 'Nights', 'Opening', 'Changes', 'Closing', 'Difference'],
    ['Captured', 'Cancelled', 'Refunded', 'Net', 'Unknown at the end'],
  ]);
  const first = page.lines.length + 1;
  for (const nights of byAccountAndCurrency(rows)) addRunLine(page, nights, parts);
  endLines(page, first, 'G');
  const words =
    'Confirmed by the run of the night, whichever run sent it. Net = captured − refunded; fees, ' +
    'chargebacks and payouts of the bank are not in it. Unknown is what stood open at the end of ' +
    'the last date, and in no other column. Open breaks are in these sums with what they opened ' +
    'with, until they are resolved; what is at stake in them now stands in the ageing.';
  addWide(page, words, STYLES.note);
}

function addRunLine(page: Page, nights: readonly ActivityRow[], parts: readonly Part[]): void {
  const [opening, closing] = [nights[0], nights.at(-1)];
  if (opening === undefined || closing === undefined) return;
  const row = page.lines.length + 1;
  const keys = { account_id: `$A${row}`, currency: `$B${row}` };
  const amounts = nights.flatMap((run) => MOVES.map((name) => run[name]));
  const style = moneyStyle(opening.currency, [...amounts, opening.openBefore, closing.unknown]);
  const [change, ...flows] = MOVES.map((name) => {
    const sum = nights.reduce((all, run) => all + hundredthsOf(run[name]), 0n);
    const live = matchingSum(ACTIVITY, parts, name, keys);
    return { sum, cell: moneyFormula(live, sum, amounts, style) };
  });
  const ends = [opening.openBefore, closing.openAfter];
  const difference =
    hundredthsOf(opening.openBefore) + (change?.sum ?? 0n) - hundredthsOf(closing.openAfter);
  page.ties &&= difference === 0n;
  page.lines.push([
    id(opening.accountId),
    text(opening.currency),
    count(nights.length),
    money(opening.openBefore, style),
    change?.cell ?? null,
    money(closing.openAfter, style),
    moneyFormula(`ROUND(D${row}+E${row}-F${row},2)`, difference, [...ends, ...amounts], style),
    ...flows.map(({ cell }) => cell),
    money(closing.unknown, style),
  ]);
}

function byAccountAndCurrency<R extends { accountId: string; currency: string }>(
  rows: readonly R[],
): R[][] {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.accountId, row.currency]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
