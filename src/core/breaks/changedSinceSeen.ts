// What became of a break since somebody looked at it, in words for whoever has to look again.

import type { BreakKind } from '../orders/verdict.js';
import type { BreakState } from './breakDecision.js';
import type { Side } from './sentence.js';
import { shownFields } from './sentence.js';
import { isOfSettlement } from './settlementSentence.js';

/** As it stands, and as its newest event of then has it. */
export interface BreakChange {
  readonly kind: BreakKind;
  readonly state: BreakState;
  readonly expected: Side;
  readonly actual: Side;
  readonly expectedThen: Side;
  readonly actualThen: Side;
  /** the newest event since; null: none */
  readonly event: string | null;
}

const OF_ORDERS = ['in the ledger', 'at the gateway'] as const;
const OF_SETTLEMENT = ['as expected', 'in the files of the acquirer'] as const;

/** "the amount at the gateway was 12.00 and is 13.00", or what happened where no field differs. */
export function changeWords(change: BreakChange): string {
  const [here, there] = isOfSettlement(change.kind) ? OF_SETTLEMENT : OF_ORDERS;
  const words = [
    ...fieldsThatChanged(change.expectedThen, change.expected, here),
    ...fieldsThatChanged(change.actualThen, change.actual, there),
  ];
  if (words.length > 0) return words.join(', ');
  if (change.state !== 'open') return `it is ${change.state} now`;
  return change.event === 'reopened' ? 'it is open again' : 'look at what stands behind it';
}

function fieldsThatChanged(then: Side, now: Side, where: string): string[] {
  return shownFields(then, now)
    .filter(({ expected: was, actual: is }) => was !== is)
    .map(({ field, expected: was, actual: is }) => {
      return `the ${field} ${where} was ${was ?? 'none'} and is ${is ?? 'none'}`;
    });
}
