// One entry of a batch as the database holds it. Neighbours: payoutsStore.ts and the batches of
// src/send read such rows.

import type { BatchInstruction } from '../core/instructions/batch.js';
import type { ReviewDecision } from '../core/orders/verdict.js';

/** A row of tieout.instructions, as far as it is sent. */
export interface RawInstruction {
  instruction_id: bigint;
  order_no: string;
  transaction_id: string;
  currency: string;
  amount: string;
  refund_id: string | null;
  refund_amount: string | null;
  refund_reason: string | null;
  review_decision: ReviewDecision | null;
  payload: Readonly<Record<string, unknown>> | null;
}

export function batchInstruction(row: RawInstruction): BatchInstruction {
  return {
    instructionId: row.instruction_id,
    orderNo: row.order_no,
    transactionId: row.transaction_id,
    currency: row.currency,
    amount: row.amount,
    refundId: row.refund_id,
    refundAmount: row.refund_amount,
    refundReason: row.refund_reason,
    reviewDecision: row.review_decision,
    payload: row.payload,
  };
}
