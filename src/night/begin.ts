// Which run is it, and whose? A date that has not ended is refused; an older one is shown again;
// one that another living process works on is joined; everything else is created or taken over.

import { forgetOtherMeanings } from '../compare/compare.js';
import { configHash, describeConfig } from '../config/view.js';
import { alikeLines, firstNamed, whoseLine } from '../core/accounts/alike.js';
import { observedSentence } from '../core/accounts/observed.js';
import { LEFT, TieoutError, UsageError } from '../core/errors.js';
import { isDay } from '../core/period.js';
import { noHistorySentence } from '../core/runs/notices.js';
import { clockTrouble } from '../core/runs/owed.js';
import { isFinished, type RunSummary } from '../core/runs/summary.js';
import type { Account } from '../gateway/account.js';
import type { BusinessDay, LastEnded } from '../runs/calendarStore.js';
import { businessDay, lastEnded } from '../runs/calendarStore.js';
import type { Run } from '../runs/deps.js';
import { isAtWork } from '../runs/lease.js';
import { leaveRun, removeDryRun, takeRun } from '../runs/leaseStore.js';
import { blockedAccounts, enterAccounts } from '../runs/runAccountsStore.js';
import { keepProfile } from '../runs/runRecordStore.js';
import type { RunRow } from '../runs/runsStore.js';
import {
  coveredDates,
  createRun,
  deleteDryRun,
  dryRuns,
  findRun,
  heldRun,
  newestDate,
} from '../runs/runsStore.js';
import type { SendDeps } from '../send/deps.js';

type BeginDeps = Pick<SendDeps, 'config' | 'db' | 'isAlive' | 'now' | 'runner' | 'version'>;

export interface RunRequest {
  /** null: the last date that has ended */
  date: string | null;
  /** empty: all accounts of the configuration */
  accountIds: readonly string[];
  isDry: boolean;
  /** a clock's wish: a run that another clock has finished meanwhile is left as it is */
  unlessFinished?: boolean;
  /** a clock's wish: nobody waits for an answer, so that a gateway that goes away is waited for */
  waitsForGateway?: boolean;
}

export type Beginning =
  | { kind: 'mine'; run: Run; resumed: boolean }
  /** somebody works on all that was asked for */
  | { kind: 'join'; run: RunRow }
  /** somebody works on another date, or on other accounts of this one: first they, then we */
  | { kind: 'wait'; run: RunRow }
  /** it changed while it was looked at */
  | { kind: 'again' }
  | { kind: 'finished' | 'readOnly'; summary: RunSummary };

export async function beginRun(deps: BeginDeps, request: RunRequest): Promise<Beginning> {
  const accounts = accountsOf(deps, request.accountIds);
  await removeDeadDryRuns(deps);
  const ended = await lastEnded(deps.db, deps.now(), deps.config.schedule);
  const day = await dayOf(deps, request.date, ended.date);
  const newest = await newestDate(
    deps.db,
    accounts.map((account) => account.accountId),
    day.date,
  );
  const run = await findRun(deps.db, day.date);
  if (request.date === null && run !== null) requireClock(ended);
  if (newest !== null && day.date < newest) return showAgain(run, day.date, newest, request);
  if (request.isDry) return beginDry(deps, day, accounts);
  const { waitsForGateway = false } = request;
  const held = await heldRun(deps.db);
  if (held !== null && isAtWork(deps, held)) return besides(held, day, accounts);
  // Of another date: it is the newest one's to go on with, and this is a newer one.
  if (held !== null && held.businessDate !== day.date) await leaveRun(deps.db, held, LEFT);
  if (run === null) return beginNew(deps, day, accounts, waitsForGateway);
  if (request.unlessFinished === true && isFinished(run.state) && run.summary !== null) {
    return { kind: 'finished', summary: run.summary };
  }
  return takeOver(deps, run, accounts, waitsForGateway);
}

