// The life of a batch as data, and how instructions are cut into batches: one account, one
// operation, at most what the document allows in a request. Partial refunds have batches of their
// own and smaller ones, since an answer that is lost leaves each of them to a person. How many are
// left so is, on average, the share of answers that are lost, whatever the size; the size decides
// how many at a stroke, and two strokes in a row stop the account.

import type { InstructionOperation } from '../orders/order.js';
import type { ReviewDecision } from '../orders/verdict.js';

export const BATCH_STATES = ['queued', 'sending', 'answered', 'unanswered', 'dropped'] as const;
type BatchState = (typeof BATCH_STATES)[number];

/** Every legal move. `sending` to `queued` only where no byte had left. */
export const BATCH_MOVES: Record<BatchState, readonly BatchState[]> = {
  queued: ['sending', 'dropped'],
  sending: ['queued', 'answered', 'unanswered'],
  answered: [],
  unanswered: [],
  dropped: [],
};

/** What becomes of an attempt, written once. */
export const ATTEMPT_OUTCOMES = ['not_sent', 'answered', 'unanswered'] as const;

/** A batch that waits to be sent. */
export interface QueuedBatch {
  batchId: bigint;
  accountId: string;
  operation: InstructionOperation;
}

/** One entry of a batch, as it was planned. */
export interface BatchInstruction {
  instructionId: bigint;
  orderNo: string;
  transactionId: string;
  currency: string;
  amount: string;
  refundId: string | null;
  refundAmount: string | null;
  refundReason: string | null;
  reviewDecision: ReviewDecision | null;
  /** payouts only: what is sent, as it was planned */
  payload: Readonly<Record<string, unknown>> | null;
}

/** Entries in one request (gateway-interface, Limits). */
export const BATCH_ENTRIES_MAX: Record<InstructionOperation, number> = {
  capture: 50,
  cancel: 50,
  refund: 50,
  review: 100,
  payout: 1,
};

/** Entries in one request of partial refunds; ours, see above. */
export const PARTIAL_REFUND_ENTRIES_MAX = 10;
