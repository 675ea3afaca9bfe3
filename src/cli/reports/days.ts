// `tieout days`: business days as finance closes them. `list` shows how one day leads to the next,
// or one day in full; `close`, `lock` and `reopen` keep who decided, why, and what was open then.

import { Command } from 'commander';
import { alikeLines, areMany, firstNamed, whoseLine } from '../../core/accounts/alike.js';
import { UsageError } from '../../core/errors.js';
import { NO_REASON, WORDS_MAX } from '../../core/instructions/decider.js';
import { checkDay } from '../../core/period.js';
import { NOT_KNOWN, workbookWords } from '../../core/runs/businessDay.js';
import type { DayOrder, DayVerdict } from '../../days/days.js';
import { closeDay, lockDay, reopenDay } from '../../days/days.js';
import {
  dayEvents,
  dayFigures,
  lateMovements,
  movedAcross,
  openItems,
} from '../../days/daysStore.js';
import { daysToSign } from '../../days/shownDay.js';
import { sinceNights } from '../../days/sinceNightStore.js';
import { unconfiguredAccounts, withDays } from '../../runs/leftAccountsStore.js';
import { accountsOfDays, accountsToSign } from '../accounts.js';
import type { App } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';
import { checklistLines, dayLines, type Row, tableLines } from './daysText.js';

interface Flags {
  account?: string[];
  reason?: string;
  withEarlier?: boolean;
  revision?: string;
  check?: boolean;
}

const [FIRST, LAST] = ['0001-01-01', '9999-12-31'];

export function daysCommand(): Command {
  const days = new Command('days');
  days
    .command('list', { isDefault: true })
    .argument('[date]', 'one business date in full (default: all, a line each)')
    .description('how one day leads to the next: opening, captured, refunded, closing')
    .option('--account <id...>', 'only these accounts')
    .option('--json', 'print one JSON document')
    .action(async (date: string | undefined, flags: Flags, command: Command) => {
      if (date !== undefined) checkDay(date);
      const isJson = wantsJson(command);
      await withApp(
        command,
        async (app) => {
          const accountIds = await accountsOfDays(app, flags.account);
          const left = flags.account === undefined ? await leftOf(app.db, accountIds) : [];
          return list(app, { date, accountIds, left, isJson });
        },
        QUIET,
      );
    });
  signing(days, 'close', 'close a day: it is prepared', closeDay).option(
    '--with-earlier',
    'close every open day before it, too',
  );
  signing(days, 'lock', 'make a closed day final: it is reviewed', lockDay);
  deciding(days, 'reopen', 'open the newest closed day again', reopenDay);
  return days;
}

const QUIET = { quiet: true };

function signing(...[days, name, about, decide]: Parameters<typeof deciding>): Command {
  return deciding(days, name, about, decide)
    .option(
      '--revision <n>',
      'only if this revision of its workbook is the newest (default: the newest; it says which)',
    )
    .option('--check', 'say what would be signed, with the whole checklist; nothing is kept');
}

function deciding(
  days: Command,
  name: string,
  about: string,
  decide: (db: App['db'], order: DayOrder) => Promise<DayVerdict>,
): Command {
  return days
    .command(name)
    .argument('<date>', 'business date, YYYY-MM-DD')
    .description(about)
    .option('--account <id...>', 'only these accounts (default: all)')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--reason <text>', 'why; it is kept', NO_REASON)
    .option('--json', 'print one JSON document')
    .action(async (date: string, flags: Flags, command: Command) => {
      checkDay(date);
      const reason = reasonOf(flags);
      await withApp(
        command,
        async (app) => {
          const who = await deciderHere(command, app);
          const verdicts: DayVerdict[] = [];
          for (const accountId of await accountsToSign(app, flags.account)) {
            const order = { accountId, date, who, reason, ...howOf(app, flags) };
            verdicts.push(await decide(app.db, order));
          }
          const isCheck = flags.check === true;
          if (wantsJson(command)) printJson(isCheck ? verdicts.map(wouldBe) : verdicts);
          else if (areMany(verdicts)) printLines(gatheredLines(name, verdicts));
          else printLines(verdicts.flatMap((verdict) => verdictLines(name, verdict)));
          if (isCheck && !wantsJson(command)) printLines(['Nothing was signed.']);
          return verdicts.some((verdict) => verdict.kind !== 'done') ? 1 : 0;
        },
        QUIET,
      );
    });
}

function howOf({ config }: App, { withEarlier = false, revision, check: isCheck = false }: Flags) {
  const how = { withEarlier, secondPerson: config.days.secondPerson, isCheck };
  if (revision === undefined) return how;
  if (/^[1-9]\d{0,8}$/.test(revision)) return { ...how, revision: Number(revision) };
  throw new UsageError(`--revision ${revision} is no number of a revision, such as 2`);
}

