// `tieout status`: last night in one sentence, what is owed, and when the next run begins.

import { Command } from 'commander';
import { accountAuthorisations } from '../../authorisations/authorisations.js';
import { riskSentences } from '../../authorisations/authorisationWords.js';
import { unkeptBreaks } from '../../breaks/unkeptStore.js';
import { messageOf } from '../../core/errors.js';
import type { Notice } from '../../core/runs/notices.js';
import { type LeftAccountFacts, leftAccountNotice } from '../../core/runs/notices.js';
import {
  didNotStart,
  nextSentence,
  owedSentence,
  silenceSentence,
  stoppedSentence,
} from '../../core/runs/owed.js';
import { strangeOrdersNotice } from '../../core/runs/strangeOrders.js';
import { runSentence } from '../../core/runs/summary.js';
import { leftMoneyNotice, unkeptBreaksNotice } from '../../core/settlement/unkeptSettlement.js';
import { counted, countText, moneyIn } from '../../core/text/amounts.js';
import { ASKED_LIMITS } from '../../database/limits.js';
import { gaveUpWaiting } from '../../database/server/lockWaits.js';
import { inLedgerWords, mayBeLedger } from '../../ledger/ledgerTroubleStore.js';
import { strangeOrders } from '../../ledger/strangeOrdersStore.js';
import { leftMoney } from '../../movements/leftMoneyStore.js';
import { readSchedule } from '../../night/owedRun.js';
import { type OutboxFigures, outboxFigures } from '../../outbox/outboxStore.js';
import type { SeenCode } from '../../pull/snapshot/statusCodesStore.js';
import { statusCodesSeen } from '../../pull/snapshot/statusCodesStore.js';
import type { Waiting } from '../../report/consoleRunsStore.js';
import { waitingCounts } from '../../report/consoleRunsStore.js';
import { failedReports } from '../../report/reportsStore.js';
import { lookbackFrom } from '../../runs/deps.js';
import { leftAccounts, unconfiguredAccounts } from '../../runs/leftAccountsStore.js';
import type { RunRow } from '../../runs/runsStore.js';
import { aheadNotices, stopNotices } from '../../send/stops.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import { scheduleDepsOf } from '../scheduleStatus.js';
import type { Line } from '../terminal.js';
import { stateWord } from '../terminal.js';
import { noticeLines, replannedLines } from './noticeLines.js';

export function statusCommand(): Command {
  return new Command('status')
    .option('--words', 'every code the gateway ever used, with its meaning')
    .option('--json', 'print one JSON document')
    .action(async (flags: { words?: boolean }, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const status = await readSchedule(scheduleDepsOf(app));
          const { owed, facts, silence } = status;
          // The sentence of a silent run says already that it is owed, and what to type.
          const isSaid = silence !== null && owed.kind === 'goOn';
          const about = isSaid ? null : owedSentence(owed, status.now);
          const words = await statusCodesSeen(app.db, null);
          const alerts = await outboxFigures(app.db);
          const accountIds = app.config.accounts.map(({ accountId }) => accountId);
          const { now, elsewhere } = await waitingNow(app, accountIds);
          const stands = await standing(app, accountIds, status.now);
          const { stops, left, strange, ledger, unkept } = stands;
          const run = withStopsNow(await withReportsNow(app, status.run), stops);
          const sentence = silence === null ? sentenceOf(run) : silenceSentence(silence);
          const at = { now: status.now, nextNight: facts.nextTick };
          const lapsing = await accountAuthorisations(app.db, app.config, accountIds, at, false);
          const atRisk = riskSentences(lapsing);
          if (wantsJson(command)) {
            printJson({
              run: run?.businessDate ?? null,
              state: run?.state ?? null,
              sentence,
              asOf: run?.summary?.asOf ?? null,
              owed,
              didNotStart: didNotStart(owed, status.now),
              nextTick: facts.nextTick,
              nextBusinessDate: facts.nextDue,
              alerts,
              silentSince: silence?.since ?? null,
              now: countsNow(now),
              stops: stops.map(told),
              leftAccounts: left.map(told),
              ledger,
              strangeOrders: strange.map(told),
              settlementNotKept: unkept.map(told),
              authorisations: atRisk,
              words: flags.words ? words : words.filter(({ meaning }) => meaning === null),
            });
          } else {
            const night = stateWord(silence === null ? (run?.state ?? '') : 'failed', sentence);
            const isStopped = stops.some(({ standing }) => standing !== undefined);
            const on = about === null ? [] : [isStopped ? about + stoppedSentence(owed) : about];
            const lines: Line[] = [night, ...on, nextSentence(facts, owed), ...ledgerLine(ledger)];
            lines.push(...waitingLines(now, elsewhere, run), ...untold(alerts));
            lines.push(...badLines([...left, ...strange, ...unkept, ...stops], atRisk));
            printLines([...lines, ...(flags.words ? codeLines(words) : withoutMeaning(words))]);
          }
          return 0;
        },
        { quiet: true, lockMs: ASKED_LIMITS.lockMs },
      );
    });
}

