// What somebody who closes a business day should have seen before: a line each, in words, with
// whether it is as it should be, and whether the day can be signed. Pure: days/daysStore.ts counts,
// the command and the console show. Nothing of it forbids a close: a day may be closed, knowing of
// what is open.

import { andMore, countText, moneyIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';
import { nextRevisionWords, REMOVED_STAYS } from './removal.js';

export interface MoneyOf {
  currency: string;
  /** text of two decimals */
  amount: string;
}

/** Money of a day that moved after its night had ended, by `tieout send` or as proved later. */
export interface MovedAfter extends MoneyOf {
  accountId: string;
  operation: 'capture' | 'refund';
  /** the day itself; a later one where it was closed by then */
  countsOn: string;
  /** whether the newest workbook of the night has it */
  isStated: boolean;
}

/** One of them, to be looked at; of a refund request it is the order that it names. */
export interface LateName {
  orderNo: string;
  refundId: string | null;
}

/** Orders and refund requests of a day that came or changed after its night had looked. */
export interface LateRows {
  businessDate: string;
  orders: number;
  refunds: number;
  /** orders of earlier days that its night had looked at, the last one to see them as they were */
  earlier: number;
  /** the first of them */
  named: readonly LateName[];
  /** business dates whose nights were the first to look at them, oldest first */
  countsOn: readonly string[];
  /** so many of them no night has looked at yet */
  uncounted: number;
  /** a newer night stands: this one cannot be run again */
  isPast: boolean;
}

/** Batches of settlement that came after the newest workbook of the night was written. */
export interface LateBatches {
  batches: number;
  /** the first of them */
  named: readonly string[];
  /** what they settle of the statement, in the order's currency; null: too many to be summed */
  money: readonly (MoneyOf & { kind: 'captured' | 'refunded' })[] | null;
}

/** Of one account, as it stands now; the night is that of the day. */
export interface ClosingFacts {
  /** null: there is no night of this date */
  runState: string | null;
  notCompared: number;
  openBreaks: number;
  /** what is at stake in them */
  openMoney: readonly MoneyOf[];
  /** of these, breaks of which nobody knows the amount */
  openWithoutAmount: number;
  /** of these, captures that no settlement line came for in time */
  notSettled: number;
  waivedBreaks: number;
  /** what is at stake in these */
  waivedMoney: readonly MoneyOf[];
  /** of these, breaks of which nobody knows the amount */
  waivedWithoutAmount: number;
  /** movements up to the day of which nobody knows the amount */
  suspense: number;
  /** the orders of the first of them; absent: nobody asked */
  suspended?: readonly string[];
  unknown: number;
  waiting: number;
  /** dates before it, since the newest closed one, that no night covers */
  gaps: readonly string[];
  /** whether a written workbook of the night leaves money unexplained; null: none is written */
  isUnexplained: boolean | null;
  movedAfter: readonly MovedAfter[];
  /** absent: there are none */
  lateBatches?: LateBatches;
  /** null: the ledger did not answer; absent: there is no look to hold it against */
  late?: LateRows | null;
  /** locked: nobody signs it any more, so that nothing is advised */
  isLocked: boolean;
  /** retention removed what the night looked at: nothing of it is written again */
  isRemoved: boolean;
}

/** What a line is about. */
export type ChecklistTopic =
  | 'night'
  | 'gaps'
  | 'statement'
  | 'batches'
  | 'ledger'
  | 'movedAfter'
  | 'breaks'
  | 'notSettled'
  | 'waived'
  | 'suspense'
  | 'unknown'
  | 'waiting';

export interface ChecklistLine {
  topic: ChecklistTopic;
  isWell: boolean;
  /** not well, and nobody should sign before it is; otherwise it is open and has a name */
  isInTheWay: boolean;
  words: string;
  /** what it is about, of which it may be more */
  about?: { named: readonly LateName[]; count: number };
}

/** Gaps that are named. */
const GAPS_NAMED = 5;

export function closingChecklist(facts: ClosingFacts): ChecklistLine[] {
  return [
    nightLine(facts),
    inTheWay(
      'gaps',
      facts.gaps.length === 0,
      'every day before it has its night',
      gapWords(facts.gaps),
    ),
    statementLine(facts),
    ...(facts.lateBatches ? batchLines(facts.lateBatches, facts) : []),
    ...(facts.late === undefined ? [] : [lateLine(facts.late, facts.isLocked)]),
    ...movedLines(facts),
    named(
      'breaks',
      facts.openBreaks === 0,
      'no break is open',
      `${count(facts.openBreaks, 'break is', 'breaks are')} open now, of all days: ` +
        stakeWords(facts.openMoney, facts.openWithoutAmount),
    ),
    ...(facts.notSettled > 0 ? [notSettledLine(facts.notSettled)] : []),
    ...(facts.waivedBreaks > 0 ? [waivedLine(facts)] : []),
    ...(facts.suspense > 0 ? [suspenseLine(facts)] : []),
    inTheWay(
      'unknown',
      facts.unknown === 0,
      'no outcome is unknown',
      `${count(facts.unknown, 'outcome is', 'outcomes are')} unknown now: ` +
        'money that may have moved',
    ),
    named(
      'waiting',
      facts.waiting === 0,
      'nothing waits to be sent',
      `${count(facts.waiting, 'instruction has', 'instructions have')} not come to an end now`,
    ),
  ];
}

/** Whether a day can be signed, and what speaks against it or has to be known of. */
interface SigningAnswer {
  canBeSigned: boolean;
  /** what is in the way; of a day that can be signed, what is open and stands in its statement */
  because: ChecklistLine[];
}

/** Open breaks do not forbid it: the statement names each. What nobody knows yet does. */
export function signingAnswer(lines: readonly ChecklistLine[]): SigningAnswer {
  const stops = lines.filter(({ isInTheWay }) => isInTheWay);
  if (stops.length > 0) return { canBeSigned: false, because: stops };
  // That a night does not tie out is said by its breaks.
  const open = lines.filter(({ isWell, topic }) => !isWell && topic !== 'night');
  return { canBeSigned: true, because: open };
}

/** What has to be well before anybody signs. */
function inTheWay(
  topic: ChecklistTopic,
  isWell: boolean,
  well: string,
  otherwise: string,
): ChecklistLine {
  return { topic, isWell, isInTheWay: !isWell, words: isWell ? well : otherwise };
}

/** What may be open while one signs, knowing of it. */
function named(
  topic: ChecklistTopic,
  isWell: boolean,
  well: string,
  otherwise: string,
): ChecklistLine {
  return { topic, isWell, isInTheWay: false, words: isWell ? well : otherwise };
}

/** Somebody has answered for it: it is to be known, and speaks against nothing. */
function waivedLine(facts: ClosingFacts): ChecklistLine {
  const stake = stakeWords(facts.waivedMoney, facts.waivedWithoutAmount);
  const words = `${count(facts.waivedBreaks, 'break is', 'breaks are')} waived: ${stake}`;
  return named('waived', true, words, words);
}

function suspenseLine({ suspense, suspended }: ClosingFacts): ChecklistLine {
  const words =
    `${count(suspense, 'movement is', 'movements are')} in suspense at the end of this day: ` +
    'done elsewhere, and nobody knows for how much';
  const line = named('suspense', false, '', words);
  if (suspended === undefined) return line;
  const orders = suspended.map((orderNo) => ({ orderNo, refundId: null }));
  return { ...line, about: { named: orders, count: suspense } };
}

function notSettledLine(notSettled: number): ChecklistLine {
  const which = count(notSettled, 'of them is money', 'of them are money');
  const words = `${which} that the acquirer has not settled in time: is a settlement file late?`;
  return named('notSettled', false, '', words);
}

/** A night that compared everything is whole, whether or not all of it tied out. */
const WHOLE: readonly (string | null)[] = ['tied_out', 'broken'];

function nightLine({ runState, notCompared }: ClosingFacts): ChecklistLine {
  const isInTheWay = !WHOLE.includes(runState) || notCompared > 0;
  const isWell = runState === 'tied_out' && notCompared === 0;
  const line = { topic: 'night' as const, isWell, isInTheWay };
  // It has no page: the days up to it do.
  if (runState === null) return { ...line, topic: 'gaps', words: 'there is no night of this date' };
  const missed = `${count(notCompared, 'order was', 'orders were')} not compared`;
  return { ...line, words: `the night ${shown(runState)}${notCompared > 0 ? `: ${missed}` : ''}` };
}

function shown(state: string): string {
  return RUN_WORDS[state] ?? `is ${labelOf(state)}`;
}

const RUN_WORDS: Readonly<Record<string, string>> = {
  tied_out: 'tied out',
  broken: 'did not tie out',
  failed: 'failed',
};

function statementLine({ isUnexplained, isLocked }: ClosingFacts): ChecklistLine {
  const unexplained = 'the statement leaves money unexplained';
  return inTheWay(
    'statement',
    isUnexplained === false,
    'the statement leaves nothing unexplained',
    isUnexplained === null
      ? 'no workbook of the night is written: there is no statement'
      : `${unexplained}${isLocked ? '' : ': do not sign it'}`,
  );
}

/** Its statement is without them; a night whose looks are kept can be written again. */
export function batchLines(late: LateBatches, of: Pick<ClosingFacts, 'isLocked' | 'isRemoved'>) {
  const { batches, named: names, money } = late;
  if (batches === 0) return [];
  const sums = (money ?? []).map((sum) => `${moneyIn(sum.amount, sum.currency)} ${sum.kind}`);
  const which = names.join(', ') + andMore(batches - names.length);
  const first = 'or have the workbook written again first (Reports on the console, Write again)';
  const other = of.isRemoved ? `since ${REMOVED_STAYS}` : first;
  const advice = of.isLocked ? '' : `: sign it knowing so, ${other}`;
  const words =
    `${count(batches, 'settlement batch', 'settlement batches')} with lines of this day or ` +
    `before (${[which, ...sums].join('; ')}) came after the newest revision of the workbook was ` +
    `written, and the statement is without ${batches === 1 ? 'it' : 'them'}${advice}`;
  return [named('batches', false, '', words)];
}

const LATE_UNKNOWN =
  'whether orders of this day came after its night had looked is not known: the ledger did not ' +
  'answer in time';

/** Its statement is without them; only the newest night can be run again. */
export function lateLine(late: LateRows | null, isLocked = false): ChecklistLine {
  if (late === null) return named('ledger', false, '', LATE_UNKNOWN);
  const { orders, refunds, earlier } = late;
  const all = orders + refunds + earlier;
  const parts = lateParts(late);
  const [them, they] = all === 1 ? ['it', 'it counts'] : ['them', 'they count'];
  const advice = isLocked ? '' : adviceOf(late, them);
  const without = earlier === 0 ? `is without ${them}` : 'has the ledger as it was before';
  const words =
    `${parts.join(', and ')} after its night had looked, and the ` +
    `statement ${without}; ${they} in ${countedIn(late)}${advice}`;
  const line = named(
    'ledger',
    parts.length === 0,
    'no order or refund request of this day came or changed in the ledger after its night had ' +
      'looked, and none of an earlier day changed',
    words,
  );
  return line.isWell ? line : { ...line, about: { named: late.named, count: all } };
}

/** Those of the day itself may have come or changed, those of earlier days have changed. */
function lateParts({ orders, refunds, earlier }: LateRows): string[] {
  const own = [
    ...(orders === 0 ? [] : [count(orders, 'order', 'orders')]),
    ...(refunds === 0 ? [] : [count(refunds, 'refund request', 'refund requests')]),
  ];
  const older = count(earlier, 'order of an earlier day', 'orders of earlier days');
  return [
    ...(own.length === 0 ? [] : [`${own.join(' and ')} of this day came or changed`]),
    ...(earlier === 0 ? [] : [`${older} changed`]),
  ];
}

function adviceOf({ businessDate, isPast }: LateRows, them: string): string {
  return isPast
    ? `: sign it knowing so, since a newer night stands and no run can bring ${them} into this one`
    : `: sign it knowing so, or run the date again first (\`tieout run --date ${businessDate}\`)`;
}

/** "SO-1, refund R-2 of SO-3 and 5 more" */
export function aboutText({ named, count: all }: NonNullable<ChecklistLine['about']>): string {
  const names = named.map(({ orderNo, refundId }) =>
    refundId === null ? orderNo : `refund ${refundId} of ${orderNo}`,
  );
  return names.join(', ') + andMore(all - named.length);
}

function countedIn({ countsOn, uncounted }: LateRows): string {
  const next = 'the next night';
  if (countsOn.length === 0) return next;
  const nights = `${countsOn.length === 1 ? 'the night' : 'the nights'} of ${countsOn.join(', ')}`;
  return uncounted === 0 ? nights : `${nights}, and ${countText(uncounted)} of them in ${next}`;
}

function movedLines({ movedAfter, isRemoved }: ClosingFacts): ChecklistLine[] {
  return [false, true].flatMap((isStated) => {
    const found = movedAfter.filter((move) => move.isStated === isStated);
    const all = movedWords(found, isRemoved);
    return all.map((words) => named('movedAfter', isStated, words, words));
  });
}

interface OfPage {
  accountId: string;
  currency: string;
}

/**
 * What stands on one of the pages of a statement: what is of its account and currency and, on the
 * last page of an account, what is in a currency that has none, or in no currency.
 */
export function onPage<Of extends { accountId: string; currency: string | null }>(
  all: readonly Of[],
  pages: readonly OfPage[],
  at: number,
): Of[] {
  const accountId = pages[at]?.accountId;
  const own = pages.filter((page) => page.accountId === accountId);
  const isLast = own.at(-1) === pages[at];
  return all.filter((one) => {
    if (one.accountId !== accountId) return false;
    if (one.currency === pages[at]?.currency) return true;
    return isLast && own.every(({ currency }) => currency !== one.currency);
  });
}

/** What moved, the date on which it counts, and whether the statement has it. */
export function movedWords(movedAfter: readonly MovedAfter[], isRemoved = false): string[] {
  const keyOf = ({ countsOn, isStated }: MovedAfter): string => `${countsOn} ${isStated}`;
  return [...new Set(movedAfter.map(keyOf))].map((key) => {
    const moved = movedAfter.filter((one) => keyOf(one) === key);
    const parts = moved.map(({ operation, amount, currency }) => {
      return `${moneyIn(amount, currency)} ${operation === 'capture' ? 'captured' : 'refunded'}`;
    });
    const stated = moved.some(({ isStated }) => isStated)
      ? 'and the statement has it'
      : 'and the statement, which was written before, is without it: ' +
        nextRevisionWords(isRemoved);
    return (
      `after the night of this day had ended: ${parts.join(', ')}. It counts on ` +
      `${moved[0]?.countsOn} in the business days and in the settlement, ${stated}`
    );
  });
}

function gapWords(gaps: readonly string[]): string {
  const named = gaps.slice(0, GAPS_NAMED).join(', ');
  return `no night covers ${named}${andMore(gaps.length - GAPS_NAMED)}`;
}

/** What is not known is said as such: it is not nothing. */
function stakeWords(of: readonly MoneyOf[], withoutAmount: number): string {
  const money = of.map(({ amount, currency }) => moneyIn(amount, currency)).join(', ');
  return [
    ...(money === '' ? [] : [`${money} at stake`]),
    ...(withoutAmount === 0 ? [] : [`${countText(withoutAmount)} without an amount`]),
  ].join(', ');
}

function count(n: number, one: string, many: string): string {
  return `${countText(n)} ${n === 1 ? one : many}`;
}
