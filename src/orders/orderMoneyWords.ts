// One movement or settlement line of an order, in words: the same on the command line and the
// console. Pure.

import { moneyIn } from '../core/text/amounts.js';
import { labelOf } from '../core/text/labels.js';
import type { OrderLine, OrderMovement } from './orderMoneyStore.js';

/** What became of it at the acquirer. */
export function settledWords({ amount, isHistory, batches }: OrderMovement): string {
  if (batches.length > 0) return `settled in ${[...new Set(batches)].join(', ')}`;
  if (amount === '0.00') return 'shown by mistake';
  return isHistory ? 'history: no line is missed' : 'no settlement line yet';
}

/** Where its amount comes from, and whether anybody knows it. */
export function amountWords({ amount, currency, knownBy }: OrderMovement): string {
  if (amount === null) return `an amount of ${currency} that nobody knows (in suspense)`;
  const money = moneyIn(amount, currency);
  return knownBy === 'look' ? money : `${money} (by ${knownBy})`;
}

const HAS_MOVEMENT: ReadonlySet<string> = new Set(['captured', 'refunded']);

export function matchWords({ type, matchedBy, movedOn }: OrderLine): string {
  if (matchedBy !== null) return `settles what moved on ${movedOn} (by ${labelOf(matchedBy)})`;
  return HAS_MOVEMENT.has(type) ? 'waits for its movement' : '';
}
