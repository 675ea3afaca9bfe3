// Runs every invariant over the books and answers what is broken, by the invariant's name. The one
// list of them; the documents and the tests of the auditor go by it.

import { joinBooks } from './books.mjs';
import { chainUnbroken } from './chain.mjs';
import {
  evidenceUntouched,
  figuresTie,
  moneyByCurrency,
  nothingForgotten,
} from './conservation.mjs';
import { disputedSeen } from './disputes.mjs';
import {
  allAccountedFor,
  claimedBefore,
  confirmedHappened,
  nothingElseHappened,
  onceOnly,
  oneAtATime,
  refundsWithinCapture,
  unknownOnlyWhereNobodyCanSay,
} from './invariants.mjs';
import { bookEqualsEffects } from './movements.mjs';
import { everybodyTold, everythingEnded, summaryEqualsEffects } from './told.mjs';

export const INVARIANTS = [
  ['I1', 'no instruction has more than one effect', onceOnly],
  ['I2', 'what is confirmed has one effect of the same money', confirmedHappened],
  ['I3', 'what is rejected, withdrawn or not sent has none', nothingElseHappened],
  ['I4', 'every effect was ordered, or made by hand', allAccountedFor],
  ['I5', 'nothing is forgotten', nothingForgotten],
  ['I6', 'unknown is left only where nobody can say', unknownOnlyWhereNobodyCanSay],
  ['I7', 'no more is refunded than was captured', refundsWithinCapture],
  ['I8', 'every effect was claimed before, each claim once', claimedBefore],
  ['I9', 'one open instruction an order, no capture after a cancel', oneAtATime],
  ['I10', 'the evidence is what it was', evidenceUntouched],
  ['I10', 'the chain of digests is unbroken', chainUnbroken],
  ['I11', 'the figures are those of the books', figuresTie],
  ['I12', 'everything came to its end', everythingEnded],
  ['I13', 'the summary equals the effects', summaryEqualsEffects],
  ['I14', 'everybody was told', everybodyTold],
  ['I15', 'the book of movements is what the gateway really moved', bookEqualsEffects],
  ['I16', 'no refund of disputed money that nobody had seen', disputedSeen],
];

/** Each violation as { invariant, words }, and the money by currency. */
export function findViolations(books) {
  const joined = joinBooks(books);
  const violations = INVARIANTS.flatMap(([invariant, , check]) =>
    check(joined).map((words) => ({ invariant, words })),
  );
  return { violations, money: moneyByCurrency(joined) };
}