/** Of all accounts, as the sentence of a night counts them; how many of those that left. */
async function waitingNow({ db }: App, accountIds: readonly string[]) {
  const left = await unconfiguredAccounts(db, accountIds);
  const now = await waitingCounts(db, [...accountIds, ...left]);
  const { held, unknown, onTheirWay, pendingPayouts } = await waitingCounts(db, left);
  return { now, elsewhere: held + unknown + onTheirWay + pendingPayouts };
}

/** What stands whatever the newest run said, as it is now. */
async function standing(app: App, accountIds: string[], now: Date) {
  const from = lookbackFrom(app, { endsAt: now });
  const left = await leftAccounts(app.db, accountIds);
  return {
    stops: [
      ...(await stopNotices(app, accountIds)),
      ...(await aheadNotices(app.db, app.config.accounts, now)),
    ],
    left: left.map(leftAccountNotice),
    ...(await strangeNow(app, accountIds, left, from)),
    unkept: [
      ...(await unkeptBreaks(app.db, app.config, accountIds)).map(unkeptBreaksNotice),
      ...(await leftMoney(app.db, app.config, accountIds)).map(leftMoneyNotice),
    ],
  };
}

/** Orders that no run looks at; or why the ledger cannot be asked, which hides no other line. */
async function strangeNow(app: App, ids: string[], left: readonly LeftAccountFacts[], from: Date) {
  try {
    const strange = (await strangeOrders(app.db, ids, left, from)).map(strangeOrdersNotice);
    return { strange, ledger: null };
  } catch (error) {
    if (!mayBeLedger(error) && !gaveUpWaiting(error)) throw error;
    return { strange: [], ledger: messageOf(await inLedgerWords(app, error)) };
  }
}

/** The same of many accounts is one. */
function badLines(
  notices: readonly Notice[],
  atRisk: readonly Pick<Notice, 'accountId' | 'text'>[],
): Line[] {
  const reserved = atRisk.map((one) => ({ ...one, kind: 'reserved', about: '' }));
  return noticeLines([...notices, ...reserved]);
}

function ledgerLine(trouble: string | null): Line[] {
  return trouble === null ? [] : [{ text: `Now: ${trouble}.`, tone: 'bad' }];
}

function told({ accountId, text }: Notice): Pick<Notice, 'accountId' | 'text'> {
  return { accountId, text };
}

function countsNow({ held, unknown, onTheirWay: underWay, pendingPayouts, replanned }: Waiting) {
  return { held, unknown, underWay, pendingPayouts, ...(replanned > 0 ? { replanned } : {}) };
}

/** A report that could not be written then may be by now, and one that is written again may not. */
async function withReportsNow({ db }: App, run: RunRow | null): Promise<RunRow | null> {
  if (run === null || run.summary === null) return run;
  const unwritten = await failedReports(db, run.runId);
  const { unwritten: _, ...summary } = run.summary;
  return { ...run, summary: { ...summary, ...(unwritten.length === 0 ? {} : { unwritten }) } };
}

/** The stop of then may be lifted, and another one stand: its cure would be the wrong command. */
function withStopsNow(run: RunRow | null, stops: readonly Notice[]): RunRow | null {
  if (run === null || run.summary === null) return run;
  const others = (run.summary.notices ?? []).filter(
    ({ kind, standing }) => kind !== 'not_sent' || standing === undefined,
  );
  const now = stops.filter(({ standing }) => standing !== undefined);
  return { ...run, summary: { ...run.summary, notices: [...others, ...now] } };
}

