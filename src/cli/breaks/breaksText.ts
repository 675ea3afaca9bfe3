// Breaks as a person reads them on a terminal: a line of figures, the sentence below it, who has
// it. Text from outside is masked here; nothing is decided.

import type {
  BreakEvent,
  BreakFilter,
  BreakGroupRow,
  FoundBreak,
} from '../../breaks/breaksStore.js';
import type { DecidedBreakRow } from '../../breaks/decideBreaks.js';
import type { ToleratedRow, ToleratedSum } from '../../breaks/explainedStore.js';
import { type AgeClock, ageInDays } from '../../core/breaks/breakAge.js';
import {
  changesIn,
  eventLabels,
  eventOf,
  isChange,
  outcomeText,
} from '../../core/breaks/outcome.js';
import { type RefundBehind, refundBehindWords } from '../../core/breaks/refundBehind.js';
import { breakSentence, namesIn, shownFields } from '../../core/breaks/sentence.js';
import { nameLabel } from '../../core/instructions/decider.js';
import { formatAmount, parseSum, sumMoney } from '../../core/money.js';
import {
  amountIn,
  counted,
  countText,
  moneyIn,
  moneyText,
  sumText,
} from '../../core/text/amounts.js';
import { causeLabel, labelOf, labelStates, stateLabel } from '../../core/text/labels.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type { RefundRequestRow } from '../../ledger/refundRequestsStore.js';
import type { Line } from '../terminal.js';
import { columns, moreLines, stateWord } from '../terminal.js';

export function totalLine(all: BreakGroupRow | undefined, filter: BreakFilter): string {
  const states = filter.states?.map((one) => TOTAL_WORDS[one] ?? one).join(' or ') ?? '';
  if (all === undefined || all.breaks === 0)
    return `No ${states} break matches.`.replace('  ', ' ');
  const apart = all.withoutAmount > 0 ? `, ${countText(all.withoutAmount)} without an amount` : '';
  const breaks = counted(all.breaks, `${states} break`.trim());
  const money = moneyText(all.money) || NO_AMOUNT;
  return `${breaks} of ${counted(all.orders, 'order')}: ${money}${apart}`;
}

const TOTAL_WORDS: Readonly<Record<string, string>> = { waiver_asked: 'waiting' };

const [AGE_COLUMN, MONEY_COLUMN] = [5, 6];
const WAITS = stateLabel('waiver_asked');
const NO_AMOUNT = 'no amount';

/** A row of figures for each, and under it what differs. */
export function breakLines(found: readonly FoundBreak[], clock: AgeClock): Line[] {
  const rows = found.map((one) => [
    `#${one.breakId}`,
    labelOf(one.kind),
    one.accountId,
    one.orderNo,
    one.waiverAskedBy === null ? stateWord(one.state) : stateWord('waiver_asked', WAITS),
    `${ageInDays(one.firstSeen, clock)} d`,
    one.stake === null ? NO_AMOUNT : moneyIn(one.stake, one.currency),
    one.owner === null ? 'with nobody' : `with ${one.owner}`,
  ]);
  const lines = columns(rows, [AGE_COLUMN, MONEY_COLUMN]);
  return found.flatMap((one, at) => [lines[at] ?? '', ...saidOf(one)]);
}

function saidOf(one: FoundBreak): string[] {
  const batches = (one.settledRefunds ?? []).map(({ batch }) => batch);
  const keep = [one.accountId, ...namesIn(one), ...batches];
  const said = [
    labelStates(
      breakSentence(one.kind, one.expected, one.actual, one.settledRefunds ?? [], one.refused),
    ),
    one.note === null ? null : `note: ${one.note}`,
    one.waivedReason === null ? null : `waived by ${one.waivedBy}: ${one.waivedReason}`,
    one.waiverAskedBy === null
      ? null
      : `${one.waiverAskedBy} asked for a waiver (${one.waiverAskedReason}); a second person has ` +
        'yet to agree (`tieout breaks waive`) or refuse (`tieout breaks reopen`)',
  ].filter((line) => line !== null);
  return said.map((line) => `    ${maskCardNumbers(line, keep)}`);
}

