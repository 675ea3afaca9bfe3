// What is known of one order and by which rules it is judged: the facts of decideVerdict.ts, in the
// shapes in which send/batches/batchFactsStore.ts and the tests give them. Pure: types alone.

import type { Hundredths } from '../money.js';
import type { ExpectedState, GatewayState, Operation } from './order.js';
import type { ReviewDecision } from './verdict.js';

export interface LedgerFacts {
  /** false: a field lacks the shape that docs/CONTRACT.md section 4 gives it; absent is true */
  isUsable?: boolean;
  expected: ExpectedState;
  currency: string;
  amount: Hundredths;
  captureAmount: Hundredths | null;
  transactionId: string | null;
  reviewDecision: ReviewDecision | null;
  placedAt: Date;
}

/** One entry of the gateway; null stands for a field that lacks the printed shape. */
export interface EntryFacts {
  transactionId: string | null;
  currency: string | null;
  amount: Hundredths | null;
  paymentStatus: string | null;
  /** null: the code has no meaning in the profile */
  state: GatewayState | null;
  /** query_result is one of profile.query.found */
  found: boolean;
  transactionAt: Date | null;
}

export interface RefundFacts {
  refundId: string;
  amount: Hundredths;
  requestedAt: Date;
  /** we paid it, for another order; absent is false */
  isPaidElsewhere?: boolean;
}

export interface InstructionFacts {
  operation: Operation;
  transactionId: string;
  currency: string;
  amount: Hundredths;
  refundId: string | null;
  refundAmount: Hundredths | null;
  reviewDecision: ReviewDecision | null;
  state: string;
  /** withdrawn, and by a person */
  isRefused: boolean;
  /** a person wants it planned again: it no longer stands in the way */
  isReplanned: boolean;
  /** a capture of less than was authorised; absent is false */
  isPart?: boolean;
}

export interface OrderFacts {
  /** null: an entry without a ledger row */
  ledger: LedgerFacts | null;
  /** the order's page was answered completely */
  hasSnapshot: boolean;
  /** false: its number cannot be asked for, which is what is wrong with it; absent is true */
  isAskable?: boolean;
  /** distinct entries; the same transaction with other content makes `contradictory` */
  entries: readonly EntryFacts[];
  contradictory: boolean;
  refunds: readonly RefundFacts[];
  /** oldest first: a later one supersedes an earlier one for the same need */
  instructions: readonly InstructionFacts[];
}

export interface Rules {
  asOf: Date;
  dateEnd: Date;
  graceMs: number;
  staleMs: number;
  /** the percentage in millionths of the amount: 0.5 % is 5000n */
  tolerance: { below: Hundredths; above: Hundredths; partsPerMillion: bigint };
  partialCapture: boolean;
  liveFrom: Date | null;
  off: ReadonlySet<Operation>;
}
