// `tieout runs list|show`: all nights, and one of them as it was summed up.

import { Command } from 'commander';
import { movedBreaks } from '../../breaks/breaksStore.js';
import { comparedWith } from '../../breaks/changedStore.js';
import { TieoutError, UsageError } from '../../core/errors.js';
import { checkDay } from '../../core/period.js';
import { removedLine } from '../../core/runs/removal.js';
import type { RunSummary } from '../../core/runs/summary.js';
import { ordersLookedAt } from '../../core/runs/summary.js';
import { counted } from '../../core/text/amounts.js';
import { stateLabel } from '../../core/text/labels.js';
import type { CoverageRow } from '../../pull/snapshot/coverageStore.js';
import { coverageRows } from '../../pull/snapshot/coverageStore.js';
import { removalOf } from '../../runs/runRecordStore.js';
import type { RunRow } from '../../runs/runsStore.js';
import { findRun, listRuns } from '../../runs/runsStore.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import type { Part } from '../terminal.js';
import { columns, moreLines, stateWord } from '../terminal.js';
import { coverageLines, DETAILS_MAX, tieLines } from './runDetails.js';
import { summaryLines } from './summaryText.js';

const LISTED_MAX = 400;

export function runsCommand(): Command {
  const runs = new Command('runs');
  runs
    .command('list', { isDefault: true })
    .description('one line a night, newest first')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const found = await listRuns(app.db, LISTED_MAX + 1);
          const rows = found.slice(0, LISTED_MAX);
          const isAll = found.length === rows.length;
          const more = isAll ? [] : ['... and older ones: tieout runs show DATE'];
          if (wantsJson(command)) printJson(rows.map(asJson));
          else if (rows.length === 0) printLines(['No night has run yet.']);
          else printLines([...columns(rows.map(cellsOf)), ...more]);
          return 0;
        },
        { quiet: true },
      );
    });
  runs
    .command('show')
    .argument('[date]', 'business date (default: the newest)')
    .description('the summary of one night')
    .option('--coverage', 'the orders that were not plainly asked and answered, one by one')
    .option('--tie', "what took the night before's open breaks to this one's, one by one")
    .option('--json', 'print the summary, or what was asked for, as one JSON document')
    .action(async (date: string | undefined, flags: ShowFlags, command: Command) => {
      if (date !== undefined) checkDay(date);
      await withApp(
        command,
        async (app) => {
          const run = date ? await findRun(app.db, date) : (await listRuns(app.db, 1))[0];
          if (!run) throw new UsageError(`there is no run of ${date ?? 'any date'}`);
          if (run.summary && (flags.coverage || flags.tie)) {
            return showDetails(app, { ...run, summary: run.summary }, flags, wantsJson(command));
          }
          if (wantsJson(command)) printJson(run.summary ?? asJson(run));
          else printLines(run.summary ? summaryLines(run.summary) : columns([cellsOf(run)]));
          return 0;
        },
        { quiet: true },
      );
    });
  return runs;
}

interface ShowFlags {
  coverage?: boolean;
  tie?: boolean;
}

async function showDetails(
  app: App,
  { runId, summary }: { runId: bigint; summary: RunSummary },
  flags: ShowFlags,
  json: boolean,
): Promise<number> {
  const removal = flags.coverage ? await removalOf(app.db, runId) : null;
  if (removal) throw new TieoutError(removedLine(removal));
  const coverage = flags.coverage ? await coverageOf(app, runId) : null;
  const moved = flags.tie ? await movedBreaks(app.db, runId, DETAILS_MAX) : null;
  const more = [
    ...moreLines(coverage === null ? 0 : coverage.found - coverage.rows.length, IN_WORKBOOK),
    ...moreLines(moved === null ? 0 : movedIn(summary) - moved.length, IN_WORKBOOK),
  ];
  const accountIds = summary.accounts.map(({ accountId }) => accountId);
  const since = flags.tie ? await comparedWith(app.db, runId, accountIds) : [];
  if (json) {
    printJson({
      run: summary.run,
      ...(coverage === null ? {} : { coverage: coverage.rows }),
      ...(moved === null ? {} : { since, moved }),
    });
    // One document on standard output; that it is not all of them is said beside it.
    for (const line of more) process.stderr.write(`${line}\n`);
    return 0;
  }
  printLines([
    ...(coverage === null ? [] : coverageLines(summary, coverage.rows)),
    ...(moved === null ? [] : tieLines(summary, since, moved)),
    ...more,
  ]);
  return 0;
}

const IN_WORKBOOK = 'the workbook of the night';

/** How many events its tie counts. */
function movedIn({ accounts }: RunSummary): number {
  const moves = accounts.map(({ tie }) => tie.new + tie.reopened + tie.waived + tie.resolved);
  return moves.reduce((sum, one) => sum + one, 0);
}

async function coverageOf(
  app: App,
  runId: bigint,
): Promise<{ rows: CoverageRow[]; found: number }> {
  const rows: CoverageRow[] = [];
  let found = 0;
  for await (const some of coverageRows(app.db, runId)) {
    rows.push(...some.slice(0, DETAILS_MAX - rows.length));
    found += some.length;
  }
  return { rows, found };
}

function asJson(run: RunRow) {
  return {
    run: run.businessDate,
    state: run.state,
    covers: run.covers,
    asOf: run.summary?.asOf ?? null,
    startedAt: run.createdAt,
    finishedAt: run.finishedAt,
    failure: run.failure,
  };
}

function cellsOf(run: RunRow): Part[] {
  const accounts = run.summary?.accounts ?? [];
  const open = accounts.reduce((sum, one) => sum + one.tie.openAfter, 0);
  const figures = run.summary
    ? `${counted(ordersLookedAt(run.summary), 'order')}, ${counted(open, 'open break')}`
    : (run.failure ?? '');
  return [run.businessDate, stateWord(run.state, stateLabel(run.state)), figures];
}
