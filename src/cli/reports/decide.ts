// `tieout decide FILE.xlsx`: what a person filled in the workbook of a night, done row by row. The
// rules are decide/decideWorkbook.ts's; here are the words of the command line.

import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Command } from 'commander';
import { ARCHIVE_BYTES_MAX } from '../../../reports/xlsx/read/archive.js';
import { listUsers } from '../../access/usersStore.js';
import { fileFailure, UsageError } from '../../core/errors.js';
import { countText, moneyIn, sumText } from '../../core/text/amounts.js';
import { decidedTotals, resultWords } from '../../decide/decidedTotals.js';
import type { DecidedRow } from '../../decide/decideWorkbook.js';
import { decideWorkbook } from '../../decide/decideWorkbook.js';
import type { WhichWorkbook } from '../../decide/whichWorkbook.js';
import { whichWorkbook, workbookSentences } from '../../decide/whichWorkbook.js';
import { enqueuesWhenAsked } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';
import type { Line } from '../terminal.js';
import { columns } from '../terminal.js';

export function decideCommand(): Command {
  return new Command('decide')
    .description('do what was filled in a workbook: sheets Breaks and Waiting for you')
    .argument('<file>', 'the reconciliation workbook, saved as .xlsx')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--check', 'say what would happen, change nothing')
    .option('--json', 'print one JSON document')
    .action(async (file: string, flags: { check?: boolean }, command: Command) => {
      const bytes = await workbookOf(file);
      await withApp(
        command,
        async (app) => {
          const who = await deciderHere(command, app);
          const check = flags.check === true;
          const people = (await listUsers(app.db)).map(({ name }) => name);
          const rows = await decideWorkbook(
            {
              ...{
                db: app.db,
                config: app.config,
                queuePort: enqueuesWhenAsked(app),
                log: app.log,
              },
              ...{ now: () => new Date(), newId: randomUUID },
            },
            bytes,
            { who, may: null, check, people },
          );
          const workbook = await whichWorkbook(app.db, bytes, null);
          if (wantsJson(command)) printJson({ check, decidedBy: who, workbook, rows });
          else printLines([...bookLines(workbook), ...linesOf(rows, check)]);
          return rows.some(({ result }) => result === 'refused') ? 1 : 0;
        },
        { quiet: true },
      );
    });
}

async function workbookOf(file: string): Promise<Buffer> {
  try {
    if ((await stat(file)).size > ARCHIVE_BYTES_MAX) throw new UsageError(`${file} is too large`);
    return await readFile(file);
  } catch (error) {
    const failure = fileFailure(error);
    if (failure !== null) throw new UsageError(failure);
    throw error;
  }
}

function bookLines(workbook: WhichWorkbook): Line[] {
  const [own = '', ...newer] = workbookSentences(workbook, (at) => at.toISOString());
  return [
    workbook === null ? { text: own, tone: 'warn' } : own,
    ...newer.map((text) => ({ text, tone: 'warn' as const })),
  ];
}

function linesOf(rows: readonly DecidedRow[], check: boolean): Line[] {
  const done = check ? 'would be done' : 'done';
  const sum = resultWords(rows, done);
  if (rows.length === 0) return ['no row is filled: nothing to decide'];
  return [
    ...rows.map(({ sheet, row, id, order, decision, result, reason }) => {
      const what = `${sheet}, row ${row}: ${decision || '(nothing)'} ${id === '' ? '' : `#${id}`}`;
      const of = order === null ? '' : orderWords(order);
      return `${what.trimEnd()}${of}: ${result === 'done' ? done : result}, ${reason}`;
    }),
    check ? `${sum}; nothing was changed` : sum,
    ...columns(
      decidedTotals(rows).map(({ what, rows: count, ...money }) => {
        return ['', countText(count), what, sumText(money)];
      }),
      [1, 3],
    ),
  ];
}

function orderWords({ orderNo, accountId, amount, currency, payout, ...order }: Order): string {
  const why = order.waitsFor === null ? '' : `, waiting because ${order.waitsFor}`;
  if (payout !== null) return `, account ${accountId}, ${payout.asked}, to ${payout.payee}${why}`;
  const money = amount === null ? 'no amount' : moneyIn(amount, currency);
  const what = order.operation === null ? '' : `, ${order.operation}`;
  return ` of order ${orderNo}, account ${accountId}, ${money}${what}${why}`;
}

type Order = NonNullable<DecidedRow['order']>;