/** One date is worked on at a time, and a join is right only where it covers what was asked. */
function besides(held: RunRow, day: BusinessDay, accounts: readonly Account[]): Beginning {
  const isCovered = accounts.every(({ accountId }) => held.workingOn.includes(accountId));
  const isSame = held.businessDate === day.date && isCovered;
  return { kind: isSame ? 'join' : 'wait', run: held };
}

/** Why nothing of an account is sent, and how to go on; the same of many accounts is one. */
export async function blockedSentences(run: Run): Promise<string[]> {
  const blocked = (await blockedAccounts(run.db, run.runId)).map(({ accountId, block: kind }) => {
    if (kind === 'no_history') {
      return { accountId, kind, about: kind, why: noHistorySentence(accountId) };
    }
    const liveFrom = run.accounts.find((one) => one.accountId === accountId)?.liveFrom ?? null;
    const why = observedSentence(liveFrom);
    return { accountId, kind, about: why, why };
  });
  return alikeLines(blocked).map((line) => {
    const isOne = line.accountIds.length === 1;
    return `${isOne ? 'account ' : ''}${whoseLine(line)}: ${line.first.why}`;
  });
}

function accountsOf(
  deps: Pick<SendDeps, 'config'>,
  accountIds: readonly string[],
): readonly Account[] {
  if (accountIds.length === 0) return deps.config.accounts;
  return [...new Set(accountIds)].map((accountId) => {
    const account = deps.config.accounts.find((one) => one.accountId === accountId);
    if (account) return account;
    const known = deps.config.accounts.map((one) => one.accountId).join(', ');
    throw new UsageError(`--account ${accountId}: no such account in the configuration (${known})`);
  });
}

async function dayOf(deps: BeginDeps, date: string | null, last: string): Promise<BusinessDay> {
  const { schedule } = deps.config;
  if (date === null) return businessDay(deps.db, last, schedule);
  if (!isDay(date)) {
    throw new UsageError(`--date ${date}: not a date of the form YYYY-MM-DD`);
  }
  if (date > last) {
    throw new UsageError(
      `--date ${date}: this business date has not ended (cut-off ${schedule.cutOff} ` +
        `${schedule.timezone}); the last one that has is ${last}`,
    );
  }
  const day = await businessDay(deps.db, date, schedule);
  if (day.endsAt > day.startsAt) return day;
  throw new UsageError(`--date ${date}: ${schedule.timezone} left this date out`);
}

/** What was run already is not done once more, or shown, by a clock that hides a night owed. */
function requireClock({ date, there, skewMs }: LastEnded): void {
  const trouble = clockTrouble(skewMs);
  if (trouble === null || there === date) return;
  throw new TieoutError(
    `${trouble}; by that of the database business date ${there} has ended, by this one ` +
      `${date}, which was run already: set this clock right (NTP), and run again`,
  );
}

function showAgain(run: RunRow | null, date: string, newest: string, asked: RunRequest): Beginning {
  // Shown again it would read, every night, as if the night had been done.
  if (asked.date === null) {
    throw new UsageError(
      `the last business date that has ended is ${date}, and ${newest} was run already, by ` +
        'another schedule.timezone or cutOff, or by another clock: the next run begins once a ' +
        'later date has ended',
    );
  }
  if (run?.summary) {
    const shown = run.summary.accounts.map(({ accountId }) => accountId);
    const absent = asked.accountIds.filter((accountId) => !shown.includes(accountId));
    if (absent.length > 0) {
      throw new UsageError(
        `--date ${date}: ${newest} was run since, and ${firstNamed(absent)} is not in the run of ` +
          'this date, which takes no account in any more; without --date the account is run for ' +
          'the last date that has ended',
      );
    }
    // Its last try may have failed after it had been summed up.
    const state = run.state === 'failed' ? run.state : run.summary.state;
    return { kind: 'readOnly', summary: { ...run.summary, state } };
  }
  throw new UsageError(
    `--date ${date}: the newest run is ${newest} and the gateway shows only the present, so an ` +
      'older date cannot be run any more; there is no run of this date to show',
  );
}

