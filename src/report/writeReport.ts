// The work of one report job: rows from the database into one file, registered with its digest. A
// report that is registered is never touched again; one that was cut short is made anew.

import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeActivity } from '../../reports/activity.js';
import { writeOrders } from '../../reports/orders.js';
import { isAlreadyThere } from '../../reports/outputFile.js';
import { writeAgeing } from '../../reports/periodReports.js';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { atRiskOfNight } from '../authorisations/authorisations.js';
import { comparedWith, sumOpenBefore } from '../breaks/changedStore.js';
import { dueRuleOf } from '../breaks/dueRule.js';
import type { DueRule } from '../core/breaks/dueDate.js';
import { messageOf, TieoutError, unwritableWords } from '../core/errors.js';
import type { Period } from '../core/period.js';
import { periodOf } from '../core/period.js';
import { staysLine } from '../core/runs/removal.js';
import type { AboutData, ReconciliationData, WrittenReport } from '../core/runs/reporting.js';
import type { RunSummary } from '../core/runs/summary.js';
import type { LongReads } from '../database/db.js';
import { readAgain } from '../database/readAgain.js';
import { dayFigures, daySignings, daysAccounts, movedInWorkbook } from '../days/daysStore.js';
import { revisionFigures } from '../days/signedFiguresStore.js';
import { thisMachine, thisProcess } from '../processes/identity.js';
import { scheduleFacts } from '../runs/calendarStore.js';
import { withLeft } from '../runs/leftAccountsStore.js';
import { runSnapshots } from '../runs/runAccountsStore.js';
import { removalOf } from '../runs/runRecordStore.js';
import { findRun } from '../runs/runsStore.js';
import { settlementRules } from '../settlement/settlement.js';
import { tieByKind, tieByMoney } from '../total/figuresStore.js';
import type { ReportDeps } from './aboutReport.js';
import { aboutOf } from './aboutReport.js';
import type { Digests } from './keptReportsStore.js';
import { manifestOf } from './manifest.js';
import { activityRows, openAsOf } from './periodRowsStore.js';
import type { Listed } from './registerReport.js';
import { registerReport } from './registerReport.js';
import { coverageLines, currencyRows, elsewhereRows, nightMarks } from './reportFiguresStore.js';
import { breakRows, changeRows, movedRows, orderRows, waitingRows } from './reportRowsStore.js';
import type { ReportRow } from './reportsStore.js';
import { canWriteElsewhere, isUnattended, loadReport, recordFailedReport } from './reportsStore.js';
import { bookLines } from './settlement/statementBooksStore.js';
import { writeSettlementReport } from './settlement/writeSettlementReport.js';
import { statementLines } from './statementStore.js';
import { workbookKey } from './workbookKeyStore.js';

/**
 * Two workers may be at the same report: it is enqueued again while the first one still writes. One
 * puts its file in place and registers it; the other leaves it at that.
 */
export async function writeReport(deps: ReportDeps, reportId: bigint): Promise<void> {
  const report = await loadReport(deps.db, reportId);
  if (report?.state !== 'queued') return;
  try {
    const summary = (await findRun(deps.db, report.businessDate))?.summary;
    if (!summary) throw new Error(`the run of ${report.businessDate} has no figures yet`);
    const removal = report.period === null ? await removalOf(deps.db, report.runId) : null;
    // Without them it would be an empty file, as the newest revision.
    if (removal !== null) throw new TieoutError(staysLine(removal));
    const digests = await manifestOf(deps.db, report.runId);
    const register: Register = (written, listed = null) =>
      registerReport(deps.db, reportId, written, { digests, listed });
    await writeFile(deps, report, { summary, digests, register });
  } catch (error) {
    if (isAlreadyThere(error)) return;
    const unwritable = unwritableWords(`the folder of reports ${deps.config.reports.dir}`, error);
    const own = deps.runner ?? thisProcess();
    if (unwritable !== null && (await canWriteElsewhere(deps.db, reportId, own))) {
      deps.log?.(`report ${reportId} is left to other hosts: ${unwritable}`, { level: 'warn' });
      // Enqueued again meanwhile, it is not heard here once more.
      await sleep(LEFT_MS);
      return;
    }
    const reason = unwritable === null ? messageOf(error) : `${unwritable} (host ${thisMachine()})`;
    await recordFailedReport(deps.db, reportId, reason);
    throw new TieoutError(reason, { cause: error });
  }
}

