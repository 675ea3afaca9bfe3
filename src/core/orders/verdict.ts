// The verdict table of docs/CONTRACT.md section 6 as data. `positionRows` spells out every
// combination of what the ledger expects, what the gateway shows and what bears on the pair, each
// with its verdict; the SQL that compares joins these rows as values, and decideVerdict.ts looks
// the same rows up for one order, so that the table lives once. Nothing here knows money: amounts
// are compared elsewhere.

import type { ExpectedState, GatewayState, Operation } from './order.js';
import { EXPECTED_STATES, GATEWAY_STATES } from './order.js';

/** What the gateway shows of an order: the state of its transaction, or that it has none. */
export type ObservedState = GatewayState | 'missing';
const OBSERVED_STATES: readonly ObservedState[] = [...GATEWAY_STATES, 'missing'];

/** The merchant's decision on an order in fraud review; none while nobody decided. */
export type ReviewDecision = 'accept' | 'reject';
const REVIEWS = ['none', 'accept', 'reject'] as const;
type Review = (typeof REVIEWS)[number];

/**
 * How the refund requests of an order stand beside what the gateway shows.
 * - `none`: expected or observed state are not among those that refunds bear on
 * - `settled`: the gateway shows what finished requests imply and nothing is open
 * - `open`: it shows what they imply, everything fits the amount, a request waits
 * - `elsewhere`: it shows refunded, all requests make up the amount, not all are ours
 * - `differs`: anything else
 */
const REFUND_POSITIONS = ['none', 'settled', 'open', 'elsewhere', 'differs'] as const;
export type RefundPosition = (typeof REFUND_POSITIONS)[number];

/** What became of the captured money: no compare opens or resolves these. */
const SETTLEMENT_KINDS = [
  'not_settled',
  'settled_twice',
  'settled_not_captured',
  'settled_unknown',
  'settlement_amount',
  'fee_variance',
  'charged_back',
] as const;