/** What breaks are put together by that is an id. */
const IDS = ['account', 'batch'];

export function groupLines(groups: readonly BreakGroupRow[], by: string, clock: AgeClock): Line[] {
  const rows = groups.map((group) => [
    countText(group.breaks),
    maskCardNumbers(group.key ?? `no ${by}`, IDS.includes(by) ? [group.key ?? ''] : []),
    `${sumText(group) || NO_AMOUNT}, oldest ${ageInDays(group.oldest, clock)} d`,
  ]);
  return columns(rows, [0]).map((line) => ['  ', line].flat());
}

/** Both sides field by field, the candidates where there are several, and what happened. */
export function lifeLines(one: FoundBreak, life: readonly BreakEvent[]): string[] {
  const keep = namesIn(one);
  const fields = shownFields(one.expected, one.actual).map(
    ({ field, expected, actual, differs }) =>
      `  ${differs ? '≠' : '='} ${field.padEnd(12)} ` +
      `ledger ${expected ?? '-'} · gateway ${actual ?? '-'}`,
  );
  const candidates = (one.actual.candidates ?? []).map(
    (side) =>
      `    candidate ${side.transaction ?? '(none)'}: ${side.state ?? `code ${side.code}`} ` +
      moneyIn(side.amount ?? '(no amount)', side.currency),
  );
  return [
    ...fields,
    ...candidates,
    `  shares its cause: ${maskCardNumbers(one.cause, keep)}`,
    '',
    ...lifeTexts(life).map((line) => maskCardNumbers(`  ${line}`, keep)),
  ];
}

/** The figures that the state at the gateway was held against. */
export function refundLines(one: FoundBreak, requests: readonly RefundRequestRow[]): string[] {
  if (one.kind !== 'refund_mismatch') return [];
  const done = requests.filter(({ state }) => state === 'history' || state === 'confirmed');
  const { amount: all, currency = '' } = one.expected;
  const of = all ? moneyIn(all, currency) : '?';
  const sums = [requests, done].map((some) => amountIn(sumOf(some), currency));
  return [
    `  refund requests: ${sums[0]} of ${of}; counted as done: ${sums[1]}`,
    ...requests.map(
      ({ refundId, amount, requestedAt, state }) =>
        `    ${refundId}  ${amountIn(amount, currency)}, requested ` +
        `${timeText(requestedAt)}: ${REQUEST_STATES[state ?? ''] ?? labelOf(state ?? '')}`,
    ),
  ];
}

const REQUEST_STATES: Readonly<Record<string, string>> = {
  '': 'open',
  history: 'older than liveFrom, counted as done',
  confirmed: 'done by tieout',
};

function sumOf(requests: readonly RefundRequestRow[]): string {
  return formatAmount(requests.reduce((sum, { amount }) => sum + (parseSum(amount) ?? 0n), 0n));
}

/** A line an event, oldest first. */
export function lifeTexts(life: readonly BreakEvent[]): string[] {
  const labels = eventLabels(life);
  return life.map((event, at) => eventText(event, labels[at] ?? event.event));
}

function eventText(event: BreakEvent, label: string): string {
  const by = nameLabel(event.by, event.isClaim);
  const words = [
    event.cause === null ? null : causeLabel(event.cause),
    event.cause === null ? event.reason : null,
    event.decidedOver === null ? null : `decided together: ${event.decidedOver}`,
  ].filter((part) => part !== null);
  const ofRun = event.businessDate === null ? '' : `, night of ${event.businessDate}`;
  const why = words.length === 0 ? '' : `: ${words.join('; ')}`;
  return `${timeText(event.at)}  ${label} by ${by}${ofRun}${why}`;
}

