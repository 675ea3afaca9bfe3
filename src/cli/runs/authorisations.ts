// `tieout authorisations`: money that is reserved at the gateway and not taken, the first to lapse
// first. Owns its words on a terminal; what lapses when is authorisations/authorisations.ts's.

import { Command, Option } from 'commander';
import type { AskedAt, ShownAuthorisation } from '../../authorisations/authorisations.js';
import { accountAuthorisations, shownAuthorisations } from '../../authorisations/authorisations.js';
import type { AuthorisationOrder } from '../../authorisations/authorisationsStore.js';
import { AUTHORISATION_ORDERS } from '../../authorisations/authorisationsStore.js';
import { accountSentences } from '../../authorisations/authorisationWords.js';
import { UsageError } from '../../core/errors.js';
import { moneyIn } from '../../core/text/amounts.js';
import { labelOf } from '../../core/text/labels.js';
import { readSchedule } from '../../night/owedRun.js';
import { configuredAccounts } from '../accounts.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { scheduleDepsOf } from '../scheduleStatus.js';
import { columns, moreLines } from '../terminal.js';

const LISTED_MAX = 10_000;
const LISTED_DEFAULT = 200;

interface Flags {
  account?: string;
  all?: boolean;
  sort: AuthorisationOrder;
  limit: string;
}

export function authorisationsCommand(): Command {
  return new Command('authorisations')
    .option('--account <id>', 'only this account')
    .option('--all', 'also those that are in time, and those of which nobody knows when they lapse')
    .addOption(
      new Option('--sort <by>', 'hours left, or amount')
        .choices(AUTHORISATION_ORDERS)
        .default('hours'),
    )
    .option('--limit <n>', 'at most so many', String(LISTED_DEFAULT))
    .option('--json', 'print one JSON document')
    .action(async (flags: Flags, command: Command) => {
      await withApp(command, (app) => list(app, flags, wantsJson(command)), { quiet: true });
    });
}

/** Now, and the next night as the schedule has it. */
async function askedNow(app: App): Promise<AskedAt> {
  const { now, facts } = await readSchedule(scheduleDepsOf(app));
  return { now, nextNight: facts.nextTick };
}

async function list(app: App, flags: Flags, isJson: boolean): Promise<number> {
  const accountIds = configuredAccounts(app, flags.account === undefined ? [] : [flags.account]);
  const at = await askedNow(app);
  const accounts = await accountAuthorisations(app.db, app.config, accountIds, at, true);
  const isAll = flags.all === true;
  const limit = limitOf(flags.limit);
  const page = { isAll, order: flags.sort, limit: limit + 1, offset: 0 };
  const found = await shownAuthorisations(app.db, app.config, accountIds, at, page);
  const rows = found.slice(0, limit);
  if (isJson) {
    printJson({ asOf: at.now, nextNight: at.nextNight, accounts, reservations: rows });
  } else {
    printLines([
      ...accounts.flatMap(accountSentences),
      ...columns(rows.map(authorisationCells), [0, 1]),
    ]);
  }
  if (found.length > limit) {
    const counted = isAll
      ? accounts
      : await accountAuthorisations(app.db, app.config, accountIds, at, false);
    const sums = counted.flatMap((one) => one.sums);
    const all = sums.reduce((sum, { reservations }) => sum + reservations, 0);
    const how = `--limit, --account${isAll ? '' : ', --all'}`;
    for (const line of moreLines(all - limit, how)) process.stderr.write(`${line}\n`);
  }
  return 0;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LISTED_MAX) return limit;
  throw new UsageError(`--limit ${text}: a number from 1 to ${LISTED_MAX}`);
}

function authorisationCells(row: ShownAuthorisation): string[] {
  const { accountId, orderNo, currency, amount, lapsesAt, owner } = row;
  const money = amount === null ? 'no readable amount' : moneyIn(amount, currency);
  const when = lapsesAt === null ? 'lapses at an unknown time' : `lapses ${lapsesAt.toISOString()}`;
  const obstacle = owner === null ? row.obstacle : `${row.obstacle}  owner ${owner}`;
  return [
    `  ${hoursText(row)}`,
    money,
    accountId,
    orderNo,
    when,
    `wanted: ${row.wanted}`,
    obstacle,
  ];
}

function hoursText({ standing, hoursLeft }: ShownAuthorisation): string {
  if (hoursLeft === null) return standing === null ? 'unknown' : labelOf(standing);
  if (standing !== 'lapsed') return `${hoursLeft} h left`;
  return `lapsed ${hoursLeft === 0 ? 'less than 1' : -hoursLeft} h ago`;
}