/** Every kind of break; one row an order and kind for life. */
export const BREAK_KINDS = [
  'missing_at_gateway',
  'missing_in_ledger',
  'amount_mismatch',
  'currency_mismatch',
  'state_mismatch',
  'transaction_mismatch',
  'duplicate_transaction',
  'refund_mismatch',
  'stale_authorisation',
  'unknown_status',
  'invalid_record',
  'instruction_rejected',
  'outcome_unknown',
  'refund_without_order',
  'payout_rejected',
  ...SETTLEMENT_KINDS,
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

/** The verdict on a position: nothing to do, wait, something to send, or a difference. */
export type Position =
  | { kind: 'matched' }
  | { kind: 'awaited' }
  | { kind: 'need'; operation: Operation; otherwise: BreakKind }
  | { kind: 'break'; breakKind: BreakKind };

/** A cell of the printed table; `refunds` means that the rules for refunds decide. */
type Cell = 'matched' | 'state_mismatch' | 'missing_at_gateway' | 'capture' | 'cancel' | 'refunds';

/** docs/CONTRACT.md section 6, the table as printed: expected (row), observed state (column). */
export const VERDICT_TABLE: Record<
  ExpectedState,
  Record<Exclude<ObservedState, 'pending' | 'in_review'>, Cell>
> = {
  authorised: {
    authorised: 'matched',
    captured: 'state_mismatch',
    partially_refunded: 'state_mismatch',
    refunded: 'state_mismatch',
    cancelled: 'state_mismatch',
    declined: 'state_mismatch',
    missing: 'missing_at_gateway',
  },
  captured: {
    authorised: 'capture',
    captured: 'refunds',
    partially_refunded: 'refunds',
    refunded: 'refunds',
    cancelled: 'state_mismatch',
    declined: 'state_mismatch',
    missing: 'missing_at_gateway',
  },
  cancelled: {
    authorised: 'cancel',
    captured: 'refunds',
    partially_refunded: 'refunds',
    refunded: 'matched',
    cancelled: 'matched',
    declined: 'matched',
    missing: 'matched',
  },
  declined: {
    authorised: 'state_mismatch',
    captured: 'state_mismatch',
    partially_refunded: 'state_mismatch',
    refunded: 'state_mismatch',
    cancelled: 'matched',
    declined: 'matched',
    missing: 'matched',
  },
};

interface PositionKey {
  expected: ExpectedState;
  observed: ObservedState;
  /** graceHours have passed from placed_at to the snapshot */
  ripe: boolean;
  decision: Review;
  refunds: RefundPosition;
}

/** The verdict on one combination; an operation that is off is told apart by the caller. */
export function positionOf(key: PositionKey): Position {
  if (key.observed === 'in_review' && key.decision !== 'none') {
    return { kind: 'need', operation: 'review', otherwise: 'state_mismatch' };
  }
  if (key.observed === 'in_review' || key.observed === 'pending') {
    return key.ripe ? { kind: 'break', breakKind: 'state_mismatch' } : { kind: 'awaited' };
  }
  const cell = VERDICT_TABLE[key.expected][key.observed];
  switch (cell) {
    case 'matched':
      return { kind: 'matched' };
    case 'state_mismatch':
      return { kind: 'break', breakKind: 'state_mismatch' };
    case 'missing_at_gateway':
      return key.ripe ? { kind: 'break', breakKind: 'missing_at_gateway' } : { kind: 'awaited' };
    case 'capture':
    case 'cancel':
      return { kind: 'need', operation: cell, otherwise: 'state_mismatch' };
    case 'refunds':
      return refundVerdict(key);
  }
}

/** The rules for refunds; `none` cannot be met here and is read as a difference. */
function refundVerdict(key: PositionKey): Position {
  // A cancelled order whose money was taken heals only by a request: without one it stands out.
  const uncancelled = key.expected === 'cancelled' && key.observed === 'captured';
  switch (key.refunds) {
    case 'open':
      return {
        kind: 'need',
        operation: 'refund',
        otherwise: uncancelled ? 'state_mismatch' : 'refund_mismatch',
      };
    case 'settled':
      return uncancelled ? { kind: 'break', breakKind: 'state_mismatch' } : { kind: 'matched' };
    case 'elsewhere':
      return { kind: 'matched' };
    case 'differs':
    case 'none':
      return { kind: 'break', breakKind: 'refund_mismatch' };
  }
}

/** One row of the spelled-out table, in the shape that the SQL joins. */
export interface PositionRow extends PositionKey {
  verdict: Position['kind'];
  operation: Operation | null;
  /** the break to open: at once for `break`, for `need` when its operation is off */
  break_kind: BreakKind | null;
}

/** Every combination with its verdict, for the SQL that decides whole sets. */
export function positionRows(): PositionRow[] {
  const rows: PositionRow[] = [];
  for (const expected of EXPECTED_STATES)
    for (const observed of OBSERVED_STATES)
      for (const ripe of [false, true])
        for (const decision of REVIEWS)
          for (const refunds of REFUND_POSITIONS) {
            rows.push(positionRow({ expected, observed, ripe, decision, refunds }));
          }
  return rows;
}

function positionRow(key: PositionKey): PositionRow {
  const position = positionOf(key);
  const operation = position.kind === 'need' ? position.operation : null;
  let breakKind: BreakKind | null = null;
  if (position.kind === 'break') breakKind = position.breakKind;
  if (position.kind === 'need') breakKind = position.otherwise;
  return { ...key, verdict: position.kind, operation, break_kind: breakKind };
}

/** What is expected and what is shown, where nothing is left to do. */
interface PlainPair {
  expected: ExpectedState;
  observed: ObservedState;
}

/**
 * Pairs that match whatever the hour and the decision, as long as nothing was ever asked to be
 * refunded: enough to tell nearly every order of a run by its two states alone.
 */
export function plainPairs(): PlainPair[] {
  const all = positionRows();
  return EXPECTED_STATES.flatMap((expected) =>
    OBSERVED_STATES.filter((observed) => isPlain(all, expected, observed)).map((observed) => ({
      expected,
      observed,
    })),
  );
}

function isPlain(
  all: readonly PositionRow[],
  expected: ExpectedState,
  observed: ObservedState,
): boolean {
  const rows = all.filter((row) => row.expected === expected && row.observed === observed);
  // Captured with no request at all is the settled position: nothing was to be refunded.
  const met = observed === 'captured' ? rows.filter((row) => row.refunds === 'settled') : rows;
  return met.every((row) => row.verdict === 'matched');
}

/** Which expected state asks for each of these operations. */
export function askedFor(
  operations: readonly Operation[],
): { operation: Operation; expected: ExpectedState }[] {
  return operations.flatMap((operation) =>
    EXPECTED_STATES.filter((expected) =>
      Object.values(VERDICT_TABLE[expected]).some((cell) => cell === operation),
    ).map((expected) => ({ operation, expected })),
  );
}

/** Refunds bear on these pairs only; elsewhere the position is `none`. */
export function refundsBearOn(expected: ExpectedState, observed: ObservedState): boolean {
  if (observed === 'pending' || observed === 'in_review') return false;
  return VERDICT_TABLE[expected][observed] === 'refunds';
}