/** A line a break, then what changed, by what it came to and with its money. */
export function verdictLines(rows: readonly DecidedBreakRow[], isCheck: boolean): Line[] {
  const cells = rows.map((row) => {
    const why = 'reason' in row ? `: ${row.reason}` : (NEXT[row.kind] ?? '');
    return [
      `#${row.breakId}`,
      stateWord(eventOf(row.kind), labelOf(row.kind)),
      `${row.accountId} ${row.orderNo} ${labelOf(row.which)}${why}`,
    ];
  });
  const done = rows.filter(({ kind }) => isChange(kind)).length;
  const would = isCheck ? ' would change; nothing was written' : ' changed';
  const sums = changesIn(rows.map(({ kind }) => kind)).map((outcome) => {
    const some = rows.filter(({ kind }) => kind === outcome);
    return `  ${outcomeText(outcome, some.length, sumMoney(some), !isCheck)}`;
  });
  return [...columns(cells), `${done} of ${counted(rows.length, 'break')}${would}`, ...sums];
}

/** With the event of the trail, by which programs know it, and what it came to. */
export function verdictJson({ kind, ...row }: DecidedBreakRow): object {
  return { ...row, kind: eventOf(kind), outcome: kind };
}

const NEXT: Readonly<Record<string, string>> = {
  waiver_asked:
    ': above the limit for one person, or none is set; another one runs the same command',
};

/** Differences that are no breaks because they lie within the tolerance. */
export function explainedLines(
  date: string,
  sums: readonly ToleratedSum[],
  rows: readonly ToleratedRow[],
  refunds: readonly RefundBehind[],
  offset: number,
): string[] {
  const keyOf = (row: { accountId: string; orderNo: string }) => `${row.accountId} ${row.orderNo}`;
  const behind = new Map(refunds.map((one) => [keyOf(one), `; ${refundBehindWords(one)}`]));
  const listed = new Set(rows.map(keyOf));
  const others = refunds.filter((one) => !listed.has(keyOf(one)));
  const waiting = others.length === 0 ? [] : waitingRefunds(others);
  if (sums.length === 0) return [`The tolerance swallowed nothing on ${date}.`, ...waiting];
  const orders = sums.reduce((total, sum) => total + sum.orders, 0);
  return [
    `Within tolerance on ${date}`,
    ...sums.map(
      (sum) =>
        `  ${sum.accountId} ${sum.currency}: ${counted(sum.orders, 'order')}, ` +
        `${amountIn(sum.below, sum.currency)} too little and ` +
        `${amountIn(sum.above, sum.currency)} too much at the gateway, ` +
        `net ${amountIn(sum.net, sum.currency)}`,
    ),
    ...rows.map((row) => {
      const sentence = breakSentence('amount_mismatch', row.expected, row.actual);
      const other = row.class === 'broken' ? ', and differs for another reason' : '';
      const order = keyOf(row);
      const money = moneyIn(row.difference, row.currency);
      return `  ${order}  ${money}  ${sentence}${other}${behind.get(order) ?? ''}`;
    }),
    ...moreLines(orders - offset - rows.length, '--limit, --offset').map((line) => `  ${line}`),
    ...waiting,
  ];
}

const REFUNDS_SHOWN_MAX = 200;

/** Of orders that no line above is of: behind a waiver, mostly. */
function waitingRefunds(refunds: readonly RefundBehind[]): string[] {
  const shown = refunds.slice(0, REFUNDS_SHOWN_MAX);
  return [
    'Refunds that wait behind what differs, of orders that are not listed above',
    ...shown.map((one) => `  ${one.accountId} ${one.orderNo}  ${refundBehindWords(one)}`),
    ...moreLines(refunds.length - shown.length, '--json').map((line) => `  ${line}`),
  ];
}

function timeText(time: Date): string {
  return time.toISOString();
}
