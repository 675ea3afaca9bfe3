// `tieout brake on|off|status`: stops all sending by a person's will, and lets it go again. What
// was stopped, by whom and why is kept; looks and comparisons go on meanwhile.

import { Command } from 'commander';
import { announceIn } from '../../access/record.js';
import type { BrakeOrder } from '../../brake/brake.js';
import { brakeStatus, letBrakeGo, ownJournal, pullBrake } from '../../brake/brake.js';
import { alikeLines, areMany, whoseLine } from '../../core/accounts/alike.js';
import { UsageError } from '../../core/errors.js';
import type { SendsUnderWay } from '../../core/instructions/breaker.js';
import {
  brakeAndCure,
  brakeWords,
  underWayWords,
  WHO_SENDS,
} from '../../core/instructions/breaker.js';
import type { Decider } from '../../core/instructions/decider.js';
import { NO_REASON } from '../../core/instructions/decider.js';
import { clockTrouble } from '../../core/runs/owed.js';
import type { SecurityEvent } from '../../core/securityEvents.js';
import { counted, countText } from '../../core/text/amounts.js';
import { serverFacts } from '../../database/server/serverFacts.js';
import { sendsUnderWay, whyWaiting } from '../../send/batches/sendingStatusStore.js';
import { journalTrouble } from '../../send/journal/journalTrouble.js';
import { elsewhereNotices } from '../../send/stops.js';
import { configuredAccounts } from '../accounts.js';
import type { App } from '../app.js';
import { deciderHere, deciderOf, printJson, printLines, wantsJson, withApp } from '../context.js';
import { noticeLines } from './noticeLines.js';

const NOTHING_LIFTED_EXIT = 1;

interface BrakeFlags {
  reason: string;
  account?: string;
}

export function brakeCommand(): Command {
  const root = new Command('brake');
  moving(root, 'on', 'stop all sending, or that of one account').action(
    async (flags: BrakeFlags, command: Command) => {
      // By whatever configuration: nobody is kept from stopping money.
      const by = (app: App) => orderOf(app, flags, deciderOf(command, app));
      await withApp(command, (app) => on(app, by(app), wantsJson(command)), { quiet: true });
    },
  );
  moving(
    root,
    'off',
    'resume it; also lifts a freeze, and what tieout itself stopped of the --account',
  ).action(async (flags: BrakeFlags, command: Command) => {
    const by = async (app: App) => orderOf(app, flags, await deciderHere(command, app));
    await withApp(command, async (app) => off(app, await by(app), wantsJson(command)), {
      quiet: true,
    });
  });
  root
    .command('status', { isDefault: true })
    .description('what stops the sending, since when and why')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(command, (app) => status(app, wantsJson(command)), { quiet: true });
    });
  return root;
}

function moving(root: Command, name: string, about: string): Command {
  return root
    .command(name)
    .description(about)
    .option('--reason <text>', 'why; it is kept and shown', NO_REASON)
    .option('--account <id>', 'only this account (default: all of them)')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--json', 'print one JSON document');
}

function orderOf(app: App, flags: BrakeFlags, who: Decider): BrakeOrder {
  const reason = flags.reason.trim();
  if (reason === '') throw new UsageError('--reason: say why; it is kept and shown');
  const accountId = flags.account ?? null;
  if (accountId !== null) configuredAccounts(app, [accountId]);
  return { accountId, reason, who };
}

function idsOf(app: App): string[] {
  return app.config.accounts.map((account) => account.accountId);
}

async function on(app: App, order: BrakeOrder, json: boolean): Promise<number> {
  const pulled = await pullBrake(app, order);
  if (json) {
    printJson(pulled.kind === 'on' ? { ...pulled, ...underWayJson(pulled.underWay) } : pulled);
    return 0;
  }
  const [scope, flag] =
    order.accountId === null
      ? ['Nothing is sent', '']
      : [`Account ${order.accountId}: nothing`, ` --account ${order.accountId}`];
  printLines(
    pulled.kind === 'was_on'
      ? [`Nothing to do: ${brakeWords(pulled.standing)}`]
      : [
          `${scope} from now on; looks go on. ` +
            `\`tieout brake off${flag} --reason TEXT\` lets it go.`,
          ...underWayLines(pulled.underWay),
        ],
  );
  return 0;
}

function underWayLines(found: SendsUnderWay): string[] {
  const words = underWayWords(found);
  return words === null ? [] : [words];
}

function underWayJson({ batches, byHand }: SendsUnderWay) {
  return { underWay: batches + byHand, underWayByHand: byHand };
}

