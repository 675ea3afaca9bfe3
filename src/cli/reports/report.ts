// `tieout report DATE|MONTH`: where the workbooks of a run lie, or its rows as CSV or NDJSON; an
// activity statement, the ageing of open breaks or the settlement for a day or a month, made when
// it is asked for.

import { constants, copyFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Table } from '../../../reports/column.js';
import { inEnvironment, statesAsOf } from '../../../reports/column.js';
import { BREAKS, COVERAGE, INSTRUCTIONS, ORDERS } from '../../../reports/columns.js';
import type { CsvOptions, DelimitedFormat } from '../../../reports/delimited.js';
import { delimitedText, SEPARATORS, writeDelimited } from '../../../reports/delimited.js';
import { ACTIVITY, AGED_BREAKS } from '../../../reports/periodColumns.js';
import { OPEN_ITEMS } from '../../../reports/settlement/settlementColumns.js';
import { dueRuleOf } from '../../breaks/dueRule.js';
import { messageOf, TieoutError, UsageError } from '../../core/errors.js';
import type { Period } from '../../core/period.js';
import { isDay, periodOf } from '../../core/period.js';
import { staysLine } from '../../core/runs/removal.js';
import type { CoverageLine } from '../../core/runs/reporting.js';
import type { ReportFile } from '../../core/runs/summary.js';
import { settlementPeriod } from '../../core/settlement/settlementReport.js';
import { coverageRows } from '../../pull/snapshot/coverageStore.js';
import { activityRows, newestRunOf, openAsOf } from '../../report/periodRowsStore.js';
import { breakRows, movedRows, orderRows, waitingRows } from '../../report/reportRowsStore.js';
import { queueReports, writtenByIds, writtenReports } from '../../report/reportsStore.js';
import { openItemsOf } from '../../report/settlement/settlementRowsStore.js';
import { withLeft } from '../../runs/leftAccountsStore.js';
import { removalOf } from '../../runs/runRecordStore.js';
import type { RunRow } from '../../runs/runsStore.js';
import { findRun } from '../../runs/runsStore.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { requiredRules } from '../settlement/settlementRules.js';
import { printDocument, printText } from '../standardOutput.js';
import { filled } from '../terminal.js';

const SHEETS = ['breaks', 'moved', 'waiting', 'coverage'] as const;
const NIGHTLY = ['reconciliation', 'orders', ...SHEETS] as const;
const PERIODIC = ['activity', 'ageing', 'settlement'] as const;
const KINDS = [...NIGHTLY, ...PERIODIC] as const;

const DATE_WORDS =
  'business date, YYYY-MM-DD; for activity, ageing and settlement a month too, YYYY-MM';

interface ReportFlags {
  kind: (typeof KINDS)[number];
  format: 'xlsx' | DelimitedFormat;
  out?: string;
  bom?: boolean;
  separator?: keyof typeof SEPARATORS;
  decimal?: '.' | ',';
}

type GivenFlags = Omit<ReportFlags, 'kind'> & Partial<Pick<ReportFlags, 'kind'>>;

export function reportCommand(): Command {
  return new Command('report')
    .argument('<date>', DATE_WORDS)
    .addOption(
      new Option('--kind <kind>', 'default: reconciliation; of csv and ndjson: breaks').choices(
        KINDS,
      ),
    )
    .addOption(new Option('--format <format>').choices(['xlsx', 'csv', 'ndjson']).default('xlsx'))
    .option('--out <file>', 'copy or write it there; never over an existing file')
    .option('--bom', 'csv: begin with the mark by which Excel knows UTF-8')
    .addOption(new Option('--separator <sign>', 'csv: between fields').choices([',', ';', 'tab']))
    .addOption(new Option('--decimal <sign>', 'csv: in amounts').choices(['.', ',']))
    .option('--json', 'print where it lies, or the rows of csv and ndjson, as one JSON document')
    .addHelpText(
      'after',
      [
        '',
        filled(
          'xlsx: reconciliation, orders, activity, ageing, settlement. csv, ndjson: all but ' +
            'reconciliation, whose sheets are breaks, moved, waiting and coverage; of settlement ' +
            'the open items.',
        ),
        filled(
          'settlement: of a date everything since settlement.from up to and including it; of a ' +
            'month its opening, what moved in it, and its closing.',
        ),
      ].join('\n'),
    )
    .action(async (date: string, given: GivenFlags, command: Command) => {
      const kind = given.kind ?? (given.format === 'xlsx' ? 'reconciliation' : 'breaks');
      const flags = { ...given, kind };
      csvOf(flags);
      await withApp(
        command,
        async (app) => {
          const isJson = wantsJson(command);
          if (isPeriodic(flags.kind)) return periodic(app, date, flags, flags.kind, isJson);
          if (!isDay(date))
            throw new UsageError(`${date} is no day; --kind ${flags.kind} is of one`);
          const run = await findRun(app.db, date);
          if (!run?.summary) throw new UsageError(`there is no finished run of ${date}`);
          if (flags.format === 'xlsx') return workbook(app, run, flags, isJson);
          const { environment } = run.summary;
          const output = outputOf(flags, flags.format, date, isJson, environment);
          return rows(app, run, flags.kind, output);
        },
        { quiet: true },
      );
    });
}

