// `tieout settlement`: what became of the captured money, a sentence a currency; its batches, what
// is open, the fees. Owns no figure: they are summed in the database, and lists are printed as they
// are read.

import { Command } from 'commander';
import { UsageError } from '../../core/errors.js';
import { periodOf } from '../../core/period.js';
import { leftBooks } from '../../settlement/leftBooks.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import { settledAccounts } from '../../settlement/settlement.js';
import {
  batchLines,
  feeFigures,
  oldestOpen,
  openItems,
  settlementFigures,
} from '../../settlement/settlementStore.js';
import { leftLines, leftOpenLines, settlementLines } from '../../settlement/settlementWords.js';
import type { App } from '../app.js';
import { printJson, printLines, shownLines, wantsJson, withApp } from '../context.js';
import { print, wanted } from '../standardOutput.js';
import type { Listing } from '../terminal.js';
import { columns, growingColumns, jsonText } from '../terminal.js';
import { requiredRules } from './settlementRules.js';
import {
  BATCH_FIGURES,
  BATCH_LINES,
  batchCells,
  FEE_FIGURES,
  feeCells,
  OPEN_ITEMS,
} from './settlementText.js';

export function settlementCommand(): Command {
  const command = new Command('settlement');
  const add = (name: string, about: string, work: Work, isDefault = false): void => {
    command
      .command(name, { isDefault })
      .description(about)
      .option('--json', 'print one JSON document')
      .action(async (...given: unknown[]) => {
        const inner = given.at(-1) as Command;
        const argument = typeof given[0] === 'string' ? given[0] : undefined;
        await withApp(inner, (app) => work(askedOf(app), argument, wantsJson(inner)), QUIET);
      });
  };
  add('summary', 'captured, settled, paid out: a sentence a currency', summary, true);
  add('batches', 'the batches of the acquirer', batches);
  add('show <batch>', 'a batch line by line, with what each line settles', show);
  add('open', 'every item that the closings are the sum of', open);
  add('fees [month]', 'what the acquirer took, and what was agreed', fees);
  return command.addHelpText('after', '\nWithout a command: summary, and --json with it.');
}

const QUIET = { quiet: true };

interface Asked {
  readonly app: App;
  readonly rules: SettlementRules;
  readonly accountIds: readonly string[];
}

type Work = (asked: Asked, argument: string | undefined, isJson: boolean) => Promise<number>;

function askedOf(app: App): Asked {
  const accountIds = app.config.accounts.map(({ accountId }) => accountId);
  return { app, rules: requiredRules(app.config), accountIds };
}

async function summary({ app, rules, accountIds }: Asked, _: unknown, isJson: boolean) {
  const accounts = await settledAccounts(app.db, rules, accountIds, null);
  const document = await settlementFigures(app.db, accounts, rules.times);
  const left = await leftBooks(app.db, rules, accountIds);
  if (isJson) printJson({ ...document, leftAccounts: left.accounts });
  else {
    const { from } = rules.times;
    printLines(settlementLines(document, await oldestOpen(app.db, accounts), from));
    printLines(leftLines(left, from));
  }
  return 0;
}

async function batches({ app, rules, accountIds }: Asked, _: unknown, isJson: boolean) {
  const accounts = await settledAccounts(app.db, rules, accountIds, null);
  const { asOf, batches: found } = await settlementFigures(app.db, accounts, rules.times);
  if (isJson) printJson({ asOf, batches: found });
  else
    printLines(
      found.length === 0 ? ['No batch yet.'] : columns(found.map(batchCells), BATCH_FIGURES),
    );
  return 0;
}

async function show({ app, accountIds }: Asked, batch: string | undefined, isJson: boolean) {
  const rows = orRefused(batchLines(app.db, accountIds, batch ?? ''), `there is no batch ${batch}`);
  if (isJson) {
    await printMembers('{"lines":[', rows);
    await print(']}\n');
  } else await printTable(rows, BATCH_LINES);
  return 0;
}

/** Nothing is printed of what is not there. */
async function* orRefused<Row>(rows: AsyncIterable<Row[]>, problem: string) {
  let count = 0;
  for await (const chunk of rows) {
    count += chunk.length;
    yield chunk;
  }
  if (count === 0) throw new UsageError(problem);
}

async function open({ app, rules, accountIds }: Asked, _: unknown, isJson: boolean) {
  const left = await leftBooks(app.db, rules, accountIds);
  const leftIds = left.accounts.map(({ accountId }) => accountId);
  const rows = openItems(app.db, accountIds, rules.times);
  const leftRows = openItems(app.db, leftIds, rules.times);
  if (isJson) {
    await printMembers('{"items":[', rows);
    await printMembers('],"leftItems":[', leftRows);
    await print(']}\n');
    return 0;
  }
  if ((await printTable(rows, OPEN_ITEMS)) === 0) printLines(['Nothing is open.']);
  printLines(leftOpenLines(leftIds));
  await printTable(leftRows, OPEN_ITEMS);
  return 0;
}

async function fees({ app, rules, accountIds }: Asked, month: string | undefined, isJson: boolean) {
  const period = month === undefined ? null : periodOf(month);
  if (month !== undefined && period === null) throw new UsageError(`${month}: no month or date`);
  const rows = await feeFigures(app.db, accountIds, period, rules.times, rules.fees);
  if (isJson) printJson({ period: month ?? null, fees: rows });
  else
    printLines(
      rows.length === 0 ? ['No fee was taken.'] : columns(rows.map(feeCells), FEE_FIGURES),
    );
  return 0;
}

/** Rows as they are read, a line each below their heads; answers how many there were. */
async function printTable<Row>(
  rows: AsyncIterable<Row[]>,
  { head, figures, cells }: Listing<Row>,
): Promise<number> {
  let count = 0;
  const lined = growingColumns(figures);
  for await (const chunk of wanted(rows)) {
    const heads = count > 0 ? [] : [head];
    await print(shownLines(lined([...heads, ...chunk.map(cells)])));
    count += chunk.length;
  }
  return count;
}

/** Rows as they are read: the members of a list of one JSON document, behind these words. */
async function printMembers<Row>(before: string, rows: AsyncIterable<Row[]>): Promise<void> {
  let count = 0;
  for await (const chunk of wanted(rows)) {
    await print((count > 0 ? ',' : before) + chunk.map(jsonText).join());
    count += chunk.length;
  }
  if (count === 0) await print(before);
}
