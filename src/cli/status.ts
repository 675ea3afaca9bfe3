// `tieout status`: last night in one sentence.

import { Command } from 'commander';
import { nightSentence } from '../core/summary.js';
import { newestRun } from '../store/runs.js';
import { printJson, printLines, wantsJson, withApp } from './context.js';

export function statusCommand(): Command {
  return new Command('status')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const run = await newestRun(app.db);
          const sentence = sentenceOf(run);
          if (wantsJson(command)) {
            printJson({
              run: run?.businessDate ?? null,
              state: run?.state ?? null,
              sentence,
              asOf: run?.summary?.asOf ?? null,
            });
          } else printLines([sentence]);
          return 0;
        },
        { quiet: true },
      );
    });
}

function sentenceOf(run: Awaited<ReturnType<typeof newestRun>>): string {
  if (run === null) return 'No night has run yet: `tieout run` runs the last one that has ended.';
  if (run.state === 'running') {
    const since = run.createdAt.toISOString();
    return `Business date ${run.businessDate} is being worked on (since ${since}).`;
  }
  if (run.state === 'failed' || run.summary === null) {
    const reason = run.failure ?? 'no reason on record';
    return `Business date ${run.businessDate} failed: ${reason}. \`tieout run\` goes on with it.`;
  }
  return nightSentence(run.summary);
}