function waitingLines(waiting: Waiting, elsewhere: number, run: RunRow | null): Line[] {
  return [...instructionsNow(waiting, elsewhere), ...replannedLines(waiting, run)];
}

/** In one line, as it is now: the sentence tells of the run's end, after which people decide. */
function instructionsNow(waiting: Waiting, elsewhere: number): Line[] {
  const { unknown, held, kept, onTheirWay, unsent, pendingPayouts } = waiting;
  const left = onTheirWay - unsent;
  const parts = [
    ...(unknown > 0 ? [`${countText(unknown)} unknown`] : []),
    ...(held > kept ? [`${countText(held - kept)} waiting for approval`] : []),
    ...(kept > 0 ? [`${countText(kept)} held by a setting`] : []),
    ...(pendingPayouts > 0 ? [`${counted(pendingPayouts, 'payout')} not done yet`] : []),
    ...(unsent > 0 ? [`${countText(unsent)} waiting to be sent`] : []),
    ...(left > 0 ? [`${countText(left)} sent and not confirmed yet`] : []),
  ];
  if (parts.length === 0) return [];
  const tone = unknown > 0 ? 'bad' : 'warn';
  return [{ text: `Instructions now: ${parts.join(', ')}${elsewhereWords(elsewhere)}.`, tone }];
}

function elsewhereWords(count: number): string {
  return count === 0 ? '' : `; ${countText(count)} of them of accounts that are not configured`;
}

/** In one line: what the outside does not know yet, or will never be told. */
function untold({ waiting, failed, problem }: OutboxFigures): string[] {
  if (waiting + failed === 0) return [];
  const parts = [
    ...(waiting > 0 ? [`${countText(waiting)} waiting to be told`] : []),
    ...(failed > 0 ? [`${failed} given up`] : []),
  ];
  const why = problem === null ? '' : ` (${problem})`;
  return [`Alerts: ${parts.join(', ')}${why}.`];
}

/** In one line: codes that stop their orders until the profile gives them a meaning. */
function withoutMeaning(words: readonly SeenCode[]): string[] {
  const seen = new Map<string, string>();
  for (const { field, word, meaning, lastSeen } of words) {
    const name = `${field} ${word}`;
    const before = seen.get(name) ?? '';
    if (meaning === null) seen.set(name, lastSeen > before ? lastSeen : before);
  }
  if (seen.size === 0) return [];
  // It may have been shown once and never again: then it stops nothing now.
  const list = [...seen].map(([name, last]) => `${name} (last in the night of ${last})`).join(', ');
  return [`Without a meaning in the profile: ${list}; \`tieout status --words\`.`];
}

function codeLines(words: readonly SeenCode[]): string[] {
  if (words.length === 0) return ['The gateway has not said anything yet.'];
  return words.flatMap((one) => {
    const money = Object.entries(one.newestMoney).map(([currency, sum]) => moneyIn(sum, currency));
    const nights = one.nights === 1 ? '1 night' : `${one.nights} nights`;
    const since = `since ${one.meaningSince}, profile ${one.meaningProfile.slice(0, 12)}`;
    return [
      `${one.accountId}  ${one.field} ${one.word}: ${one.meaning ?? 'NO MEANING'} (${since})`,
      `    first ${one.firstSeen}, last ${one.lastSeen}, ${countText(one.entries)} times in ` +
        `${nights}; newest: ${[`${one.newestEntries} times`, ...money].join(', ')}; ` +
        `such as ${one.samples.join(', ')}`,
    ];
  });
}

export function sentenceOf(run: RunRow | null): string {
  if (run === null) return 'No night has run yet: `tieout run` runs the last one that has ended.';
  if (run.state === 'running') {
    const since = run.createdAt.toISOString();
    return `Business date ${run.businessDate} is being worked on (since ${since}).`;
  }
  if (run.state === 'failed' || run.summary === null) {
    const reason = run.failure ?? 'no reason on record';
    return `Business date ${run.businessDate} failed: ${reason}. \`tieout run\` goes on with it.`;
  }
  return runSentence(run.summary);
}