/** How a CSV is written; a format that is none has no such signs. */
function csvOf({ format, bom, separator, decimal }: ReportFlags): CsvOptions {
  const isAsked = bom !== undefined || separator !== undefined || decimal !== undefined;
  if (isAsked && format !== 'csv') {
    throw new UsageError('--bom, --separator and --decimal are of --format csv');
  }
  return {
    ...(bom && { byteOrderMark: true }),
    ...(separator && { separator: SEPARATORS[separator] }),
    ...(decimal && { decimalSign: decimal }),
  };
}

/** As of when the states in a file are: of the night, of the moment in which it is written. */
const ofNight = (date: string): string => `night of ${date}`;
const ofNow = (): string => `now (${new Date().toISOString()})`;
/** What people decided about a break since its night stands beside what that night found. */
const ofBreaks = (date: string, decided: string): string =>
  `${ofNight(date)}; ${decided} ${ofNow()}`;

/** Where the rows go, and how they are written. */
interface Output extends CsvOptions {
  format: DelimitedFormat;
  out: string | undefined;
  isJson: boolean;
  /** of the run whose rows they are */
  environment: string;
  /** what one JSON document begins with */
  head: { date: string; kind: string };
}

function outputOf(
  flags: ReportFlags,
  format: DelimitedFormat,
  date: string,
  isJson: boolean,
  environment: string,
): Output {
  const head = { date, kind: flags.kind };
  return { ...csvOf(flags), format, out: flags.out, isJson, environment, head };
}

function isPeriodic(kind: string): kind is (typeof PERIODIC)[number] {
  return (PERIODIC as readonly string[]).includes(kind);
}

async function periodic(
  app: App,
  date: string,
  flags: ReportFlags,
  kind: (typeof PERIODIC)[number],
  json: boolean,
): Promise<number> {
  const period = periodOf(date);
  if (period === null) throw new UsageError(`${date} is neither a day nor a month`);
  const rules = kind === 'settlement' ? requiredRules(app.config) : null;
  if (rules !== null && period.to < rules.times.from) {
    throw new UsageError(`${date} is before settlement.from (${rules.times.from})`);
  }
  const run = await newestRunOf(app.db, period);
  if (run === null) throw new UsageError(`there is no finished run in ${date}`);
  if (flags.format === 'xlsx') {
    const { writeReport } = await import('../../report/writeReport.js');
    const ids = await queueReports(app.db, run.runId, [kind], new Date(), period.name);
    for (const id of ids) await writeReport(app, id);
    const [found] = await writtenByIds(app.db, ids);
    if (!found) throw new TieoutError(`the ${kind} report of ${date} was not written`);
    return hand(found, flags, json);
  }
  const summary = (await findRun(app.db, run.businessDate))?.summary;
  const environment = summary?.environment ?? app.config.environment;
  const output = outputOf(flags, flags.format, date, json, environment);
  if (rules !== null) return openItems(app, period, rules, run.businessDate, output);
  if (kind === 'activity') {
    // The figures of each night as its run ended, beside its date.
    return write(output, ACTIVITY, whole(await activityRows(app.db, period)));
  }
  const at = new Date(summary?.asOf ?? Date.now());
  const { timezone } = app.config.schedule;
  const open = await openAsOf(app.db, period, { at, timezone });
  const states = ofBreaks(run.businessDate, 'owner and note');
  return write(output, statesAsOf(AGED_BREAKS, states), whole(open));
}