async function off(app: App, order: BrakeOrder, json: boolean): Promise<number> {
  const own = ownJournal(app.config);
  const { lifted, remaining } = await letBrakeGo(app, order, own, async (tx, { length }) =>
    length > 0 ? announceIn(tx, app, resumedBy(order, length)) : () => {},
  );
  // What tieout stopped of an account is lifted by its name alone: who names none must hear of it.
  const { accounts } = await brakeStatus(app, idsOf(app), own);
  const stopped = accounts.filter(({ sends }) => !sends);
  // Who lifted nothing although something stands has not done what they came for.
  const mine = (accountId: string): boolean =>
    order.accountId === null || order.accountId === accountId;
  const stands = lifted.length === 0 && stopped.some((one) => one.isLetGo && mine(one.accountId));
  if (json) printJson({ lifted, remaining, stopped });
  else {
    const about = stopped.filter((one) => mine(one.accountId));
    const going = accounts.filter((one) => one.sends && mine(one.accountId));
    const scope = order.accountId === null ? 'all accounts together' : order.accountId;
    printLines([
      ...(lifted.length === 0
        ? [stands ? 'Nothing was resumed; this stands:' : `Nothing was on for ${scope}.`]
        : lifted.map((one) => `Lifted: ${one}`)),
      ...remaining
        .filter(({ accountId }) => accountId === null || mine(accountId))
        .map((one) => `Still on: ${brakeAndCure(one)}`),
      ...accountLines(about, ''),
      ...othersLine(stopped.length - about.length),
      ...(lifted.length === 0
        ? []
        : await waitingLines(
            app,
            going.map(({ accountId }) => accountId),
          )),
    ]);
  }
  return stands ? NOTHING_LIFTED_EXIT : 0;
}

type SendingStatus = Awaited<ReturnType<typeof brakeStatus>>['accounts'][number];

/** A line an account; of many, a line for what is said of several alike. `here`: of who sends. */
function accountLines(statuses: readonly SendingStatus[], here: string): string[] {
  const told = statuses.map(({ accountId, sends, words }) => {
    return { accountId, kind: '', about: `${words}${sends ? here : ''}` };
  });
  if (!areMany(told)) return told.map(({ accountId, about }) => `Account ${accountId}: ${about}`);
  return alikeLines(told).map((line) => {
    const isOne = line.accountIds.length === 1;
    return `${isOne ? 'Account ' : ''}${whoseLine(line)}: ${line.first.about}`;
  });
}

/** Who asked about one account reads of the others that there are such. */
function othersLine(count: number): string[] {
  if (count === 0) return [];
  const others = count === 1 ? '1 other account sends' : `${countText(count)} other accounts send`;
  return [`${others} nothing either: \`tieout brake status\` says why.`];
}

/** What waits goes with whoever sends next: `tieout send` is for what a person approved. */
async function waitingLines(app: App, accountIds: readonly string[]): Promise<string[]> {
  const waiting = await whyWaiting(app.db, accountIds);
  const count = waiting.reduce((sum, { instructions }) => sum + instructions, 0);
  if (count === 0) return [];
  const verb = count === 1 ? 'waits' : 'wait';
  return [`${counted(count, 'instruction')} ${verb} to be sent: ${WHO_SENDS}.`];
}

function resumedBy({ accountId, who }: BrakeOrder, count: number): SecurityEvent {
  const name = `${who.name} (command line)`;
  const at = { address: 'this machine', accountId };
  return { what: 'sending_resumed', who: name, ...at, about: `${count} lifted` };
}

async function status(app: App, json: boolean): Promise<number> {
  const found = await brakeStatus(app, idsOf(app), ownJournal(app.config));
  const underWay = await sendsUnderWay(app.db, null);
  const elsewhere = await elsewhereNotices(app);
  const journal = journalTrouble(app.config.dataDir);
  const { skewSeconds } = await serverFacts(app.db, new Date());
  const clock = clockTrouble(skewSeconds * 1000);
  const told = elsewhere.map(({ accountId, text }) => ({ accountId, text }));
  if (json) printJson({ ...found, ...underWayJson(underWay), elsewhere: told, journal, clock });
  else {
    const troubles = [journal, clock].filter((trouble) => trouble !== null);
    const here = troubles.length === 0 ? '' : ', but not from this host';
    printLines([
      ...troubles.map((trouble) => `Nothing is sent from this host: ${trouble}`),
      ...(found.brakes.length === 0
        ? ['Nobody has stopped sending.']
        : found.brakes.map((one) => brakeWords(one))),
      ...accountLines(found.accounts, here),
      ...noticeLines(elsewhere),
      ...underWayLines(underWay),
    ]);
  }
  return 0;
}
