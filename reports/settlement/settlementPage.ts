// The first sheet of the settlement report: whether all of it ties, the three books, the fees with
// a picture, the breaks and the files, each figure a live formula over the sheet that lists its
// rows. Pure; neighbours: booksPage.ts, feeSections.ts, settlementBook.ts (writes it).

import { firstNamed } from '../../src/core/accounts/alike.js';
import type { FileRow, SettlementReportData } from '../../src/core/settlement/settlementReport.js';
import { labelOf } from '../../src/core/text/labels.js';
import { headedPage } from '../periodReports.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { columnLetters } from '../xlsx/format/cellXml.js';
import type { BarChart } from '../xlsx/format/chart.js';
import type { Page } from '../xlsx/page.js';
import {
  addCheck,
  addSection,
  addWide,
  count,
  endLines,
  formula,
  id,
  moneyFormula,
  settleVerdict,
  text,
} from '../xlsx/page.js';
import { moneyStyle, STYLES } from '../xlsx/styles.js';
import type { Part } from '../xlsx/totals.js';
import { matchingCount, matchingSum } from '../xlsx/totals.js';
import type { Listed } from './booksPage.js';
import { addBooks, liveSum } from './booksPage.js';
import { addFeePictures, addFeeRoom, addFees } from './feeSections.js';
import { FILES, SETTLEMENT_BREAKS } from './settlementColumns.js';
import type { Sums } from './settlementSums.js';
import { addUp, breaksOf, sumOf } from './settlementSums.js';

export const SETTLEMENT_NAME = 'Settlement';

export function settlementPage(
  data: SettlementReportData,
  listed: Listed,
): { page: Page; charts: readonly BarChart[] } {
  const page = headedPage('Settlement', data, [datesOf(data), ...leftWords(data, listed)]);
  const pictureRow = addFeeRoom(page, data.fees);
  const payable = addBooks(page, data, listed);
  addFees(page, data.fees, listed, payable);
  addBreaks(page, data, listed);
  addFiles(page, data, listed.parts.files);
  const { fees } = listed.parts;
  const charts = addFeePictures(page, SETTLEMENT_NAME, pictureRow, data.fees, fees);
  return { page: settleVerdict(page), charts };
}

/** What the report takes a date for: said on its first sheet. */
function datesOf({ period, from }: SettlementReportData): string {
  const upTo = `up to and including ${period.to}, as it is known now. `;
  const which =
    period.from <= from
      ? `Everything since the books begin, ${from}, ${upTo}`
      : `Opening: the end of the day before ${period.from}. Then what moved ${upTo}`;
  return (
    which +
    'A capture or refund counts on the business date whose run first saw it, a line of the ' +
    'acquirer (and so a fee, a chargeback, a payout) on the date it was booked; what it settles ' +
    'at the gateway never before the capture or refund itself.'
  );
}

/** Said of the accounts that left and are in the figures; empty: there are none. */
function leftWords(
  { left, days, openings, breakCounts }: SettlementReportData,
  { sums: { batches } }: Listed,
): string[] {
  const keys = [...batches.keys()].map((key) => JSON.parse(key) as string[]);
  const shown = new Set([
    ...[...days, ...openings, ...breakCounts].map(({ accountId }) => accountId),
    ...keys.map(([, accountId]) => accountId),
  ]);
  const found = left.filter((accountId) => shown.has(accountId));
  if (found.length === 0) return [];
  return [
    `In these figures, and not in the configuration any more: ${firstNamed(found)}. ` +
      'No night looks for what is open of such an account.',
  ];
}

function addBreaks(
  page: Page,
  { breakCounts }: SettlementReportData,
  { sums, parts }: Listed,
): void {
  addSection(page, 'Breaks of settlement, open or waived, against the sheet Breaks', [
    ['Account', 'Kind', 'Currency', 'Breaks', 'Listed', 'Difference', 'Money at stake'],
  ]);
  const first = page.lines.length + 1;
  for (const { accountId, kind, currency, breaks } of breakCounts) {
    const row = page.lines.length + 1;
    const keys = { account_id: `$A${row}`, kind: `$B${row}`, currency: `$C${row}` };
    const listed = breaksOf(sums, accountId, kind, currency ?? '');
    page.ties &&= listed === breaks;
    const stake = sumOf(sums.stakes, accountId, kind, currency ?? '');
    page.lines.push([
      id(accountId),
      text(labelOf(kind)),
      text(currency ?? ''),
      count(breaks),
      formula(matchingCount(SETTLEMENT_BREAKS, parts.breaks, keys), listed),
      formula(`D${row}-E${row}`, breaks - listed),
      liveSum(
        matchingSum(SETTLEMENT_BREAKS, parts.breaks, 'stake', keys),
        stake,
        moneyStyle(currency, stake.inputs),
      ),
    ]);
  }
  endLines(page, first, 'F');
}

/** Figures of a file, as they were counted when it was taken, and as they are kept now. */
const TOTALS = [
  ['lines', 'lines', 'linesKept', 'lines_kept'],
  ['gross', 'gross', 'grossKept', 'gross_kept'],
  ['fees', 'fees', 'feesKept', 'fees_kept'],
  ['payout', 'payout', 'payoutKept', 'payout_kept'],
] as const;
/** The columns of the section that must be 0. */
const DIFFERENCES = ['D', 'G', 'J', 'M'] as const;

function addFiles(page: Page, { files }: SettlementReportData, parts: readonly Part[]): void {
  const headings = ['Lines', 'Gross', 'Fees', 'Payout'].map((name) => {
    return [`${name} taken`, `${name} kept`, 'Difference'];
  });
  addSection(page, 'Imported files: control totals when they were taken, and what is kept now', [
    ['Currency'],
    ...headings,
  ]);
  const first = page.lines.length + 1;
  for (const currency of [...new Set(files.map((one) => one.currency))].sort()) {
    const row = page.lines.length + 1;
    const mine = files.filter((one) => one.currency === currency);
    const keys = { currency: `$A${row}` };
    const style = moneyStyle(currency, mine.flatMap(moneyOf));
    const line: Cell[] = [text(currency)];
    for (const [name, takenColumn, kept, keptColumn] of TOTALS) {
      const look = name === 'lines' ? STYLES.count : style;
      const sums: Sums = new Map();
      for (const file of mine) {
        addUp(sums, ['taken'], amountOf(file[name]));
        addUp(sums, ['kept'], amountOf(file[kept]));
      }
      const [taken, now] = [sumOf(sums, 'taken'), sumOf(sums, 'kept')];
      const [one, other] = [columnLetters(line.length + 1), columnLetters(line.length + 2)];
      page.ties &&= taken.sum === now.sum;
      line.push(
        liveSum(matchingSum(FILES, parts, takenColumn, keys), taken, look),
        liveSum(matchingSum(FILES, parts, keptColumn, keys), now, look),
        moneyFormula(
          `ROUND(${one}${row}-${other}${row},2)`,
          taken.sum - now.sum,
          [...taken.inputs, ...now.inputs],
          look,
        ),
      );
    }
    page.lines.push(line);
  }
  endLines(page, first, null);
  if (files.length > 0) for (const column of DIFFERENCES) addCheck(page, column, first);
  const words =
    'Each file by itself, with its digest and that of its map, stands on the sheet Files.';
  addWide(page, words, STYLES.note);
}

function amountOf(figure: string | number): string {
  return typeof figure === 'number' ? `${figure}.00` : figure;
}

function moneyOf(file: FileRow): string[] {
  return [file.gross, file.grossKept, file.fees, file.feesKept, file.payout, file.payoutKept];
}
