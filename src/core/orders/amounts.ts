// How much: what the gateway shows beside the ledger, and what we captured beside what was to be
// captured, within the tolerance. Pure; compare.sql does the same for sets. Neighbour:
// decideVerdict.ts.

import type { Hundredths } from '../money.js';
import type { EntryFacts, LedgerFacts, OrderFacts, Rules } from './facts.js';
import type { GatewayState } from './order.js';

type Agreement = 'equal' | 'tolerated' | 'differs';

/** The gateway beside the ledger, and what we captured beside what was to be captured. */
export function compareAmounts(
  ledger: LedgerFacts,
  transaction: EntryFacts,
  facts: OrderFacts,
  rules: Rules,
): Agreement {
  const isForeign = transaction.currency !== ledger.currency;
  const found = [
    isShownWhole(ledger, transaction, rules)
      ? 'equal'
      : agreement(ledger.amount, transaction.amount ?? 0n, isForeign, rules),
  ];
  const taken = takenByUs(ledger, transaction, facts);
  if (taken !== null) {
    found.push(agreement(ledger.captureAmount ?? ledger.amount, taken, isForeign, rules));
  }
  if (found.includes('differs')) return 'differs';
  return found.includes('tolerated') ? 'tolerated' : 'equal';
}

/** After a partial capture the gateway may show either amount (docs/CONTRACT.md section 4). */
function isShownWhole(ledger: LedgerFacts, transaction: EntryFacts, rules: Rules): boolean {
  const shown = transaction.amount ?? 0n;
  if (shown === ledger.amount) return true;
  return rules.partialCapture && wasCaptured(transaction) && shown === ledger.captureAmount;
}

function agreement(
  wanted: Hundredths,
  found: Hundredths,
  isForeign: boolean,
  { tolerance }: Rules,
): Agreement {
  const difference = found - wanted;
  if (difference === 0n) return 'equal';
  if (isForeign) return 'differs';
  const size = difference < 0n ? -difference : difference;
  const allowed = difference < 0n ? tolerance.below : tolerance.above;
  const share = wanted * tolerance.partsPerMillion;
  return size <= allowed || size * 1_000_000n <= share ? 'tolerated' : 'differs';
}

/**
 * What we captured, where the gateway does not tell: of an order of which less than the whole was
 * captured, or is to be captured. Null elsewhere, and where somebody else captured it.
 */
function takenByUs(
  ledger: LedgerFacts,
  transaction: EntryFacts,
  { instructions }: OrderFacts,
): Hundredths | null {
  if (ledger.expected !== 'captured' || !wasCaptured(transaction)) return null;
  const ours = instructions.find(
    ({ operation, state, transactionId }) =>
      operation === 'capture' &&
      state === 'confirmed' &&
      transactionId === transaction.transactionId,
  );
  if (ours === undefined) return null;
  const isLess = ledger.captureAmount !== null && ledger.captureAmount !== ledger.amount;
  return ours.isPart || isLess ? ours.amount : null;
}

function wasCaptured({ state }: EntryFacts): boolean {
  return state !== null && CAPTURED.has(state);
}

const CAPTURED: ReadonlySet<GatewayState> = new Set(['captured', 'partially_refunded', 'refunded']);
