// The verdict on one order, from the ledger row, the snapshot and our instructions: the readable
// reference of docs/CONTRACT.md section 6. Whole sets are decided by compare.sql with the same
// table of positions; a property test holds the two equal. Used alone where money is about to move:
// the claim of a batch asks this file again, so that two roads must agree before a byte is sent.

import type { Hundredths } from '../money.js';
import { compareAmounts } from './amounts.js';
import type {
  EntryFacts,
  InstructionFacts,
  LedgerFacts,
  OrderFacts,
  RefundFacts,
  Rules,
} from './facts.js';
import type { GatewayState, Operation } from './order.js';
import type {
  BreakKind,
  ObservedState,
  Position,
  RefundPosition,
  ReviewDecision,
} from './verdict.js';
import { positionOf, refundsBearOn } from './verdict.js';

export interface Need {
  operation: Operation;
  transactionId: string;
  currency: string;
  /** what the wire calls amount: the amount to capture, else the transaction's */
  amount: Hundredths;
  refundId: string | null;
  refundAmount: Hundredths | null;
  reviewDecision: ReviewDecision | null;
}

type NotCompared = 'no_look' | 'contradictory' | 'query_result';

export interface Verdict {
  notCompared: NotCompared | null;
  kinds: BreakKind[];
  need: Need | null;
  awaited: boolean;
  /** an amount difference that the tolerance swallowed */
  tolerated: boolean;
  transaction: EntryFacts | null;
}

/**
 * Decides one order. Pure; the order of the checks is the precedence of docs/CONTRACT.md section 6.
 */
export function decideOrder(facts: OrderFacts, rules: Rules): Verdict {
  if (facts.isAskable === false) return without({ kinds: ['invalid_record'] });
  if (!facts.hasSnapshot) return without({ notCompared: 'no_look' });
  if (facts.contradictory) return without({ notCompared: 'contradictory' });
  if (facts.entries.some((entry) => !entry.found)) return without({ notCompared: 'query_result' });
  if (facts.entries.some((entry) => !entry.transactionId || entry.paymentStatus === null)) {
    return without({ kinds: ['invalid_record'] });
  }
  if (facts.ledger === null) {
    // A gateway-only entry that the gateway no longer has: nothing is left to be said of it.
    if (facts.entries.length === 0) return without({});
    return decideGatewayOnly(facts.entries, rules);
  }
  if (facts.ledger.isUsable === false) return without({ kinds: ['invalid_record'] });
  return decideLedgerOrder(facts.ledger, facts, rules);
}

function decideGatewayOnly(entries: readonly EntryFacts[], rules: Rules): Verdict {
  const times: number[] = [];
  for (const entry of entries) {
    if (entry.transactionAt === null) return without({ kinds: ['invalid_record'] });
    times.push(entry.transactionAt.getTime());
  }
  const first = Math.min(...times);
  const due = first < rules.dateEnd.getTime() && rules.asOf.getTime() - first > rules.graceMs;
  return due ? without({ kinds: ['missing_in_ledger'] }) : without({ awaited: true });
}

function decideLedgerOrder(ledger: LedgerFacts, facts: OrderFacts, rules: Rules): Verdict {
  const { entries } = facts;
  const candidates = candidatesOf(ledger, entries);
  if (candidates.some((entry) => !isAmount(entry.amount) || !entry.currency)) {
    return without({ kinds: ['invalid_record'] });
  }
  if (entries.some((entry) => entry.state === null)) return without({ kinds: ['unknown_status'] });
  const [transaction] = candidates;
  if (transaction === undefined) {
    if (entries.length > 0) return without({ kinds: ['transaction_mismatch'] });
    return decidePair(ledger, null, facts, rules);
  }
  const others = entries.filter((entry) => entry !== transaction && !isDead(entry.state));
  if (others.length > 0) return without({ kinds: ['duplicate_transaction'], transaction });
  return decidePair(ledger, transaction, facts, rules);
}

/** The one the ledger names; else the live ones (one, or too many); else the latest dead one. */
function candidatesOf(ledger: LedgerFacts, entries: readonly EntryFacts[]): EntryFacts[] {
  if (ledger.transactionId !== null) {
    return entries.filter((entry) => entry.transactionId === ledger.transactionId);
  }
  const live = entries.filter((entry) => !isDead(entry.state));
  if (live.length > 0) return live.sort((a, b) => (isLater(a, b) ? -1 : 1));
  return [...entries].sort((a, b) => (isLater(a, b) ? -1 : 1)).slice(0, 1);
}

