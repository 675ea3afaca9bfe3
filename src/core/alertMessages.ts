// What is told to the world outside, and in which words: one JSON object an event. Counts, money by
// currency, dates and account ids; no order, no name of a customer, no link, no secret. Pure; the
// rows are written by outbox/writeAlerts.ts and alerts/watchRuns.ts, the posting is
// alerts/deliverAlerts.ts.

import { letGoWords, SENDING_STOPPED } from './instructions/breaker.js';
import { oneLine } from './log.js';
import { addAmounts } from './money.js';
import { type Owed, owedSentence, type Silence, silenceSentence } from './runs/owed.js';
import type { AccountSummary, CurrencyTotals, OrderFigures, RunSummary } from './runs/summary.js';
import { RUN_STATES, runSentence, standingPart } from './runs/summary.js';
import { failedLater } from './runs/unreadable.js';
import { counted, countText, moneyIn } from './text/amounts.js';

export const ALERT_EVENTS = [
  'night_finished',
  'night_did_not_start',
  'run_is_silent',
  'unknown_waits',
  'sending_frozen',
  'job_failed',
  'file_refused',
  'batch_late',
  'heads_not_signed',
  'heads_signed',
  'reservations_lapse',
  'security',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

export interface Alert {
  event: AlertEvent;
  /** a business date, an account, a queue */
  subject: string;
  /** one sentence, which chat programs show as it is */
  text: string;
  details: Readonly<Record<string, unknown>>;
}

/** An unknown instruction this old was looked at by the next run, too, and is not settled. */
export const UNKNOWN_HOURS_MAX = 26;
/** Accounts, instructions that one message names; the count is always whole. */
export const NAMED_MAX = 100;
const REASON_LENGTH = 300;
const TEXT_LENGTH = 1_000;

export function runFinished(summary: RunSummary): Alert {
  const { businessDate, covers, state, asOf, pull } = summary;
  return {
    event: 'night_finished',
    subject: businessDate,
    text: toldSentence(summary),
    details: {
      businessDate,
      covers: covers.slice(-NAMED_MAX),
      state,
      asOf,
      pages: pull.pages,
      failedPages: pull.failedPages,
      ...(failedLater(summary) === 0 ? {} : { failedLater: failedLater(summary) }),
      orders: ordersOf(summary),
      breaks: sumCounts(summary.accounts.map((account) => account.breaks)),
      instructions: sumCounts(
        summary.accounts.flatMap((account) => Object.values(account.instructions)),
      ),
      money: moneyOf(summary),
      accounts: worstFirst(summary.accounts)
        .slice(0, NAMED_MAX)
        .map((account) => ({
          accountId: account.accountId,
          state: account.state,
        })),
    },
  };
}

/** In their order where each is named: those that are left out are the ones that are well. */
function worstFirst(accounts: readonly AccountSummary[]): readonly AccountSummary[] {
  if (accounts.length <= NAMED_MAX) return accounts;
  const rank = ({ state }: AccountSummary) => RUN_STATES.indexOf(state);
  return accounts.toSorted((one, other) => rank(other) - rank(one));
}

/** Cut where it is too long, but for a stop that only a person lifts. */
function toldSentence(summary: RunSummary): string {
  const sentence = runSentence(summary);
  const ending = `${standingPart(summary)}.`;
  if (!sentence.endsWith(ending)) return cutAtPhrase(sentence, TEXT_LENGTH);
  const end = cutAtPhrase(ending, TEXT_LENGTH);
  return cutAtPhrase(sentence.slice(0, -ending.length), TEXT_LENGTH - end.length) + end;
}

const CUT = ' ...';
/** A phrase may be longer than all that there is room for: then it ends behind a word. */
const PHRASE_LENGTH = 200;

/** What is left out is said, and parentheses are closed. */
function cutAtPhrase(text: string, lengthMax: number): string {
  const line = oneLine(text, text.length);
  if (line.length <= lengthMax) return line;
  const room = line.slice(0, Math.max(0, lengthMax - CUT.length - PARENTHESES));
  const phrase = Math.max(room.lastIndexOf('; '), room.lastIndexOf(', '));
  const end = room.length - phrase > PHRASE_LENGTH ? room.lastIndexOf(' ') : phrase;
  const kept = room.slice(0, Math.max(0, end));
  const open = kept.split('(').length - kept.split(')').length;
  return kept + CUT + ')'.repeat(Math.max(0, Math.min(open, PARENTHESES)));
}

/** One in another, as deep as they come. */
const PARENTHESES = 2;

export function runFailed(businessDate: string, failure: string): Alert {
  const reason = oneLine(failure, REASON_LENGTH);
  return {
    event: 'night_finished',
    subject: businessDate,
    text: `Business date ${businessDate} failed: ${reason}`,
    details: { businessDate, state: 'failed', failure: reason },
  };
}

export function runDidNotStart(
  owed: Extract<Owed, { kind: 'begin' | 'goOn' | 'barred' }>,
  now: Date,
): Alert {
  return {
    event: 'night_did_not_start',
    subject: owed.date,
    text: owedSentence(owed, now) ?? '',
    details: { businessDate: owed.date, owedSince: owed.since, isBegun: owed.kind === 'goOn' },
  };
}

export function runIsSilent(silence: Silence): Alert {
  const { date, since } = silence;
  return {
    event: 'run_is_silent',
    subject: date,
    text: silenceSentence(silence),
    details: { businessDate: date, silentSince: since },
  };
}

export interface WaitingUnknown {
  instructionId: bigint;
  accountId: string;
  operation: string;
  currency: string;
  /** null: a payout in a unit that nobody has set, which is in no sum */
  amount: string | null;
  since: Date;
}

/** Of one account; `unknowns` is not empty. */
export function unknownWaits(accountId: string, unknowns: readonly WaitingUnknown[]): Alert {
  const oldest = new Date(Math.min(...unknowns.map((one) => one.since.getTime())));
  const money = new Map<string, string>();
  for (const { currency, amount } of unknowns) {
    if (amount !== null) money.set(currency, addAmounts(money.get(currency) ?? '0.00', amount));
  }
  const count = unknowns.length;
  return {
    event: 'unknown_waits',
    subject: accountId,
    text:
      `Account ${accountId}: of ${counted(count, 'instruction')} nobody knows ` +
      `whether the gateway did it, the oldest since ${oldest.toISOString()}. ` +
      'A person has to find out.',
    details: {
      accountId,
      count,
      oldestSince: oldest,
      money: [...money].map(([currency, amount]) => ({ currency, amount })),
      instructions: unknowns.slice(0, NAMED_MAX).map((one) => ({
        instructionId: String(one.instructionId),
        operation: one.operation,
        since: one.since,
      })),
    },
  };
}

/** Database and journals of permits do not agree: a whole shop stands until somebody looks. */
export function sendingFrozen(reason: string): Alert {
  const why = oneLine(reason, REASON_LENGTH);
  const stopped = `S${SENDING_STOPPED.slice(1)} for all accounts: ${why}`;
  const text = `${stopped}. A person has to look into it first; ${letGoWords(null)}`;
  return { event: 'sending_frozen', subject: 'all accounts', text, details: { reason: why } };
}

export function jobFailed(queue: string, id: string, reason: string): Alert {
  const why = oneLine(reason, REASON_LENGTH);
  return {
    event: 'job_failed',
    subject: queue,
    text: `A job of the queue ${queue} failed: ${why}. \`tieout jobs list\` has all of them.`,
    details: { queue, id, reason: why },
  };
}

/** A file of `settlement.inbox`; lines are named in the file beside it, not here. */
export function fileRefused(name: string, reason: string): Alert {
  const why = oneLine(reason, REASON_LENGTH);
  return {
    event: 'file_refused',
    subject: name,
    text: `The file ${name} of the inbox was refused: ${why}. It lies in refused/.`,
    details: { name, reason: why },
  };
}

/** Of one account and currency: what this night found overdue. */
export interface LateOrders {
  readonly accountId: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
  readonly since: string;
  /** when the last line of the account's files was booked */
  readonly lastBookedAt: Date;
}

/** Of one account and run; `late` is not empty. */
export function batchLate(accountId: string, businessDate: string, late: readonly LateOrders[]) {
  const orders = late.reduce((sum, one) => sum + one.orders, 0);
  const [since] = late.map((one) => one.since).sort();
  const last = late[0]?.lastBookedAt.toISOString() ?? '';
  const money = late.map(({ amount, currency }) => moneyIn(amount, currency)).join(', ');
  const of = counted(orders, 'order');
  return {
    event: 'batch_late',
    subject: accountId,
    text: oneLine(
      `Account ${accountId}: a batch is late. ${money} of ${of} ` +
        `became overdue in the night of ${businessDate}, the oldest since ${since}; the last ` +
        `settlement line is of ${last}. \`tieout breaks list --kind not_settled\` has them.`,
      TEXT_LENGTH,
    ),
    details: {
      accountId,
      businessDate,
      orders,
      since,
      lastBookedAt: last,
      money: late.map(({ currency, amount }) => ({ currency, amount })),
    },
  } satisfies Alert;
}

/** Of one account and currency: reservations of which nobody was told yet. */
export interface LapsingMoney {
  /** null: none that can be read */
  readonly currency: string | null;
  readonly reservations: number;
  /** of those that can be read; null: none can */
  readonly amount: string | null;
  /** those of them whose amount cannot be read */
  readonly unread: number;
  /** those of them that had lapsed when they were first told of */
  readonly lapsed: number;
  /** null: all of them lapsed, or nobody knows when they do */
  readonly nextLapse: Date | null;
}

/** Of one account; `found` is not empty. */
export function reservationsLapse(accountId: string, found: readonly LapsingMoney[]): Alert {
  const count = found.reduce((sum, one) => sum + one.reservations, 0);
  const lapsed = found.reduce((sum, one) => sum + one.lapsed, 0);
  const next = found.map(({ nextLapse }) => nextLapse).filter((one) => one !== null);
  const first = next.length === 0 ? null : new Date(Math.min(...next.map((one) => one.getTime())));
  const inWords = (currency: string | null) => currency ?? '(no currency)';
  const money = found.flatMap(({ amount, currency }) =>
    amount === null ? [] : [moneyIn(amount, inWords(currency))],
  );
  const unread = found.flatMap((one) =>
    one.unread === 0 ? [] : [`${countText(one.unread)} in ${inWords(one.currency)}`],
  );
  const sums = money.length === 0 ? '' : ` of ${money.join(', ')}`;
  const beside = unread.length === 0 ? '' : ` (the amount of ${unread.join(', ')} cannot be read)`;
  const parts = [
    first === null ? '' : `, the first at ${first.toISOString()}`,
    lapsed === 0 ? '' : `, ${countText(lapsed)} of them lapsed already`,
  ];
  return {
    event: 'reservations_lapse',
    subject: accountId,
    text: oneLine(
      `Account ${accountId}: ${counted(count, 'reservation')}${sums}${beside} will lapse ` +
        `untaken unless somebody acts${parts.join('')}. ` +
        '`tieout authorisations` has them.',
      TEXT_LENGTH,
    ),
    details: {
      accountId,
      reservations: count,
      lapsed,
      firstLapse: first,
      money: found.map(({ currency, amount, unread: unknown }) => {
        return { currency, amount, ...(unknown === 0 ? {} : { unread: unknown }) };
      }),
    },
  };
}

/** The run itself has ended as it should. */
export function headsNotSigned(businessDate: string, reason: string): Alert {
  const why = oneLine(reason, REASON_LENGTH);
  return {
    event: 'heads_not_signed',
    subject: businessDate,
    text: `The ends of the chains of ${businessDate} could not be signed and kept: ${why}.`,
    details: { businessDate, reason: why },
  };
}

/** `line` is what `tieout verify --heads` reads, byte for byte. */
export function headsSigned({ businessDate, line }: { businessDate: string; line: string }): Alert {
  return {
    event: 'heads_signed',
    subject: businessDate,
    text: `The run of ${businessDate} has ended; where the chains end is signed.`,
    details: { businessDate, line },
  };
}

function ordersOf(summary: RunSummary): Partial<Record<string, number>> {
  return sumCounts(summary.accounts.map(({ orders }): Partial<OrderFigures> => orders));
}

function sumCounts(
  counts: readonly (Partial<Record<string, number>> | undefined)[],
): Partial<Record<string, number>> {
  const sums: Partial<Record<string, number>> = {};
  for (const part of counts) {
    for (const [name, count] of Object.entries(part ?? {})) {
      sums[name] = (sums[name] ?? 0) + (count ?? 0);
    }
  }
  return sums;
}

/** Confirmed in the run, over all accounts, each currency by itself. */
export function moneyOf(summary: Pick<RunSummary, 'accounts'>): CurrencyTotals[] {
  const sums = new Map<string, CurrencyTotals>();
  for (const totals of summary.accounts.flatMap((account) => account.totals)) {
    const sum = sums.get(totals.currency);
    sums.set(totals.currency, sum === undefined ? totals : addTotals(sum, totals));
  }
  return [...sums.values()];
}

function addTotals(a: CurrencyTotals, b: CurrencyTotals): CurrencyTotals {
  return {
    currency: a.currency,
    captured: addAmounts(a.captured, b.captured),
    cancelled: addAmounts(a.cancelled, b.cancelled),
    refunded: addAmounts(a.refunded, b.refunded),
    net: addAmounts(a.net, b.net),
    unknown: addAmounts(a.unknown, b.unknown),
    ...addPayouts(a, b),
  };
}

/** Payouts are left out where neither has any. */
function addPayouts(a: CurrencyTotals, b: CurrencyTotals): Partial<CurrencyTotals> {
  const sum: Partial<CurrencyTotals> = {};
  for (const key of ['paidOut', 'payoutFees'] as const) {
    if (a[key] === undefined && b[key] === undefined) continue;
    sum[key] = addAmounts(a[key] ?? '0.00', b[key] ?? '0.00');
  }
  return sum;
}

/** How many seconds to wait after so many tries; null: the message is given up. */
export function pauseAfter(tries: number): number | null {
  return PAUSES_SECONDS[tries - 1] ?? null;
}

/** Nine tries in a day. */
export const PAUSES_SECONDS = [10, 60, 300, 900, 3_600, 10_800, 21_600, 43_200] as const;