function reasonOf({ reason = '' }: Flags): string {
  const text = reason.trim();
  if (text !== '' && text.length <= WORDS_MAX) return text;
  throw new UsageError(`--reason: a text of 1 to ${WORDS_MAX} characters`);
}

/** Of what was only checked nothing was done. */
function wouldBe(verdict: DayVerdict): object {
  return verdict.kind === 'done' ? { ...verdict, kind: 'would' } : verdict;
}

function verdictLines(name: string, verdict: DayVerdict): string[] {
  const [first = [], ...more] = verdictParts(name, verdict);
  const lines = more.flat().map((line) => `  ${line}`);
  return [`${verdict.accountId}: ${first.join('')}`, ...lines];
}

/** Of many accounts what is the same stands once, with whose it is. */
function gatheredLines(name: string, verdicts: readonly DayVerdict[]): string[] {
  const told = verdicts.flatMap((verdict) => {
    const { accountId, kind } = verdict;
    return verdictParts(name, verdict).map(([line = '', about]) => {
      return { accountId, kind, about: [line, ...(about ? [about.trim()] : [])].join(': ') };
    });
  });
  return alikeLines(told).map((line) => `${whoseLine(line)}: ${line.first.about}`);
}

/**
 * What was done, and what of its checklist was not well as it was signed; of what was only checked
 * all of it. A line each, and under it what it is about.
 */
function verdictParts(name: string, verdict: DayVerdict): string[][] {
  if (verdict.kind !== 'done') return [[`not done: ${verdict.reason}`]];
  const { dates, workbooks, checklist } = verdict;
  const isDone = { close: 'closed', lock: 'locked', reopen: 'open again' }[name] ?? name;
  const done = checklist === undefined ? isDone : `would be ${isDone}`;
  const signedOn = (date: string) => workbooks?.find(({ businessDate }) => businessDate === date);
  const on = dates.map((date) => `${date}: on ${workbookWords(signedOn(date) ?? null)}`);
  const lines = checklist ?? verdict.knowing ?? [];
  return [
    [`${dates.join(', ')} ${done}`],
    ...(workbooks === undefined ? [] : on.map((line) => [line])),
    ...lines.map((line) => checklistLines(line, '')),
  ];
}

async function leftOf(db: App['db'], accountIds: readonly string[]): Promise<string[]> {
  return withDays(db, await unconfiguredAccounts(db, accountIds));
}

/** So that nobody takes the list for whole. */
function leftLines([first, ...more]: readonly string[]): string[] {
  if (first === undefined) return [];
  return [
    `Not listed, since not in the configuration any more: the days of ` +
      `${firstNamed([first, ...more])} (tieout days list --account ${first})`,
  ];
}

interface Asked {
  date: string | undefined;
  accountIds: readonly string[];
  /** accounts that left the configuration and have days that are not listed */
  left: readonly string[];
  isJson: boolean;
}

async function list(app: App, { date, accountIds, left, isJson }: Asked): Promise<number> {
  const days = await dayFigures(app.db, accountIds, date ?? FIRST, date ?? LAST);
  const { settlement, gateway } = app.config;
  const kept = {
    hasSettlement: settlement !== null,
    hasPayoutUnit: gateway.profile.payout.unit !== null,
  };
  if (date === undefined) {
    if (isJson) printJson({ days, notKnown: NOT_KNOWN, leftAccounts: left });
    else {
      printLines(days.length > 0 ? tableLines(days, kept) : ['No money has moved yet.']);
      printLines(leftLines(left));
    }
    return 0;
  }
  const since = await sinceNights(app.db, [date], accountIds);
  const toSign = await daysToSign(app.db, accountIds, date, since);
  const configured = app.config.accounts.map((one) => one.accountId);
  const accounts = [];
  for (const day of toSign) {
    const { accountId, state, workbook, lines, changed, changedAbout, signedOn } = day;
    const isConfigured = configured.includes(accountId);
    const late = await lateMovements(app.db, accountId, date);
    const moved = await movedAcross(app.db, accountId, date);
    accounts.push({
      accountId,
      isConfigured,
      state,
      days: days.filter((day) => day.accountId === accountId),
      late: late.rows,
      lateCount: late.count,
      movedAcross: moved.rows as Row[],
      movedAcrossCount: moved.count,
      events: await dayEvents(app.db, accountId, date),
      openNow: (await openItems(app.db, accountId)).count,
      workbook,
      checklist: lines,
      changed,
      changedAbout,
      signedOn,
    });
  }
  if (isJson) printJson({ date, accounts, notKnown: NOT_KNOWN, leftAccounts: left });
  else {
    printLines(accounts.flatMap((account) => dayLines(date, account, kept)));
    printLines(leftLines(left));
  }
  return 0;
}
