// The kinds of order that a seeded night plants: how often, how old, and what each looks like in
// the ledger and at the gateway. One row of the table per kind; the row says what docs/CONTRACT.md
// section 6 makes of it, so that a demo and a test can count what they should find. Neighbours:
// night.ts lays the kinds out over the night, seed.ts fills in names and money.

import type { Hundredths } from '../../core/money.js';
import type { ExpectedState, GatewayState } from '../../core/orders/order.js';
import type { Draw } from './random.js';
import { pick } from './random.js';

/** Where in the thirty days a kind may stand. */
export const ZONES = ['stale', 'recent', 'day', 'young'] as const;
export type Zone = (typeof ZONES)[number];

/** One attempt at the gateway, told as what differs from the order itself. */
export interface SketchedAttempt {
  readonly state: GatewayState | 'odd';
  readonly amount?: Hundredths;
  readonly currency?: string;
  /** Shows an amount with one decimal, which is not the printed shape. */
  readonly oddAmount?: boolean;
  /** Money given back outside tieout: shown as refunded. */
  readonly refunded?: Hundredths;
}

/** Both sides of an order. */
export interface Sketch {
  readonly expected: ExpectedState;
  readonly attempts: readonly SketchedAttempt[];
  readonly refunds?: readonly Hundredths[];
  readonly decision?: 'accept' | 'reject';
  readonly captureAmount?: Hundredths;
  /** The ledger names no attempt, or one that the gateway never had; else often the paid one. */
  readonly names?: 'none' | 'foreign';
  /** An entry of an order number that no ledger has comes along with the answer. */
  readonly gatewayOnly?: boolean;
}

export interface Kind {
  readonly name: string;
  readonly zone: Zone;
  /** Of 10,000 orders of a night. */
  readonly share: number;
  /** What a first snapshot makes of it: an operation to come, a class, or a kind of break. */
  readonly leadsTo: string;
  readonly sketch: (amount: Hundredths, draw: Draw) => Sketch;
}

function one(expected: ExpectedState, state: GatewayState | 'odd'): Sketch {
  return { expected, attempts: [{ state }] };
}

const share = (amount: Hundredths, percent: number): Hundredths => {
  const part = (amount * BigInt(percent)) / 100n;
  return amount % 100n === 0n ? part - (part % 100n) : part;
};

/** Nearly all orders: what the ledger wants is what the gateway shows. */
export function plainSketch(zone: Zone, draw: Draw): Sketch {
  const at = draw();
  if (at < 0.76) return one('captured', 'captured');
  if (at < 0.88 && zone !== 'stale') return one('authorised', 'authorised');
  if (at < 0.93) return one('cancelled', 'cancelled');
  if (at < 0.99) return one('declined', 'declined');
  return { expected: 'captured', attempts: [{ state: 'declined' }, { state: 'captured' }] };
}

const STATE_DIFFERENCES = [
  ['authorised', 'captured'],
  ['captured', 'cancelled'],
  ['captured', 'declined'],
  ['cancelled', 'captured'],
] as const;

