// The settlement report of a date or a month: the three books and whether they tie, then the rows
// of which each figure is the sum: open items, what moved day by day, batches, fees, chargebacks,
// disputes, breaks, files. Long lists come in chunks and are gone through twice; memory stays flat.
// It decides nothing. Neighbours: settlementPage.ts (the first sheet), settlementColumns.ts.

import type { WrittenReport } from '../../src/core/runs/reporting.js';
import type { SettlementReportData } from '../../src/core/settlement/settlementReport.js';
import { PERIOD_SHEET, periodProperties, TOP_LINES, writeRows } from '../periodReports.js';
import { writeAbout } from '../reconciliation.js';
import type { PlannedSpec } from '../xlsx/plannedTable.js';
import { addPlanned, placesOf, planned, writePlanned } from '../xlsx/plannedTable.js';
import { plannedParts } from '../xlsx/totals.js';
import { writeWorkbook } from '../xlsx/workbook.js';
import { writePage } from '../xlsx/writePage.js';
import type { Listed } from './booksPage.js';
import {
  BATCHES,
  CHARGEBACKS,
  DISPUTES,
  FEES,
  FILES,
  GATEWAY_DAYS,
  OPEN_ITEMS,
  SETTLEMENT_BREAKS,
} from './settlementColumns.js';
import { SETTLEMENT_NAME, settlementPage } from './settlementPage.js';
import { addBatches, addBreaks, addChargebacks, addItems, noSums } from './settlementSums.js';

const DAYS = 'Day by day';
const FEE_SHEET = 'Fees';
const FILE_SHEET = 'Files';

/** Goes through the long lists twice: what stands above them has to be known before. */
export async function writeSettlement(
  path: string,
  data: SettlementReportData,
): Promise<WrittenReport> {
  const { about, period, fees, files } = data;
  const days = data.days.filter(({ on }) => on !== null);
  const { plans, sums } = await planSheets(data);
  const parts: Listed['parts'] = {
    open: placesOf(plans.open).parts,
    batches: placesOf(plans.batches).parts,
    chargebacks: placesOf(plans.chargebacks).parts,
    breaks: placesOf(plans.breaks).parts,
    days: plannedParts(DAYS, days.length, TOP_LINES),
    fees: plannedParts(FEE_SHEET, fees.length, TOP_LINES),
    files: plannedParts(FILE_SHEET, files.length, TOP_LINES),
  };
  const named = (title: string): string => `${title}: ${period.name}`;
  return writeWorkbook(path, periodProperties('Settlement', data), async (book) => {
    const { page, charts } = settlementPage(data, { sums, parts });
    await writePage(book, { ...PERIOD_SHEET, name: SETTLEMENT_NAME, page, charts });
    const openTitle = `Open at the end of ${period.to}: the closings are the sum of these`;
    await writePlanned(book, plans.open, openTitle, data.open());
    await writeRows(book, about, DAYS, named('What moved, day by day'), GATEWAY_DAYS, days);
    await writePlanned(book, plans.batches, named('Batches of the acquirer'), data.batches());
    await writeRows(book, about, FEE_SHEET, named('Fees by month, account and type'), FEES, fees);
    await writePlanned(book, plans.chargebacks, named('Chargebacks'), data.chargebacks());
    await writePlanned(book, plans.disputes, named('Disputes'), data.disputes());
    await writePlanned(book, plans.breaks, named('Breaks of settlement'), data.breaks());
    await writeRows(book, about, FILE_SHEET, named('Imported files'), FILES, files);
    await writeAbout(book, about);
  });
}

/** The first time through all rows. */
async function planSheets(data: SettlementReportData) {
  const sums = noSums();
  const plan = <R>(spec: PlannedSpec<R>) => planned(spec, data.about);
  const plans = {
    open: plan({ name: 'Open items', table: OPEN_ITEMS }),
    batches: plan({ name: 'Batches', table: BATCHES }),
    chargebacks: plan({ name: 'Chargebacks', table: CHARGEBACKS }),
    disputes: plan({ name: 'Disputes', table: DISPUTES }),
    breaks: plan({ name: 'Breaks', table: SETTLEMENT_BREAKS }),
  };
  for await (const rows of data.open()) {
    addItems(sums, rows);
    addPlanned(plans.open, rows);
  }
  for await (const rows of data.batches()) {
    addBatches(sums, rows);
    addPlanned(plans.batches, rows);
  }
  for await (const rows of data.chargebacks()) {
    addChargebacks(sums, rows);
    addPlanned(plans.chargebacks, rows);
  }
  for await (const rows of data.disputes()) addPlanned(plans.disputes, rows);
  for await (const rows of data.breaks()) {
    addBreaks(sums, rows);
    addPlanned(plans.breaks, rows);
  }
  return { plans, sums };
}