async function openItems(
  app: App,
  period: Period,
  rules: SettlementRules,
  businessDate: string,
  output: Output,
): Promise<number> {
  const own = app.config.accounts.map(({ accountId }) => accountId);
  const accountIds = await withLeft(app.db, own);
  const whole = settlementPeriod(period, rules.times.from);
  const asked = { accountIds, period: whole, times: rules.times };
  const items = openItemsOf(app.db, asked, rules, businessDate);
  const known = `end of ${period.to} as known ${ofNow()}`;
  const words = `${known}; age and overdue as of the ${ofNight(businessDate)}`;
  return write(output, statesAsOf(OPEN_ITEMS, words), items);
}

async function workbook(app: App, run: RunRow, flags: ReportFlags, json: boolean): Promise<number> {
  const sheet = SHEETS.find((one) => one === flags.kind);
  if (sheet !== undefined) {
    throw new UsageError(
      `--kind ${sheet} takes --format csv or ndjson; as a sheet it stands in --kind reconciliation`,
    );
  }
  const written = await writtenReports(app.db, run.runId);
  const found = written.find((one) => one.kind === flags.kind && one.format === 'xlsx');
  if (!found) {
    throw new UsageError(`there is no ${flags.kind} workbook of ${run.businessDate}`);
  }
  return hand(found, flags, json);
}

/** Says where a written report lies, or copies it where it is wanted. */
async function hand(found: ReportFile, flags: ReportFlags, json: boolean): Promise<number> {
  if (flags.out !== undefined) {
    const target = resolve(flags.out);
    await copyFile(found.path, target, constants.COPYFILE_EXCL).catch((error: unknown) => {
      throw new TieoutError(`${target} cannot be written: ${messageOf(error)}`, { cause: error });
    });
  }
  if (json) printJson(found);
  else printLines([flags.out === undefined ? found.path : resolve(flags.out)]);
  return 0;
}

async function rows(
  app: App,
  run: RunRow,
  kind: (typeof NIGHTLY)[number],
  output: Output,
): Promise<number> {
  const { format } = output;
  const asOf = new Date(run.summary?.asOf ?? run.createdAt);
  if (kind === 'orders' || kind === 'coverage') await assertKept(app, run);
  const night = ofNight(run.businessDate);
  switch (kind) {
    case 'reconciliation':
      throw new UsageError(
        `--kind reconciliation is a workbook; with --format ${format}: ${SHEETS.join(', ')}`,
      );
    case 'orders':
      return write(output, statesAsOf(ORDERS, night), orderRows(app.db, run.runId));
    case 'breaks': {
      const states = ofBreaks(run.businessDate, 'owner, note and waiver');
      const table = statesAsOf(BREAKS, states);
      const asked = { asOf, rule: dueRuleOf(app.config) };
      return write(output, table, breakRows(app.db, run.runId, asked));
    }
    case 'moved':
      return write(output, statesAsOf(INSTRUCTIONS, ofNow()), movedRows(app.db, run.runId));
    case 'coverage':
      return write(output, statesAsOf(COVERAGE, night), coverage(app.db, run.runId));
    case 'waiting':
      return write(output, statesAsOf(INSTRUCTIONS, ofNow()), waitingRows(app.db, run.runId));
  }
}

/** An order of which nothing is kept is not one that was not looked at. */
async function assertKept(app: App, run: RunRow): Promise<void> {
  const removal = await removalOf(app.db, run.runId);
  if (removal) throw new TieoutError(staysLine(removal));
}

async function write<R>(
  { format, out, isJson, head, environment, ...options }: Output,
  bare: Table<R>,
  chunks: AsyncIterable<readonly R[]>,
): Promise<number> {
  const table = inEnvironment(bare, environment);
  if (out !== undefined) {
    const written = await writeDelimited(resolve(out), format, table, chunks, options);
    if (isJson) printJson({ ...head, format, ...written });
    else printLines([written.path]);
  } else if (isJson) await printDocument(head, 'rows', delimitedText('ndjson', table, chunks));
  else await printText(delimitedText(format, table, chunks, options));
  return 0;
}

/** With the codes that the sheet says in words. */
async function* coverage(db: App['db'], runId: bigint): AsyncGenerator<readonly CoverageLine[]> {
  for await (const rows of coverageRows(db, runId)) {
    yield rows.map(({ pageNo: page, ...row }) => ({ ...row, page }));
  }
}

async function* whole<R>(all: readonly R[]): AsyncGenerator<readonly R[]> {
  yield all;
}
