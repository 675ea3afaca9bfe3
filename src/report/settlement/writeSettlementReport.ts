// The settlement report of a period: its few figures and its long lists of one snapshot of the
// database, into one file. Neighbours: settlementRowsStore.ts reads, reports/settlement/ writes.

import { writeSettlement } from '../../../reports/settlement/settlementBook.js';
import type { Period } from '../../core/period.js';
import type { AboutData, WrittenReport } from '../../core/runs/reporting.js';
import { settlementPeriod } from '../../core/settlement/settlementReport.js';
import type { Database } from '../../database/db.js';
import { readAgain } from '../../database/readAgain.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import {
  batchRows,
  bookOpenings,
  breakCounts,
  chargebackRows,
  disputeRows,
  feeRows,
  fileRows,
  gatewayDays,
  openItemsOf,
  settlementBreaks,
} from './settlementRowsStore.js';

interface Asked {
  readonly rules: SettlementRules;
  readonly accountIds: readonly string[];
  /** those of them that are not in the configuration any more */
  readonly left: readonly string[];
  readonly period: Period;
  readonly about: AboutData;
}

export async function writeSettlementReport(
  db: Database,
  path: string,
  { rules, accountIds, left, about, ...wanted }: Asked,
): Promise<WrittenReport> {
  const period = settlementPeriod(wanted.period, rules.times.from);
  const asked = { accountIds, period, times: rules.times };
  const { asOf, businessDate } = about;
  return db.snapshot(async (reads) => {
    return writeSettlement(path, {
      ...{ period, about, left, from: rules.times.from },
      days: await gatewayDays(reads, asked),
      openings: await bookOpenings(reads, asked),
      fees: await feeRows(reads, asked, rules.fees),
      breakCounts: await breakCounts(reads, asked),
      files: await fileRows(reads, asked),
      open: readAgain(() => openItemsOf(reads, asked, rules, businessDate)),
      batches: readAgain(() => batchRows(reads, asked)),
      chargebacks: readAgain(() => chargebackRows(reads, asked)),
      disputes: readAgain(() => disputeRows(reads, asked)),
      breaks: readAgain(() => settlementBreaks(reads, asked, asOf)),
    });
  });
}
