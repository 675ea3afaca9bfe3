// `tieout verify`: is everything that was sealed still there, and does it still say the same
// (verifyChain.ts)?
// `tieout verify DATE`: does the run come out the same when it is worked out again from what was
// stored? `--workbook FILE`: is it the file that was made? Exit 1 where not, with what differs by
// name.

import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../core/errors.js';
import { checkDay } from '../../core/period.js';
import type { RunRow } from '../../runs/runsStore.js';
import { findRun } from '../../runs/runsStore.js';
import type { Difference } from '../../verify/scratchStore.js';
import type { VerifiedRun } from '../../verify/verifyRun.js';
import { verifyRun } from '../../verify/verifyRun.js';
import type { WorkbookFinding } from '../../verify/verifyWorkbook.js';
import { verifyWorkbook, workbookLines } from '../../verify/verifyWorkbook.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { summaryLines } from '../runs/summaryText.js';
import type { Line } from '../terminal.js';
import { tellDecisionsKey, tellPublicKey, verifyChain } from './verifyChain.js';

interface VerifyFlags {
  workbook?: string;
  heads?: string;
  /** true: it is asked for */
  publicKey?: string | true;
  decisionsKey?: true;
}

export function verifyCommand(): Command {
  return new Command('verify')
    .argument('[date]', 'business date to work out again (default: check the chain)')
    .option('--workbook <file>', 'is it the file that was made, and does the database still agree?')
    .option('--heads <file>', 'compare the signed ends of the chains that were kept in this file')
    .option(
      '--public-key [file]',
      'with --heads: the key that signed them (default: our own); alone: print our own',
    )
    .option('--decisions-key', 'print the public half of decisions.key')
    .option('--json', 'print one JSON document')
    .action(async (date: string | undefined, flags: VerifyFlags, command: Command) => {
      const isJson = wantsJson(command);
      refuseMixed(date, flags);
      if (date !== undefined) checkDay(date);
      const { workbook: file, heads, publicKey } = flags;
      await withApp(command, (app) => {
        if (flags.decisionsKey === true) return tellDecisionsKey(app, isJson);
        if (file !== undefined) return workbook(app, file, isJson);
        if (heads === undefined && publicKey !== undefined) return tellPublicKey(app, isJson);
        if (date !== undefined) return verifyOne(app, date, isJson);
        const key = publicKey === true ? undefined : publicKey;
        return verifyChain(app, { heads, publicKey: key }, isJson);
      });
    });
}

function refuseMixed(date: string | undefined, flags: VerifyFlags): void {
  const { workbook: file, heads, publicKey } = flags;
  if (file !== undefined && date !== undefined) {
    throw new UsageError('--workbook FILE names its night itself; leave the date out');
  }
  if (flags.decisionsKey === true && (date ?? file ?? heads ?? publicKey) !== undefined) {
    throw new UsageError('--decisions-key stands alone: it prints our own');
  }
  if ((heads ?? publicKey) !== undefined && (date ?? file) !== undefined) {
    throw new UsageError('--heads and --public-key go with the check of the chain alone');
  }
  if (heads === undefined && typeof publicKey === 'string') {
    throw new UsageError('--public-key FILE goes with --heads FILE');
  }
}

async function workbook(app: App, file: string, isJson: boolean): Promise<number> {
  const path = resolve(file);
  const found = await verifyWorkbook({ db: app.db }, path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(`there is no file ${path}`);
  });
  if (isJson) printJson({ path, ...withoutBigints(found) });
  else printLines(workbookLines(path, found));
  return found.kind === 'as_made' ? 0 : 1;
}

/** JSON has no bigint; the numbers of rows are our own and say nothing outside. */
function withoutBigints(found: WorkbookFinding): object {
  if (found.kind === 'not_ours') return found;
  const { reportId: _report, runId: _run, ...report } = found.report;
  return { ...found, report };
}

async function verifyOne(app: App, date: string, isJson: boolean): Promise<number> {
  const run = await findRun(app.db, date);
  if (run === null) throw new UsageError(`there is no run of ${date}`);
  if (run.state === 'running') throw new UsageError(`the run of ${date} is still being worked on`);
  const found = await verifyRun(
    {
      db: app.db,
      config: app.config,
      version: app.version,
      progress: (done, total) => app.progress('verify', done, total),
    },
    run,
  );
  const isSame = found.differences.length === 0;
  if (isJson) printJson({ date, same: isSame, ...found });
  else printLines(runLines(run, found));
  return isSame ? 0 : 1;
}

function runLines(run: RunRow, found: VerifiedRun): Line[] {
  const { differences, pages, versionThen, versionNow } = found;
  const versions =
    versionThen === versionNow
      ? `tieout ${versionNow}, as then`
      : `tieout ${versionNow}; the night was worked out by ${versionThen}`;
  const from = `from ${pages} stored answers, by ${versions}`;
  if (differences.length === 0) {
    return [
      `${run.businessDate} worked out again ${from}: every figure is the same.`,
      ...(found.summary === null
        ? []
        : summaryLines({ ...found.summary, reports: [], unwritten: [] })),
    ];
  }
  return [
    `${run.businessDate} worked out again ${from}: ${differences.length} figures differ.`,
    ...differences.map(differenceLine),
  ];
}

function differenceLine({ accountId, orderNo, what, was, is }: Difference): string {
  const where = [accountId, orderNo].filter((part) => part !== null).join(' ');
  const figure = where === '' ? what : `${where}: ${what}`;
  return `${figure}: then ${was ?? 'nothing'}, now ${is ?? 'nothing'}`;
}
