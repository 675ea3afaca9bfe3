// What the reports over a day or a month have in common, and the shorter of them, ageing: how old
// the breaks are that were open at the end. Each says on its first sheet whether it ties. They
// decide nothing. Neighbours: activity.ts (the other one), page.ts, table.ts.

import { AGES, isOfAge } from '../src/core/breaks/breakAge.js';
import { formatAmount } from '../src/core/money.js';
import type { Period } from '../src/core/period.js';
import type { AboutData, BreakRow, WrittenReport } from '../src/core/runs/reporting.js';
import type { Table } from './column.js';
import { AGED_BREAKS } from './periodColumns.js';
import { addAgePicture, addPictureRoom } from './pictures.js';
import { bookProperties, writeAbout } from './reconciliation.js';
import { reachOf } from './summarySheet.js';
import { freeText, hundredthsOf, wallClock, wallText } from './xlsx/cells.js';
import type { BookProperties } from './xlsx/format/bookParts.js';
import type { Page } from './xlsx/page.js';
import {
  addSection,
  addVerdict,
  addWide,
  count,
  emptyPage,
  endLines,
  formula,
  id,
  money,
  moneyFormula,
  settleVerdict,
  TIES,
  text,
} from './xlsx/page.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import { fittedWidths, writeTable } from './xlsx/table.js';
import type { Part } from './xlsx/totals.js';
import { matchingSum, plannedParts } from './xlsx/totals.js';
import type { Book } from './xlsx/workbook.js';
import { writeWorkbook } from './xlsx/workbook.js';
import { writePage } from './xlsx/writePage.js';

/** Title and environment. */
const FROZEN_ROWS = 2;
/** The lines above a table: its title. */
export const TOP_LINES = 1;

export interface PeriodData<R> {
  period: Period;
  about: AboutData;
  rows: readonly R[];
}

/** Not how long the money is missing: a first night finds old orders, and its breaks are new. */
const AGE_WORDS =
  'Age: days from the date on which a night first saw the break; the order itself may be older.';

export function writeAgeing(path: string, data: PeriodData<BreakRow>): Promise<WrittenReport> {
  const { about, period, rows } = data;
  const parts = plannedParts('Open breaks', rows.length, TOP_LINES);
  return writeWorkbook(path, periodProperties('Ageing', data), async (book) => {
    const page = headedPage('Ageing of open breaks', data, [`${reachOf(data.about)} ${AGE_WORDS}`]);
    const pictureRow = addPictureRoom(page);
    const charts = [addAgePicture(page, 'Ageing', pictureRow, rows, AGED_BREAKS, parts)];
    addAgesInMoney(page, rows, parts);
    await writePage(book, { ...PERIOD_SHEET, name: 'Ageing', page: settleVerdict(page), charts });
    const title = `Breaks open at the end of ${period.name}`;
    await writeRows(book, about, 'Open breaks', title, AGED_BREAKS, rows);
    await writeAbout(book, about);
  });
}

export function periodProperties(
  title: string,
  { about, period }: Pick<PeriodData<never>, 'period' | 'about'>,
): BookProperties {
  return bookProperties(title, { ...about, businessDate: period.name });
}

export const PERIOD_SHEET = {
  frozenRows: FROZEN_ROWS,
  repeatedRows: `1:${FROZEN_ROWS}`,
  ties: TIES,
};

/** `reach` says what the report reaches, or takes a date for. */
export function headedPage(
  title: string,
  { period, about }: Pick<PeriodData<never>, 'period' | 'about'>,
  reach: readonly string[],
): Page {
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
    `${about.timezone}; newest night ${about.businessDate}, checked at ${asOf}.`;
  addWide(page, freeText(words), STYLES.running);
  for (const line of reach) addWide(page, line, STYLES.note);
  addVerdict(page);
  return page;
}

/** What the ages come to, against the lines of the sheet that lists the breaks. */
function addAgesInMoney(page: Page, rows: readonly BreakRow[], parts: readonly Part[]): void {
  addSection(page, 'Money at stake in open breaks, by age', [
    ['Account', 'Currency', 'Open breaks', ...AGES.map(({ words }) => words), 'All'],
    ['Listed', 'Difference'],
  ]);
  const first = page.lines.length + 1;
  for (const [key, open] of grouped(rows)) {
    const [accountId = '', currency = ''] = JSON.parse(key) as string[];
    const row = page.lines.length + 1;
    const amounts = AGES.map((age) => {
      const aged = open.filter(({ ageDays }) => isOfAge(ageDays, age));
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
  endLines(page, first, 'K');
  if (rows.length === 0) return;
  const last = page.lines.length;
  page.lines.push([
    { value: 'All accounts', style: STYLES.totalText },
    { value: '', style: STYLES.totalText },
    { ...formula(`SUM(C${first}:C${last})`, rows.length), style: STYLES.totalCount },
  ]);
}

function grouped(rows: readonly BreakRow[]): [string, BreakRow[]][] {
  const groups = new Map<string, BreakRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.accountId, row.currency ?? '']);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

export async function writeRows<R>(
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
