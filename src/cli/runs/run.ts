// `tieout run`: one business date, with workers of its own; exits as docs/CONTRACT.md section 1
// says.

import { Command, Option } from 'commander';
import { tellOnce } from '../../alerts/watchRuns.js';
import { UsageError } from '../../core/errors.js';
import { EXIT_OF_RUN, EXIT_WORDS } from '../../core/exitCodes.js';
import type { RunRequest } from '../../night/begin.js';
import type { RunResult } from '../../night/run.js';
import { runDate } from '../../night/run.js';
import { waitingCounts } from '../../report/consoleRunsStore.js';
import { newestRun } from '../../runs/runsStore.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { watchOf } from '../scheduleStatus.js';
import type { Line } from '../terminal.js';
import { dryLines, printWouldDo } from './dryRunText.js';
import { replannedLines } from './noticeLines.js';
import { summaryLines } from './summaryText.js';

interface RunFlags {
  date?: string;
  account: string[];
  dryRun?: boolean;
  format?: 'csv';
}

export function runCommand(): Command {
  return new Command('run')
    .option('--date <YYYY-MM-DD>', 'business date (default: the last one that has ended)')
    .option('--account <id>', 'only this account; may be given again', collect, [])
    .option('--dry-run', 'look, and list what would be done; send nothing and keep nothing')
    .addOption(new Option('--format <format>', 'of the list of a dry run').choices(['csv']))
    .option('--json', 'print the summary as one JSON document')
    .addHelpText('after', EXIT_HELP)
    .action(async (flags: RunFlags, command: Command) => {
      if (flags.format !== undefined && flags.dryRun !== true) {
        throw new UsageError('--format goes with --dry-run; for a night: tieout report');
      }
      const work = async (app: App): Promise<number> => {
        const request = {
          date: flags.date ?? null,
          accountIds: flags.account,
          isDry: flags.dryRun ?? false,
        };
        const result = await runAndTell(app, request);
        if (wantsJson(command)) printJson(result.summary);
        else if (flags.format === 'csv') await printWouldDo(result.summary.wouldDo ?? []);
        else printLines([...summaryLines(result.summary), ...dryLines(result.summary)]);
        if (!request.isDry && !wantsJson(command)) printLines(await replannedOf(app, result));
        return EXIT_OF_RUN[result.summary.state];
      };
      // A cron begins it, and nobody begins it again: a server that is started anew is waited
      // for. One that is away is a failure, which whoever reads the exit code wants to know soon.
      await withApp(command, work, { partsSeconds: 20, isWork: true });
    });
}

/** They stop no night, so that nothing of its summary names them: told after the newest one. */
async function replannedOf(app: App, { summary }: RunResult): Promise<Line[]> {
  const newest = await newestRun(app.db);
  if (newest?.businessDate !== summary.businessDate) return [];
  const waiting = await waitingCounts(
    app.db,
    summary.accounts.map(({ accountId }) => accountId),
  );
  return replannedLines(waiting, summary);
}

/** However it ended, what it has to tell is told before this process is gone. */
async function runAndTell(app: App, request: RunRequest): Promise<RunResult> {
  try {
    return await runDate(await app.sendDeps(), request, await app.workforce());
  } finally {
    if (!request.isDry) await tellOnce(watchOf(app));
  }
}

const EXIT_LINES = Object.entries(EXIT_WORDS).map(([code, words]) => `  ${code}  ${words}`);
const EXIT_HELP = ['', 'Exit codes:', ...EXIT_LINES].join('\n');

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