/** One ledger row beside one transaction, or beside nothing. */
function decidePair(
  ledger: LedgerFacts,
  transaction: EntryFacts | null,
  facts: OrderFacts,
  rules: Rules,
): Verdict {
  const observed: ObservedState = transaction?.state ?? 'missing';
  const refunds = refundPosition(ledger, observed, facts, rules);
  const position = positionOf({
    expected: ledger.expected,
    observed,
    ripe: rules.asOf.getTime() - ledger.placedAt.getTime() > rules.graceMs,
    decision: ledger.reviewDecision ?? 'none',
    refunds: refunds.position,
  });
  const verdict = without({ transaction, awaited: position.kind === 'awaited' });
  const amounts = transaction ? compareAmounts(ledger, transaction, facts, rules) : 'equal';
  if (transaction && transaction.currency !== ledger.currency) {
    verdict.kinds.push('currency_mismatch');
  }
  if (amounts === 'differs') verdict.kinds.push('amount_mismatch');
  verdict.tolerated = amounts === 'tolerated';
  if (isStale(ledger, transaction, rules)) verdict.kinds.push('stale_authorisation');
  const difference = positionBreak(position, transaction, refunds.oldestOpen, facts, rules);
  if (difference) verdict.kinds.push(difference);
  const agrees = amounts === 'equal' && transaction?.currency === ledger.currency;
  if (position.kind === 'need' && transaction && !difference && agrees) {
    verdict.need = needOf(position.operation, ledger, transaction, refunds.oldestOpen);
  }
  return verdict;
}

/** The break of the position itself, or null: matched, awaited, or an instruction will heal it. */
function positionBreak(
  position: Position,
  transaction: EntryFacts | null,
  oldestOpen: RefundFacts | null,
  facts: OrderFacts,
  rules: Rules,
): BreakKind | null {
  const missing = position.kind === 'break' && position.breakKind === 'missing_at_gateway';
  if (!missing && facts.instructions.some((instruction) => instruction.state === 'unknown')) {
    return 'outcome_unknown';
  }
  if (position.kind === 'break') return position.breakKind;
  if (position.kind !== 'need') return null;
  const { ledger } = facts;
  const same = facts.instructions.filter(
    (instruction) =>
      instruction.operation === position.operation &&
      instruction.transactionId === transaction?.transactionId &&
      (position.operation !== 'refund' || instruction.refundId === oldestOpen?.refundId),
  );
  const newest = same.at(-1);
  const stands = newest !== undefined && !newest.isReplanned;
  if (stands && newest.state === 'rejected') return 'instruction_rejected';
  // A confirmed capture, cancel or review that the gateway no longer shows is never sent again.
  if (same.some((instruction) => instruction.state === 'confirmed')) return position.otherwise;
  if (ledger && transaction) {
    const need = needOf(position.operation, ledger, transaction, oldestOpen);
    // A person's no holds whenever just this would be asked, whatever was asked between.
    const equal = same.filter((one) => isSameNeed(one, need));
    const replanned = equal.findLastIndex(({ isReplanned }) => isReplanned);
    const refused = equal.findLastIndex((one) => one.isRefused && !one.isReplanned);
    if (refused > replanned) return position.otherwise;
  }
  return rules.off.has(position.operation) ? position.otherwise : null;
}

function isSameNeed(instruction: InstructionFacts, need: Need): boolean {
  return (
    instruction.currency === need.currency &&
    instruction.amount === need.amount &&
    instruction.refundAmount === need.refundAmount &&
    instruction.reviewDecision === need.reviewDecision
  );
}

