// What somebody who closes a business day should have seen before: a line each, in words, with
// whether it is as it should be. Pure; days/checklistStore.ts counts, the command and the console
// show. Nothing of it forbids a close: a day with open breaks may be closed, knowing of them.

import { moneyIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';

export interface MoneyOf {
  currency: string;
  /** text of two decimals */
  amount: string;
}

/** Of one account, as it stands now; the night is that of the day. */
export interface ClosingFacts {
  /** null: there is no night of this date */
  runState: string | null;
  notCompared: number;
  openBreaks: number;
  /** what is at stake in them */
  openMoney: readonly MoneyOf[];
  /** of these, captures that no settlement line came for in time */
  notSettled: number;
  unknown: number;
  waiting: number;
  /** dates before it, since the newest closed one, that no night covers */
  gaps: readonly string[];
  /** whether a written workbook of the night leaves money unexplained; null: none is written */
  isUnexplained: boolean | null;
}

export interface ChecklistLine {
  isWell: boolean;
  words: string;
}

/** Gaps that are named. */
const GAPS_NAMED = 5;

export function closingChecklist(facts: ClosingFacts): ChecklistLine[] {
  return [
    nightLine(facts),
    line(facts.gaps.length === 0, 'every day before it has its night', gapWords(facts.gaps)),
    statementLine(facts),
    line(
      facts.openBreaks === 0,
      'no break is open',
      `${count(facts.openBreaks, 'break is', 'breaks are')} open: ${moneyWords(facts.openMoney)}`,
    ),
    ...(facts.notSettled > 0
      ? [
          {
            isWell: false,
            words:
              `${count(facts.notSettled, 'of them is a capture', 'of them are captures')} ` +
              'that the acquirer has not settled in time: is a settlement file late?',
          },
        ]
      : []),
    line(
      facts.unknown === 0,
      'no outcome is unknown',
      `${count(facts.unknown, 'outcome is', 'outcomes are')} unknown: money that may have moved`,
    ),
    line(
      facts.waiting === 0,
      'nothing waits to be sent',
      `${count(facts.waiting, 'instruction has', 'instructions have')} not come to an end`,
    ),
  ];
}

function line(isWell: boolean, well: string, otherwise: string): ChecklistLine {
  return { isWell, words: isWell ? well : otherwise };
}

function nightLine({ runState, notCompared }: ClosingFacts): ChecklistLine {
  if (runState === null) return { isWell: false, words: 'there is no night of this date' };
  if (notCompared > 0) {
    const words = `${count(notCompared, 'order was', 'orders were')} not compared`;
    return { isWell: false, words: `the night ${shown(runState)}: ${words}` };
  }
  return { isWell: runState === 'tied_out', words: `the night ${shown(runState)}` };
}

function shown(state: string): string {
  return RUN_WORDS[state] ?? `is ${labelOf(state)}`;
}

const RUN_WORDS: Readonly<Record<string, string>> = {
  tied_out: 'tied out',
  broken: 'did not tie out',
  failed: 'failed',
};

function statementLine({ isUnexplained }: ClosingFacts): ChecklistLine {
  if (isUnexplained === null) {
    return { isWell: false, words: 'no workbook of the night is written: there is no statement' };
  }
  return line(
    !isUnexplained,
    'the statement leaves nothing unexplained',
    'the statement leaves money unexplained: do not sign it',
  );
}

function gapWords(gaps: readonly string[]): string {
  const named = gaps.slice(0, GAPS_NAMED).join(', ');
  const more = gaps.length > GAPS_NAMED ? ` and ${gaps.length - GAPS_NAMED} more` : '';
  return `no night covers ${named}${more}`;
}

function moneyWords(money: readonly MoneyOf[]): string {
  if (money.length === 0) return 'no money at stake';
  return `${money.map(({ amount, currency }) => moneyIn(amount, currency)).join(', ')} at stake`;
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** What changed behind a day since it was closed: so many of each (report/sinceSigned.sql). */
interface SinceClosed {
  adjustments: number;
  reopened: number;
  orders: number;
  refunds: number;
  batches: number;
}

const SINCE_WORDS: readonly (readonly [keyof SinceClosed, one: string, many: string])[] = [
  ['adjustments', 'adjustment of this day', 'adjustments of this day'],
  ['reopened', 'break was opened again', 'breaks were opened again'],
  ['orders', 'order of then is new or different', 'orders of then are new or different'],
  ['refunds', 'refund request of then is new', 'refund requests of then are new'],
  ['batches', 'settlement batch of then came later', 'settlement batches of then came later'],
];

/** Where the ledger did not answer. */
export const SINCE_UNKNOWN = 'perhaps, since the ledger did not answer in time';

/** "1 adjustment of this day, 2 breaks were opened again"; null: nothing changed. */
export function sinceSignedWords(counts: SinceClosed): string | null {
  const parts = SINCE_WORDS.flatMap(([key, one, many]) => {
    const count = counts[key];
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}
