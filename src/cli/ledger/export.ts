// `tieout export outcomes`: what became of each instruction, for the shop or the ERP. Streamed, in
// order, resumable: the reader keeps the highest `seq` it has seen and asks for what comes after.

import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { DelimitedFormat } from '../../../reports/delimited.js';
import { delimitedText, writeDelimited } from '../../../reports/delimited.js';
import { OUTCOMES } from '../../../reports/outcomes.js';
import { InputError, UsageError } from '../../core/errors.js';
import type { Db } from '../../database/db.js';
import {
  knownOutcome,
  lastOutcome,
  lastPutBack,
  outcomesBetween,
  publishOutcomes,
} from '../../instructions/outcomesStore.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { printDocument, printText } from '../standardOutput.js';

interface ExportFlags {
  after: string;
  format: DelimitedFormat;
  out?: string;
}

/** Programs hold it against the view: a text that a spreadsheet would run stays as it is, too. */
const AS_KEPT = { isAsKept: true } as const;

export function exportCommand(): Command {
  const command = new Command('export').description('what others need of what tieout did');
  command
    .command('outcomes')
    .description('what became of each instruction, in order, for the shop or the ERP')
    .option('--after <seq>', 'only what comes after this number', '0')
    .addOption(new Option('--format <format>').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--out <file>', 'write it there; never over an existing file')
    .option('--json', 'print one JSON document')
    .action(async (flags: ExportFlags, inner: Command) => {
      const after = numberAfter(flags.after);
      await withApp(
        inner,
        async (app) => {
          await publishOutcomes(app.db);
          const last = await lastOutcome(app.db);
          await requireKnown(app.db, after);
          const rows = outcomesBetween(app.db, after, last);
          const isJson = wantsJson(inner);
          if (flags.out !== undefined) {
            const path = resolve(flags.out);
            const file = await writeDelimited(path, flags.format, OUTCOMES, rows, AS_KEPT);
            if (isJson) printJson({ ...file, after: Number(after), last: Number(last) });
            else printLines([`${file.path}  (last seq ${last})`]);
          } else if (isJson) {
            const head = { after: Number(after), last: Number(last) };
            await printDocument(head, 'outcomes', delimitedText('ndjson', OUTCOMES, rows));
          } else await printText(delimitedText(flags.format, OUTCOMES, rows, AS_KEPT));
          return 0;
        },
        { quiet: true },
      );
    });
  return command;
}

/**
 * Numbers that were lost with a database that was put back are behind the reader by themselves: the
 * next one is beyond them. One that is ahead of these, too, would miss what comes, unknowing.
 */
async function requireKnown(db: Db, after: bigint): Promise<void> {
  const known = await knownOutcome(db);
  const at = after > known ? await lastPutBack(db) : null;
  if (at === null) return;
  throw new InputError(
    `--after ${after}: the next outcome is ${known + 1n}. The database was put back ` +
      `(${at.toISOString()}) and has lost what came behind its newest one: read on by ` +
      `--after ${known}, and ask of what you have behind it with tieout order`,
  );
}

function numberAfter(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new UsageError(`--after ${text}: not the number of an outcome`);
}
