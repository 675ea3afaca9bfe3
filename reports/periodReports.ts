// The reports over a day or a month. Activity: what happened to open breaks and to money, rolled
// forward by business date. Ageing: how old the breaks are that were open at the end. Both say on
// their first sheet whether they tie. They decide nothing; neighbours: page.ts, table.ts.

import { formatAmount } from '../src/core/money.js';
import type { Period } from '../src/core/period.js';
import type { AboutData, ActivityRow, AgedBreakRow, WrittenReport } from '../src/core/reporting.js';
import { freeText, hundredthsOf, wallClock, wallText } from './cells.js';
import type { Table } from './columns.js';
import type { Page } from './page.js';
import {
  addCheck,
  addSection,
  addVerdict,
  addWide,
  count,
  emptyPage,
  formula,
  id,
  money,
  moneyFormula,
  settleVerdict,
  TIES,
  text,
} from './page.js';
import { writePage } from './pageSheet.js';
import { ACTIVITY, AGED_BREAKS } from './periodColumns.js';
import { AGES, addAgePicture, addPictureRoom } from './pictures.js';
import { bookProperties, writeAbout } from './reconciliation.js';
import { moneyStyle, STYLES } from './styles.js';
import { REACH } from './summarySheet.js';
import { fittedWidths, writeTable } from './table.js';
import type { Part } from './totals.js';
import { matchingSum, plannedParts } from './totals.js';
import type { Book, BookProperties } from './workbook.js';
import { writeWorkbook } from './workbook.js';

/** Title and environment. */
const FROZEN_ROWS = 2;
/** The lines above a table: its title. */
const TOP_LINES = 1;

export interface PeriodData<R> {
  period: Period;
  about: AboutData;
  rows: readonly R[];
}

export function writeActivity(path: string, data: PeriodData<ActivityRow>): Promise<WrittenReport> {
  const { about, period, rows } = data;
  const parts = plannedParts('Days', rows.length, TOP_LINES);
  return writeWorkbook(path, periodProperties('Activity', data), async (book) => {
    const page = headedPage('Activity statement', data);
    addStatement(page, rows, parts);
    await writePage(book, { ...SHEET, name: 'Activity', page: settleVerdict(page), charts: [] });
    await writeRows(book, about, 'Days', `By business date: ${period.name}`, ACTIVITY, rows);
    await writeAbout(book, about);
  });
}

export function writeAgeing(path: string, data: PeriodData<AgedBreakRow>): Promise<WrittenReport> {
  const { about, period, rows } = data;
  const parts = plannedParts('Open breaks', rows.length, TOP_LINES);
  return writeWorkbook(path, periodProperties('Ageing', data), async (book) => {
    const page = headedPage('Ageing of open breaks', data);
    const pictureRow = addPictureRoom(page);
    const charts = [addAgePicture(page, 'Ageing', pictureRow, rows, AGED_BREAKS, parts)];
    addAgesInMoney(page, rows, parts);
    await writePage(book, { ...SHEET, name: 'Ageing', page: settleVerdict(page), charts });
    const title = `Breaks open at the end of ${period.name}`;
    await writeRows(book, about, 'Open breaks', title, AGED_BREAKS, rows);
    await writeAbout(book, about);
  });
}

function periodProperties<R>(title: string, { about, period }: PeriodData<R>): BookProperties {
  return bookProperties(title, { ...about, businessDate: period.name });
}

const SHEET = { frozenRows: FROZEN_ROWS, repeatedRows: `1:${FROZEN_ROWS}`, ties: TIES };

function headedPage<R>(title: string, { period, about }: PeriodData<R>): Page {
  const page = emptyPage();
  const isLive = about.environment === 'live';
  addWide(page, freeText(`${title} ${period.name}`), STYLES.title);
  addWide(
    page,
    isLive ? 'LIVE environment: real money' : 'TEST environment: no real money',
    isLive ? STYLES.live : STYLES.test,
  );
  const asOf = wallText(wallClock(about.timezone), about.asOf);
  const words =
    `Business dates ${period.from} to ${period.to}, each from ${about.cutOff} in ` +
    `${about.timezone}; newest night ${about.businessDate}, as of ${asOf}.`;
  addWide(page, freeText(words), STYLES.running);
  addWide(page, REACH, STYLES.quiet);
  addVerdict(page);
  return page;
}