/** Longer than it takes until what waits is enqueued again. */
const LEFT_MS = 5_000;

/** `listed`: the lines of the statement that the file has. */
type Register = (written: WrittenReport, listed?: Listed | null) => Promise<void>;

interface Told {
  summary: RunSummary;
  digests: Digests;
  register: Register;
}

async function writeFile(
  deps: ReportDeps,
  report: ReportRow,
  { summary, digests, register }: Told,
): Promise<void> {
  const date = report.period ?? report.businessDate;
  const folder = join(deps.config.reports.dir, date);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${report.kind}-${date}-r${report.revision}.${report.format}`;
  const path = join(folder, name);
  if (!(await clearLeftover(deps, report.reportId, path))) return;
  const about = await aboutOf(deps, report, summary, digests);
  const period = periodOf(date);
  if (period === null) throw new Error(`${date} is neither a day nor a month`);
  switch (report.kind) {
    case 'activity':
    case 'ageing':
      return register(await writePeriod(deps, path, report, { period, about }));
    case 'settlement':
      return register(await writeSettlementOf(deps, path, { period, about }));
    case 'orders':
      return register(await writeOrders(path, about, orderRows(deps.db, report.runId)));
    case 'reconciliation':
      return writeReconciliationOf(deps, path, report, { summary, about, register });
  }
}

/** How long a worker may take from putting a file in place to registering it. */
const REGISTERED_WITHIN_MS = 5_000;

/**
 * A file that is there and not registered was left by a process that died between the two, and
 * nobody was told of it; or another worker is between the two just now: false while it is, or once
 * it has registered.
 */
async function clearLeftover(deps: ReportDeps, reportId: bigint, path: string): Promise<boolean> {
  if (!existsSync(path)) return true;
  await sleep(REGISTERED_WITHIN_MS);
  if (!(await isUnattended(deps.db, reportId))) return false;
  await rm(path, { force: true });
  return true;
}

async function writeSettlementOf(
  { db, config }: ReportDeps,
  path: string,
  data: { period: Period; about: AboutData },
): Promise<WrittenReport> {
  const rules = settlementRules(config);
  if (rules === null) throw new Error('nothing of settlement is kept: tieout.yaml, settlement');
  const own = config.accounts.map(({ accountId }) => accountId);
  // The money of one that left stays at the gateway, in a payout and in the files.
  const accountIds = await withLeft(db, own);
  const left = accountIds.slice(own.length);
  const named = [...own, ...left.map((accountId) => `${accountId} (not configured)`)];
  const about = aboutAccounts(data.about, named);
  return writeSettlementReport(db, path, { ...data, about, rules, accountIds, left });
}

/** The newest run of a period may be of some of its accounts alone. */
function aboutAccounts(about: AboutData, accounts: readonly string[]): AboutData {
  const parameters = about.parameters.map(
    ([name, value]) => [name, name === 'Accounts' ? accounts.join(', ') : value] as const,
  );
  return { ...about, parameters };
}

async function writePeriod(
  { db }: ReportDeps,
  path: string,
  report: ReportRow,
  { period, about: ofRun }: { period: Period; about: AboutData },
): Promise<WrittenReport> {
  const accounts = await daysAccounts(db, period.from, period.to);
  const data = { period, about: aboutAccounts(ofRun, accounts) };
  if (report.kind === 'activity') {
    const days = await dayFigures(db, accounts, period.from, period.to);
    return writeActivity(path, { ...data, rows: await activityRows(db, period), days });
  }
  const clock = { at: ofRun.asOf, timezone: ofRun.timezone };
  return writeAgeing(path, { ...data, rows: await openAsOf(db, period, clock) });
}

type RunOfReport = Pick<ReconciliationData, 'summary' | 'about'>;

function accountsOf({ summary }: Pick<RunOfReport, 'summary'>): string[] {
  return summary.accounts.map(({ accountId }) => accountId);
}

/** So many bars are still read well beside another picture. */
const NIGHTS_DRAWN = 14;

/** The nightly workbook: most sums are read before, its rows twice, both times of one snapshot. */
async function writeReconciliationOf(
  deps: ReportDeps,
  path: string,
  { runId }: ReportRow,
  { register, ...run }: RunOfReport & Pick<Told, 'register'>,
): Promise<void> {
  const { db, config } = deps;
  const accountIds = accountsOf(run);
  const [secret, openBefore, bases, elsewhere, tiesByKind, tiesByMoney] = await Promise.all([
    workbookKey(db),
    sumOpenBefore(db, runId, accountIds),
    comparedWith(db, runId, accountIds),
    elsewhereRows(db, runId),
    tieByKind(db, runId, true),
    tieByMoney(db, runId, true),
  ]);
  const coverage = coverageLines(db, runId);
  const nights = await nightMarks(db, runId, accountIds, NIGHTS_DRAWN);
  const signings = await daySignings(db, accountIds, run.about.businessDate);
  const signedFigures = await revisionFigures(db, run.about.businessDate, signings);
  const sums = {
    ...{ openBefore, comparedWith: bases, nights, elsewhere, coverage },
    ...{ signings, signedFigures, tiesByKind, tiesByMoney },
  };
  const snapshots = await runSnapshots(db, runId);
  const nextNight = await nightAfter(deps, accountIds, run.about.asOf);
  return db.snapshot(async (reads) => {
    // The days of an age are those of the run.
    const rule = { ...dueRuleOf(config), timezone: run.about.timezone };
    const rows = rowsOf(reads, runId, run, rule);
    const books = booksOf(reads, config, { ...run, runId, snapshots });
    const written = await writeReconciliation(path, {
      ...{ ...run, secret, ...sums },
      // What the statement adds up is of one moment, also while somebody sends.
      currencies: await currencyRows(reads, runId),
      movedAfter: await movedInWorkbook(reads, accountIds, run.about.businessDate),
      ...rows,
      books,
      reservations: reservationsOf(reads, config, run, nextNight),
    });
    // The lines are read once more, of the same moment.
    await register(written, { lines: rows.lines(), books: books?.lines() ?? null });
  });
}

/** When a night will look again, as the console says it; null: not within a year. */
async function nightAfter(
  { db, config, localTicks }: ReportDeps,
  accountIds: readonly string[],
  asOf: Date,
): Promise<Date | null> {
  const ticks = await localTicks(asOf);
  return (await scheduleFacts(db, asOf, config.schedule, ticks, accountIds)).nextTick;
}

/** Rows that are gone through twice, and are the same both times: one snapshot of the database. */
function reservationsOf(
  reads: LongReads,
  config: ReportDeps['config'],
  run: RunOfReport,
  nextNight: Date | null,
): ReconciliationData['reservations'] {
  const rows = atRiskOfNight(reads, config, accountsOf(run), { ...run.about, nextNight });
  return rows === null ? undefined : readAgain(rows);
}

/** About ten megabytes: each account is asked by a statement, which is not soon planned. */
const BOOK_LINES_KEPT_MAX = 20_000;

/** What became of the money that the gateway shows, where somebody keeps it. */
function booksOf(
  reads: LongReads,
  config: ReportDeps['config'],
  run: RunOfReport & { runId: bigint; snapshots: Awaited<ReturnType<typeof runSnapshots>> },
): ReconciliationData['books'] {
  const rules = settlementRules(config);
  const { businessDate } = run.about;
  if (rules === null || businessDate < rules.times.from) return undefined;
  const asked = { ...run, businessDate, rules };
  return {
    from: rules.times.from,
    lines: readAgain(() => bookLines(reads, asked), BOOK_LINES_KEPT_MAX),
  };
}

function rowsOf(
  reads: LongReads,
  runId: bigint,
  run: RunOfReport,
  rule: DueRule,
): Pick<ReconciliationData, 'breaks' | 'changes' | 'lines' | 'moved' | 'waiting'> {
  const { about } = run;
  const breaks = (kinds?: readonly string[]) =>
    breakRows(reads, runId, { asOf: about.asOf, rule }, kinds);
  const clock = { at: about.asOf, timezone: rule.timezone };
  const allBreaks = readAgain(() => breaks());
  return {
    breaks: (kinds) => (kinds === undefined ? allBreaks() : breaks(kinds)),
    changes: readAgain(() => changeRows(reads, runId, accountsOf(run), clock)),
    lines: readAgain(() => statementLines(reads, runId, clock)),
    moved: readAgain(() => movedRows(reads, runId)),
    waiting: readAgain(() => waitingRows(reads, runId)),
  };
}