/** A dry run leaves no trace, even when its process was killed. */
async function removeDeadDryRuns(deps: Pick<SendDeps, 'db' | 'isAlive'>): Promise<void> {
  for (const run of await dryRuns(deps.db)) {
    if (!isAtWork(deps, run)) await removeDryRun(deps.db, run.runId, deleteDryRun);
  }
}

async function beginNew(
  deps: BeginDeps,
  day: BusinessDay,
  accounts: readonly Account[],
  waitsForGateway: boolean,
): Promise<Beginning> {
  const covers = await coveredDates(deps.db, day.date, deps.config.schedule);
  const runId = await createRun(deps.db, {
    ...newRun(deps, day, covers, accounts),
    waitsForGateway,
  });
  // Another process created it a moment ago, or another date.
  if (runId === null) return { kind: 'again' };
  return enter(deps, runOf(deps, { runId, day, covers, isDry: false }, accounts), false);
}

async function beginDry(
  deps: BeginDeps,
  day: BusinessDay,
  accounts: readonly Account[],
): Promise<Beginning> {
  const covers = await coveredDates(deps.db, day.date, deps.config.schedule);
  const runId = await createRun(deps.db, {
    ...newRun(deps, day, covers, accounts),
    isDry: true,
  });
  const run = runOf(deps, { runId: runId ?? 0n, day, covers, isDry: true }, accounts);
  const isThere = runId !== null && (await enterAccounts(deps.db, run, accounts, deps.now()));
  if (!isThere) throw new Error('a dry run could not be created');
  return { kind: 'mine', run, resumed: false };
}

async function takeOver(
  deps: BeginDeps,
  held: RunRow,
  accounts: readonly Account[],
  waitsForGateway: boolean,
): Promise<Beginning> {
  const taken = await takeRun(deps.db, held.runId, held.runner?.id ?? null, {
    runner: deps.runner,
    accountIds: accounts.map((account) => account.accountId),
    settings: describeConfig(deps.config),
    settingsSha256: configHash(deps.config),
    version: deps.version,
    environment: deps.config.environment,
    waitsForGateway,
  });
  if (!taken) return { kind: 'again' };
  const day = { date: held.businessDate, startsAt: held.startsAt, endsAt: held.endsAt };
  const { runId, covers } = held;
  return enter(deps, runOf(deps, { runId, day, covers, isDry: false }, accounts), true);
}

/** What it works on, and by which meanings. */
async function enter(deps: BeginDeps, run: Run, resumed: boolean): Promise<Beginning> {
  await keepProfile(deps.db, deps.config.gateway.profileText);
  // The database was put back in this very moment, and has no such run.
  if (!(await enterAccounts(deps.db, run, run.accounts, deps.now()))) return { kind: 'again' };
  await forgetOtherMeanings(deps, run);
  return { kind: 'mine', run, resumed };
}

function newRun(
  deps: BeginDeps,
  day: BusinessDay,
  covers: readonly string[],
  accounts: readonly Account[],
) {
  return {
    day,
    covers,
    isDry: false,
    environment: deps.config.environment,
    settings: describeConfig(deps.config),
    settingsSha256: configHash(deps.config),
    version: deps.version,
    runner: deps.runner,
    accountIds: accounts.map((account) => account.accountId),
    now: deps.now(),
    waitsForGateway: false,
  };
}

function runOf(
  deps: BeginDeps,
  run: { runId: bigint; day: BusinessDay; covers: readonly string[]; isDry: boolean },
  accounts: readonly Account[],
): Run {
  return {
    runId: run.runId,
    businessDate: run.day.date,
    covers: run.covers,
    startsAt: run.day.startsAt,
    endsAt: run.day.endsAt,
    isDry: run.isDry,
    accounts,
    db: deps.db,
  };
}