/** Opening + changes of all days = closing: only so when each day begins where the last ended. */
function addStatement(page: Page, rows: readonly ActivityRow[], parts: readonly Part[]): void {
  addSection(page, 'Open breaks in money, and money confirmed, by account and currency', [
    ['Account', 'Currency', 'Days', 'Opening', 'Changes', 'Closing', 'Difference'],
    ['Captured', 'Cancelled', 'Refunded', 'Net', 'Unknown at the end'],
  ]);
  const first = page.lines.length + 1;
  for (const days of byAccountAndCurrency(rows)) {
    const [opening, closing] = [days[0], days.at(-1)];
    if (opening === undefined || closing === undefined) continue;
    const row = page.lines.length + 1;
    const keys = { account_id: `$A${row}`, currency: `$B${row}` };
    const amounts = days.flatMap((day) => MOVES.map((name) => day[name]));
    const style = moneyStyle(opening.currency, [...amounts, opening.openBefore, closing.unknown]);
    const sums = (['change', ...FLOWS] as const).map((name) => {
      const sum = days.reduce((all, day) => all + hundredthsOf(day[name]), 0n);
      const live = matchingSum(ACTIVITY, parts, name, keys);
      return { sum, cell: moneyFormula(live, sum, amounts, style) };
    });
    const [change, ...flows] = sums;
    const ends = [opening.openBefore, closing.openAfter];
    const difference =
      hundredthsOf(opening.openBefore) + (change?.sum ?? 0n) - hundredthsOf(closing.openAfter);
    page.ties &&= difference === 0n;
    page.lines.push([
      id(opening.accountId),
      text(opening.currency),
      count(days.length),
      money(opening.openBefore, style),
      change?.cell ?? null,
      money(closing.openAfter, style),
      moneyFormula(`ROUND(D${row}+E${row}-F${row},2)`, difference, [...ends, ...amounts], style),
      ...flows.map(({ cell }) => cell),
      money(closing.unknown, style),
    ]);
  }
  if (page.lines.length < first) page.lines.push([text('none')]);
  else addCheck(page, 'G', first);
  const words =
    'Net = captured − refunded; fees, chargebacks and payouts of the bank are not in it. Unknown ' +
    'is what stood open at the end of the last date, and in no other column.';
  addWide(page, words, STYLES.note);
}

const FLOWS = ['captured', 'cancelled', 'refunded', 'net'] as const;
const MOVES = ['change', ...FLOWS] as const;

function byAccountAndCurrency(rows: readonly ActivityRow[]): ActivityRow[][] {
  const groups = new Map<string, ActivityRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.accountId, row.currency]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

/** What the ages come to, against the lines of the sheet that lists the breaks. */
function addAgesInMoney(page: Page, rows: readonly AgedBreakRow[], parts: readonly Part[]): void {
  addSection(page, 'Money at stake in open breaks, by age', [
    ['Account', 'Currency', 'Open breaks', ...AGES.map(([words]) => words), 'All'],
    ['Listed', 'Difference'],
  ]);
  const first = page.lines.length + 1;
  for (const [key, open] of grouped(rows)) {
    const [accountId = '', currency = ''] = JSON.parse(key) as string[];
    const row = page.lines.length + 1;
    const amounts = AGES.map(([, from, to]) => {
      const aged = open.filter(({ ageDays }) => ageDays >= from && ageDays <= (to ?? ageDays));
      return formatAmount(aged.reduce((sum, one) => sum + hundredthsOf(one.stake), 0n));
    });
    const all = amounts.reduce((sum, amount) => sum + hundredthsOf(amount), 0n);
    const stakes = open.map(({ stake }) => stake ?? '0.00');
    const listed = stakes.reduce((sum, stake) => sum + hundredthsOf(stake), 0n);
    page.ties &&= all === listed;
    const keys = { account_id: `$A${row}`, currency: `$B${row}` };
    const onSheet = matchingSum(AGED_BREAKS, parts, 'stake', keys);
    const style = moneyStyle(currency, amounts);
    page.lines.push([
      id(accountId),
      text(currency === '' ? '(none)' : currency),
      count(open.length),
      ...amounts.map((amount) => money(amount, style)),
      moneyFormula(`ROUND(SUM(D${row}:H${row}),2)`, all, amounts, style),
      moneyFormula(onSheet, listed, stakes, style),
      moneyFormula(`ROUND(I${row}-J${row},2)`, all - listed, [...amounts, ...stakes], style),
    ]);
  }
  addCheck(page, 'K', first);
  const last = page.lines.length;
  if (last < first) {
    page.lines.push([text('none')]);
    return;
  }
  page.lines.push([
    { value: 'All accounts', style: STYLES.totalText },
    { value: '', style: STYLES.totalText },
    { ...formula(`SUM(C${first}:C${last})`, rows.length), style: STYLES.totalCount },
  ]);
}

function grouped(rows: readonly AgedBreakRow[]): [string, AgedBreakRow[]][] {
  const groups = new Map<string, AgedBreakRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.accountId, row.currency ?? '']);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function writeRows<R>(
  book: Book,
  about: AboutData,
  name: string,
  title: string,
  table: Table<R>,
  rows: readonly R[],
): Promise<void> {
  const top = [[{ value: freeText(title), style: STYLES.title }]];
  const spec = { name, table, top, timezone: about.timezone, clock: wallClock(about.timezone) };
  await writeTable(book, { ...spec, widths: fittedWidths(spec, rows) }, [rows]);
}