export const KINDS: readonly Kind[] = [
  {
    name: 'capture_due',
    zone: 'day',
    share: 100,
    leadsTo: 'capture',
    sketch: () => one('captured', 'authorised'),
  },
  {
    name: 'partial_capture_due',
    zone: 'day',
    share: 3,
    leadsTo: 'capture',
    sketch: (amount) => ({
      ...one('captured', 'authorised'),
      captureAmount: share(amount, 80),
    }),
  },
  {
    name: 'cancel_due',
    zone: 'day',
    share: 50,
    leadsTo: 'cancel',
    sketch: () => one('cancelled', 'authorised'),
  },
  {
    name: 'review_accept_due',
    zone: 'day',
    share: 12,
    leadsTo: 'review',
    sketch: () => ({ ...one('captured', 'in_review'), decision: 'accept' }),
  },
  {
    name: 'review_reject_due',
    zone: 'day',
    share: 8,
    leadsTo: 'review',
    sketch: () => ({ ...one('declined', 'in_review'), decision: 'reject' }),
  },
  {
    name: 'amount_mismatch',
    zone: 'day',
    share: 8,
    leadsTo: 'amount_mismatch',
    sketch: (amount, draw) => ({
      expected: 'captured',
      attempts: [{ state: 'captured', amount: amount + BigInt(1 + Math.floor(draw() * 9)) * 100n }],
    }),
  },
  {
    name: 'currency_mismatch',
    zone: 'day',
    share: 4,
    leadsTo: 'currency_mismatch',
    sketch: () => ({ expected: 'captured', attempts: [{ state: 'captured', currency: 'GBP' }] }),
  },
  {
    name: 'state_mismatch',
    zone: 'day',
    share: 8,
    leadsTo: 'state_mismatch',
    sketch: (_amount, draw) => {
      const [expected, state] = pick<(typeof STATE_DIFFERENCES)[number]>(STATE_DIFFERENCES, draw());
      return one(expected, state);
    },
  },
  {
    name: 'duplicate_transaction',
    zone: 'day',
    share: 4,
    leadsTo: 'duplicate_transaction',
    sketch: () => ({
      expected: 'captured',
      attempts: [{ state: 'captured' }, { state: 'authorised' }],
      names: 'none',
    }),
  },
  {
    name: 'transaction_mismatch',
    zone: 'day',
    share: 4,
    leadsTo: 'transaction_mismatch',
    sketch: () => ({ ...one('captured', 'captured'), names: 'foreign' }),
  },
  {
    name: 'unknown_status',
    zone: 'day',
    share: 4,
    leadsTo: 'unknown_status',
    sketch: () => one('captured', 'odd'),
  },
  {
    name: 'invalid_record',
    zone: 'day',
    share: 3,
    leadsTo: 'invalid_record',
    sketch: () => ({ expected: 'captured', attempts: [{ state: 'captured', oddAmount: true }] }),
  },
  {
    name: 'dead_attempts',
    zone: 'day',
    share: 20,
    leadsTo: 'matched',
    sketch: () => ({
      expected: 'captured',
      attempts: [{ state: 'declined' }, { state: 'cancelled' }, { state: 'captured' }],
      names: 'none',
    }),
  },
  {
    name: 'never_arrived',
    zone: 'day',
    share: 10,
    leadsTo: 'matched',
    sketch: () => ({ expected: 'cancelled', attempts: [] }),
  },
  {
    name: 'full_refund_due',
    zone: 'recent',
    share: 20,
    leadsTo: 'refund',
    sketch: (amount) => ({ ...one('captured', 'captured'), refunds: [amount] }),
  },
  {
    name: 'partial_refund_due',
    zone: 'recent',
    share: 20,
    leadsTo: 'refund',
    sketch: (amount) => ({ ...one('captured', 'captured'), refunds: [share(amount, 40)] }),
  },
  {
    name: 'two_refunds_due',
    zone: 'recent',
    share: 4,
    leadsTo: 'refund',
    sketch: (amount) => ({
      ...one('captured', 'captured'),
      refunds: [share(amount, 30), share(amount, 20)],
    }),
  },
  {
    name: 'cancelled_refund_due',
    zone: 'recent',
    share: 4,
    leadsTo: 'refund',
    sketch: (amount) => ({ ...one('cancelled', 'captured'), refunds: [amount] }),
  },
  {
    name: 'refund_done_elsewhere',
    zone: 'recent',
    share: 8,
    leadsTo: 'matched',
    sketch: (amount) => ({
      expected: 'captured',
      attempts: [{ state: 'refunded', refunded: amount }],
      refunds: [amount],
    }),
  },
  {
    name: 'refund_mismatch',
    zone: 'recent',
    share: 4,
    leadsTo: 'refund_mismatch',
    sketch: (amount) => ({
      expected: 'captured',
      attempts: [{ state: 'partially_refunded', refunded: share(amount, 50) }],
    }),
  },
  {
    name: 'missing_at_gateway',
    zone: 'recent',
    share: 8,
    leadsTo: 'missing_at_gateway',
    sketch: () => ({ expected: 'captured', attempts: [], names: 'none' }),
  },
  {
    name: 'pending_old',
    zone: 'recent',
    share: 4,
    leadsTo: 'state_mismatch',
    sketch: () => one('captured', 'pending'),
  },
  {
    name: 'review_undecided',
    zone: 'recent',
    share: 4,
    leadsTo: 'state_mismatch',
    sketch: () => one('captured', 'in_review'),
  },
  {
    name: 'stranger',
    zone: 'recent',
    share: 3,
    leadsTo: 'missing_in_ledger',
    sketch: () => ({ ...one('captured', 'captured'), gatewayOnly: true }),
  },
  {
    name: 'stale_authorisation',
    zone: 'stale',
    share: 4,
    leadsTo: 'stale_authorisation',
    sketch: (_amount, draw) => one(draw() < 0.5 ? 'authorised' : 'captured', 'authorised'),
  },
  {
    name: 'missing_young',
    zone: 'young',
    share: 8,
    leadsTo: 'awaited',
    sketch: () => ({ expected: 'captured', attempts: [], names: 'none' }),
  },
  {
    name: 'pending_young',
    zone: 'young',
    share: 8,
    leadsTo: 'awaited',
    sketch: () => one('captured', 'pending'),
  },
  {
    name: 'review_young',
    zone: 'young',
    share: 4,
    leadsTo: 'awaited',
    sketch: () => one('captured', 'in_review'),
  },
];
