// `tieout report DATE`: where the workbooks of a night lie, or its rows as CSV or NDJSON.

import { constants, copyFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Table } from '../../reports/columns.js';
import { BREAKS, MOVEMENTS, ORDERS } from '../../reports/columns.js';
import type { DelimitedFormat } from '../../reports/delimited.js';
import { delimitedText, writeDelimited } from '../../reports/delimited.js';
import type { App } from '../compose.js';
import { TieoutError, UsageError } from '../core/errors.js';
import { breakRows, movedRows, orderRows, waitingRows } from '../store/reportRows.js';
import { writtenReports } from '../store/reports.js';
import type { RunRow } from '../store/runs.js';
import { findRun } from '../store/runs.js';
import { printJson, printLines, wantsJson, withApp } from './context.js';

const KINDS = ['reconciliation', 'orders', 'breaks', 'moved', 'waiting'] as const;

interface ReportFlags {
  kind: (typeof KINDS)[number];
  format: 'xlsx' | DelimitedFormat;
  out?: string;
}

export function reportCommand(): Command {
  return new Command('report')
    .argument('<date>', 'business date, YYYY-MM-DD')
    .addOption(new Option('--kind <kind>').choices(KINDS).default('reconciliation'))
    .addOption(new Option('--format <format>').choices(['xlsx', 'csv', 'ndjson']).default('xlsx'))
    .option('--out <file>', 'copy or write it there; never over an existing file')
    .option('--json', 'print where it lies as one JSON document')
    .addHelpText('after', '\nxlsx: reconciliation and orders. csv, ndjson: all but reconciliation.')
    .action(async (date: string, flags: ReportFlags, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const run = await findRun(app.db, date);
          if (!run?.summary) throw new UsageError(`there is no finished run of ${date}`);
          if (flags.format === 'xlsx') return workbook(app, run, flags, wantsJson(command));
          return rows(app, run, flags, flags.format);
        },
        { quiet: true },
      );
    });
}

async function workbook(app: App, run: RunRow, flags: ReportFlags, json: boolean): Promise<number> {
  const written = await writtenReports(app.db, run.runId);
  const found = written.find((one) => one.kind === flags.kind && one.format === 'xlsx');
  if (!found) {
    throw new UsageError(`there is no ${flags.kind} workbook of ${run.businessDate}`);
  }
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
  flags: ReportFlags,
  format: DelimitedFormat,
): Promise<number> {
  const accountIds = (run.summary?.accounts ?? []).map((account) => account.accountId);
  const asOf = new Date(run.summary?.asOf ?? run.createdAt);
  switch (flags.kind) {
    case 'reconciliation':
      throw new UsageError(`--kind reconciliation is a workbook; --format ${format} takes others`);
    case 'orders':
      return write(format, flags.out, ORDERS, orderRows(app.db, run.runId));
    case 'breaks':
      return write(format, flags.out, BREAKS, whole(await breakRows(app.db, accountIds, asOf)));
    case 'moved':
      return write(format, flags.out, MOVEMENTS, whole(await movedRows(app.db, run.runId)));
    case 'waiting':
      return write(format, flags.out, MOVEMENTS, whole(await waitingRows(app.db, run.runId)));
  }
}

async function write<R>(
  format: DelimitedFormat,
  out: string | undefined,
  table: Table<R>,
  chunks: AsyncIterable<readonly R[]>,
): Promise<number> {
  if (out === undefined) {
    for await (const text of delimitedText(format, table, chunks)) process.stdout.write(text);
    return 0;
  }
  const written = await writeDelimited(resolve(out), format, table, chunks);
  printLines([written.path]);
  return 0;
}

async function* whole<R>(all: readonly R[]): AsyncGenerator<readonly R[]> {
  yield all;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