function refundPosition(
  ledger: LedgerFacts,
  observed: ObservedState,
  facts: OrderFacts,
  rules: Rules,
): { position: RefundPosition; oldestOpen: RefundFacts | null } {
  if (!refundsBearOn(ledger.expected, observed)) return { position: 'none', oldestOpen: null };
  const confirmed = paidRefunds(facts);
  let explained = 0n;
  let requested = 0n;
  const open: RefundFacts[] = [];
  for (const refund of facts.refunds) {
    requested += refund.amount;
    const historic = rules.liveFrom !== null && refund.requestedAt < rules.liveFrom;
    if (historic || confirmed.has(refund.refundId)) explained += refund.amount;
    else open.push(refund);
  }
  if (facts.refunds.some((refund) => refund.amount <= 0n) || isForgotten(confirmed, facts)) {
    return { position: 'differs', oldestOpen: null };
  }
  const amount = refundableAmount(ledger, rules);
  const oldestOpen = open.sort(byAge)[0] ?? null;
  if (observed === impliedState(explained, amount) && requested <= amount) {
    return { position: oldestOpen ? 'open' : 'settled', oldestOpen };
  }
  const elsewhere = observed === 'refunded' && requested === amount;
  return { position: elsewhere ? 'elsewhere' : 'differs', oldestOpen };
}

/** What we paid of the order, by the request that asked for it. */
function paidRefunds({ instructions }: OrderFacts): Map<string, Hundredths> {
  const paid = new Map<string, Hundredths>();
  for (const { operation, state, refundId, refundAmount } of instructions) {
    if (operation !== 'refund' || state !== 'confirmed' || refundId === null) continue;
    paid.set(refundId, refundAmount ?? 0n);
  }
  return paid;
}

/**
 * A request that we paid is gone, asks for another amount now, or stands under another order:
 * what was paid stays paid, and the requests that are left do not say how much that is.
 */
function isForgotten(paid: ReadonlyMap<string, Hundredths>, { refunds }: OrderFacts): boolean {
  if (refunds.some((refund) => refund.isPaidElsewhere)) return true;
  const asked = new Map(refunds.map((refund) => [refund.refundId, refund.amount]));
  return [...paid].some(([refundId, amount]) => asked.get(refundId) !== amount);
}

/** What finished refunds imply; null when they are more than the amount. */
function impliedState(explained: Hundredths, amount: Hundredths): ObservedState | null {
  if (explained === 0n) return 'captured';
  if (explained < amount) return 'partially_refunded';
  return explained === amount ? 'refunded' : null;
}

function needOf(
  operation: Operation,
  ledger: LedgerFacts,
  transaction: EntryFacts,
  refund: RefundFacts | null,
): Need {
  const amount = transaction.amount ?? 0n;
  return {
    operation,
    transactionId: transaction.transactionId ?? '',
    currency: ledger.currency,
    amount: operation === 'capture' ? (ledger.captureAmount ?? ledger.amount) : amount,
    refundId: operation === 'refund' ? (refund?.refundId ?? null) : null,
    refundAmount: operation === 'refund' ? (refund?.amount ?? null) : null,
    reviewDecision: operation === 'review' ? ledger.reviewDecision : null,
  };
}

function isStale(ledger: LedgerFacts, transaction: EntryFacts | null, rules: Rules): boolean {
  if (transaction?.state !== 'authorised') return false;
  if (ledger.expected !== 'captured' && ledger.expected !== 'authorised') return false;
  const since = transaction.transactionAt ?? ledger.placedAt;
  return rules.asOf.getTime() - since.getTime() > rules.staleMs;
}

function refundableAmount(ledger: LedgerFacts, rules: Rules): Hundredths {
  return rules.partialCapture ? (ledger.captureAmount ?? ledger.amount) : ledger.amount;
}

function isDead(state: GatewayState | null): boolean {
  return state === 'cancelled' || state === 'declined';
}

function isAmount(amount: Hundredths | null): boolean {
  return amount !== null && amount > 0n;
}

/** Later by the gateway's time; without a readable one, or at the same, the larger id. */
function isLater(a: EntryFacts, b: EntryFacts): boolean {
  const difference = (a.transactionAt?.getTime() ?? 0) - (b.transactionAt?.getTime() ?? 0);
  if (difference !== 0) return difference > 0;
  return (a.transactionId ?? '') > (b.transactionId ?? '');
}

function byAge(a: RefundFacts, b: RefundFacts): number {
  const byTime = a.requestedAt.getTime() - b.requestedAt.getTime();
  if (byTime !== 0) return byTime;
  return a.refundId < b.refundId ? -1 : 1;
}

function without(parts: Partial<Verdict>): Verdict {
  return {
    notCompared: null,
    kinds: [],
    need: null,
    awaited: false,
    tolerated: false,
    transaction: null,
    ...parts,
  };
}
