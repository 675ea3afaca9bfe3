// The life of an instruction as data: its states, the moves between them, and what the gateway must
// show for each operation to count as done. The CHECK constraints and the guard in the database
// hold the same rows; a test compares them. Nothing here decides whether to send.

import type { GatewayState, Operation } from '../orders/order.js';
import type { ReviewDecision } from '../orders/verdict.js';
import { asWritten, moneyIn } from '../text/amounts.js';

export const INSTRUCTION_STATES = [
  'planned',
  'held',
  'queued',
  'sending',
  'accepted',
  'confirmed',
  'rejected',
  'unknown',
  'withdrawn',
] as const;
export type InstructionState = (typeof INSTRUCTION_STATES)[number];

/** Every legal move. `sending` to `queued` is the one proof of "not sent": no byte had left. */
export const LEGAL_MOVES: Record<InstructionState, readonly InstructionState[]> = {
  // Back to unknown: it was to be sent again, and now is not.
  planned: ['held', 'queued', 'withdrawn', 'unknown'],
  held: ['planned', 'queued', 'withdrawn'],
  queued: ['planned', 'held', 'sending', 'withdrawn', 'unknown'],
  sending: ['queued', 'accepted', 'rejected', 'unknown'],
  // Rejected: a payout that was still pending, of which a person found that it did not happen.
  accepted: ['confirmed', 'unknown', 'rejected'],
  // A confirmed capture whose effect a person disproves is a new break, never an edited history.
  confirmed: [],
  rejected: ['unknown'],
  // Planned: sent again, once, as resendAfterHours allows.
  unknown: ['confirmed', 'rejected', 'planned'],
  withdrawn: [],
};

/** An order has at most one instruction in these states. */
export const OPEN_STATES: readonly InstructionState[] = [
  'planned',
  'held',
  'queued',
  'sending',
  'accepted',
  'unknown',
];

/** Only of these is absence proven by snapshots; all others wait for a person. */
export const RESENDABLE: readonly Operation[] = ['capture', 'cancel'];

interface Proof {
  operation: Operation;
  /** review only: what was decided; null for every other operation */
  decision: ReviewDecision | null;
  /** the gateway's state before the operation */
  before: GatewayState;
  /** the states that show the operation done: the new one and those that follow it */
  after: readonly GatewayState[];
}

/**
 * What shows each operation done (docs/CONTRACT.md section 5, confirm). Refunds: see `refundAfter`.
 */
export const PROOFS: readonly Proof[] = [
  {
    operation: 'capture',
    decision: null,
    before: 'authorised',
    after: ['captured', 'partially_refunded', 'refunded'],
  },
  { operation: 'cancel', decision: null, before: 'authorised', after: ['cancelled'] },
  {
    operation: 'review',
    decision: 'accept',
    before: 'in_review',
    after: ['authorised', 'captured', 'partially_refunded', 'refunded'],
  },
  {
    operation: 'review',
    decision: 'reject',
    before: 'in_review',
    after: ['cancelled', 'declined'],
  },
];

/** A refund that completes the amount shows as refunded; a smaller one as partially refunded. */
export function refundAfter(completes: boolean): readonly GatewayState[] {
  return completes ? ['refunded'] : ['partially_refunded', 'refunded'];
}

/** Stands in refund_reason. */
export function refundTag(instructionId: bigint): string {
  return `[tieout ${instructionId}]`;
}

interface Moved {
  amount: string;
  /** of a refund, the part that is refunded */
  refundAmount?: string | null;
  currency: string;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
}

/** Its money in words; `written` is what the ledger asks for, where it is read. */
export function instructionMoney(one: Moved, written: string | null = null): string {
  const { amount, refundAmount, currency, isInTotals } = one;
  if (isInTotals) return moneyIn(refundAmount ?? amount, currency);
  const text = written ?? writtenAmount(amount);
  return text === null ? `${UNREADABLE_AMOUNT} (${currency})` : asWritten(text, currency);
}

/** The ledger wrote none, or something else: the page of the instruction shows which. */
export const UNREADABLE_AMOUNT = 'no amount that can be read';

/** What the ledger wrote, of the amount that the plan kept of it; null: it could not be read. */
export function writtenAmount(kept: string): string | null {
  const text = kept.replace(/\.00$/, '');
  return text === '0' ? null : text;
}
