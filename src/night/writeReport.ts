// The work of one report job: rows from the database into one file, registered with its digest. A
// report that is registered is never touched again; one that was cut short is made anew.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeOrders } from '../../reports/orders.js';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { configHash } from '../configView.js';
import type { AboutData, WrittenReport } from '../core/reporting.js';
import type { RunSummary } from '../core/summary.js';
import { tieByKind, tieByMoney } from '../store/figures.js';
import { coverageLines, currencyRows, elsewhereRows } from '../store/reportFigures.js';
import { breakRows, movedRows, orderRows, runAbout, waitingRows } from '../store/reportRows.js';
import type { ReportRow } from '../store/reports.js';
import { loadReport, recordFailedReport, recordWritten } from '../store/reports.js';
import { findRun } from '../store/runs.js';
import type { NightDeps } from './deps.js';

export async function writeReport(deps: NightDeps, reportId: bigint): Promise<void> {
  const report = await loadReport(deps.db, reportId);
  if (report?.state !== 'queued') return;
  try {
    const summary = (await findRun(deps.db, report.businessDate))?.summary;
    if (!summary) throw new Error(`the run of ${report.businessDate} has no figures yet`);
    const written = await writeFile(deps, report, summary);
    await recordWritten(deps.db, reportId, written);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await recordFailedReport(deps.db, reportId, reason);
    throw error;
  }
}

async function writeFile(
  deps: NightDeps,
  report: ReportRow,
  summary: RunSummary,
): Promise<WrittenReport> {
  const folder = join(deps.config.reports.dir, report.businessDate);
  await mkdir(folder, { recursive: true });
  const name = `${report.kind}-${report.businessDate}-r${report.revision}.${report.format}`;
  const path = join(folder, name);
  // Left by a process that died between writing and registering: nobody was told of it.
  await rm(path, { force: true });
  const about = await aboutOf(deps, report, summary);
  switch (report.kind) {
    case 'orders':
      return writeOrders(path, about, orderRows(deps.db, report.runId));
    case 'reconciliation':
      return writeReconciliation(path, {
        summary,
        about,
        breaks: await breakRows(deps.db, accountIdsOf(summary), about.asOf),
        moved: await movedRows(deps.db, report.runId),
        waiting: await waitingRows(deps.db, report.runId),
        currencies: await currencyRows(deps.db, report.runId),
        elsewhere: await elsewhereRows(deps.db, report.runId),
        coverage: coverageLines(deps.db, report.runId),
        tiesByKind: await tieByKind(deps.db, report.runId),
        tiesByMoney: await tieByMoney(deps.db, report.runId),
      });
  }
}

async function aboutOf(
  deps: NightDeps,
  report: ReportRow,
  summary: RunSummary,
): Promise<AboutData> {
  const { schedule, reconcile, operations, gateway } = deps.config;
  const { previousRun, inputsHash, server } = await runAbout(deps.db, report.runId);
  const { tolerance } = reconcile;
  return {
    environment: summary.environment,
    businessDate: summary.businessDate,
    timezone: schedule.timezone,
    cutOff: schedule.cutOff,
    asOf: new Date(summary.asOf),
    createdAt: report.createdAt,
    revision: report.revision,
    previousRun,
    versions: [
      ['tieout', deps.version],
      ['PostgreSQL', server],
      ['Node.js', process.version],
    ],
    profileHash: configHash(deps.config),
    inputsHash,
    parameters: [
      ['Gateway', gateway.baseUrl],
      ['Accounts', accountIdsOf(summary).join(', ')],
      ['Covers', summary.covers.join(', ')],
      ['Look-back (days)', String(reconcile.lookbackDays)],
      ['Grace (hours)', String(reconcile.graceHours)],
      ['Stale authorisation (days)', String(reconcile.staleAuthorisationDays)],
      ['Tolerance below / above (hundredths)', `${tolerance.below} / ${tolerance.above}`],
      ['Tolerance (parts per million)', String(tolerance.partsPerMillion)],
      ...Object.entries(operations.mode).map(([name, mode]) => [`Policy: ${name}`, mode] as const),
    ],
  };
}

function accountIdsOf(summary: RunSummary): string[] {
  return summary.accounts.map((account) => account.accountId);
}
