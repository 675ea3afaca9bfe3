// The facts about the orders of a batch just before it is sent: the ledger as it stands now, the
// newest complete snapshot, the refund requests and what we ourselves did. They go to
// core/orders/decideVerdict.ts, which says whether each instruction is still what is needed.

import { type LedgerCurrencies, ledgerCurrencies } from '../../core/currency.js';
import type { BatchInstruction } from '../../core/instructions/batch.js';
import { type ApprovalLapse, OUTLIVES_APPROVAL } from '../../core/instructions/decision.js';
import type { HoldReason } from '../../core/instructions/holdReasons.js';
import { type OnRecord, type Policy, stillHeld } from '../../core/instructions/policy.js';
import { parseAmount } from '../../core/money.js';
import type {
  EntryFacts,
  InstructionFacts,
  LedgerFacts,
  OrderFacts,
  RefundFacts,
} from '../../core/orders/facts.js';
import type { ExpectedState, GatewayState, Operation } from '../../core/orders/order.js';
import type { ReviewDecision } from '../../core/orders/verdict.js';
import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { RawInstruction } from '../../instructions/batchRow.js';
import { batchInstruction } from '../../instructions/batchRow.js';

export interface FreshFacts extends BatchInstruction {
  /** why its approval no longer holds; null: it does, or none is needed */
  lapse: ApprovalLapse | null;
  isApproved: boolean;
  /** why it waited as it was approved */
  approvedFor: string | null;
  /** a refund of money that was taken back already, or may be */
  hasDispute: boolean;
  /** the fraud check of the transaction says REJECT */
  isFraud: boolean;
  /** why it may be a movement that was made already: the first that no approval was given for */
  doubled: HoldReason | null;
  /** why it waits by what is on record of it, where no approval was given in sight of that */
  stillHeld: HoldReason | null;
  /** null: no complete snapshot that is young enough */
  snapshotAt: Date | null;
  asOf: Date | null;
  dateEnd: Date | null;
  facts: OrderFacts;
}

/** Facts for each queued instruction of a batch; looks older than `maxAgeMinutes` do not count. */
export async function batchFacts(
  db: Db,
  batchId: bigint,
  maxAgeMinutes: number,
  currencies: LedgerCurrencies = ledgerCurrencies({}),
  profileSha256: string | null = null,
): Promise<FreshFacts[]> {
  // Planning it costs as much as running it, and it runs for every batch: hence the name.
  const { rows } = await db.query<RawFacts>(
    statement('send/batches/batchFacts'),
    [batchId, maxAgeMinutes, currencies.usable, JSON.stringify(currencies.coarse), profileSha256],
    'batchFacts',
  );
  return rows.map((row) => ({
    ...batchInstruction(row),
    lapse: row.lapse,
    isApproved: row.is_approved,
    approvedFor: row.approved_for,
    hasDispute: row.has_dispute,
    isFraud: row.is_fraud,
    doubled: row.doubled,
    stillHeld: stillHeld(row),
    snapshotAt: row.snapshot_at,
    asOf: row.as_of,
    dateEnd: row.date_end,
    facts: orderFacts(row, distinct(row.entries)),
  }));
}

/** A decision on which it rests that an instruction goes out. */
interface DecisionBehind {
  instructionId: bigint;
  decisionId: bigint;
  /** what waits again without it: the reason that it was approved for; null: all of it */
  approvedFor: HoldReason | null;
}

/** Of each instruction of the batch, by whose decisions it goes out. */
export async function decisionsBehind(db: Db, batchId: bigint): Promise<DecisionBehind[]> {
  const { rows } = await db.query<DecisionBehind>(
    statement('send/batches/decisionsBehind'),
    [batchId, OUTLIVES_APPROVAL],
    'decisionsBehind',
  );
  return rows;
}

/** Of the batch what waited past the limits of one run, and is let go past them. */
export async function pastLimit(
  db: Db,
  batchId: bigint,
  runId: bigint,
  { operation, maxCount, maxAmount }: Policy,
): Promise<bigint[]> {
  const { rows } = await db.query<{ instructionId: bigint }>(
    statement('send/batches/pastLimit'),
    [batchId, runId, operation, maxCount, JSON.stringify(maxAmount ?? {})],
    'pastLimit',
  );
  return rows.map(({ instructionId }) => instructionId);
}

function orderFacts(row: RawFacts, entries: readonly RawEntry[]): OrderFacts {
  return {
    ledger: row.ledger ? ledgerFacts(row.ledger) : null,
    hasSnapshot: row.snapshot_at !== null,
    entries: entries.map(entryFacts),
    contradictory: isContradictory(entries),
    refunds: row.refunds.map(refundFacts),
    instructions: row.instructions.map(instructionFacts),
  };
}

/** An entry that came twice, equal in all that was asked for, counts once. */
function distinct(entries: readonly RawEntry[]): readonly RawEntry[] {
  if (entries.length < 2) return entries;
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}

interface RawLedger {
  problem: string | null;
  expected: ExpectedState;
  currency: string;
  amount: string;
  capture_amount: string | null;
  transaction_id: string | null;
  review_decision: ReviewDecision | null;
  placed_at: string;
}

interface RawEntry {
  transaction_id: string | null;
  currency: string | null;
  amount: string | null;
  payment_status: string | null;
  state: GatewayState | null;
  found: boolean;
  transaction_at: string | null;
}

interface RawFacts extends RawInstruction, OnRecord {
  lapse: ApprovalLapse | null;
  is_approved: boolean;
  approved_for: string | null;
  has_dispute: boolean;
  is_fraud: boolean;
  doubled: HoldReason | null;
  snapshot_at: Date | null;
  as_of: Date | null;
  date_end: Date | null;
  ledger: RawLedger | null;
  entries: RawEntry[];
  refunds: {
    refund_id: string;
    amount: string;
    requested_at: string;
    is_paid_elsewhere: boolean;
  }[];
  instructions: {
    operation: Operation;
    transaction_id: string;
    currency: string;
    amount: string;
    refund_id: string | null;
    refund_amount: string | null;
    review_decision: ReviewDecision | null;
    state: string;
    is_refused: boolean;
    is_replanned: boolean;
    is_part: boolean;
  }[];
}

function ledgerFacts(row: RawLedger): LedgerFacts {
  // Of a row that cannot be used nothing but that is read: its amounts may not be ones.
  const isUsable = row.problem === null;
  return {
    isUsable,
    expected: row.expected,
    currency: row.currency,
    amount: isUsable ? ledgerAmount(row.amount) : 0n,
    captureAmount:
      isUsable && row.capture_amount !== null ? ledgerAmount(row.capture_amount) : null,
    transactionId: row.transaction_id,
    reviewDecision: row.review_decision,
    placedAt: new Date(row.placed_at),
  };
}

function entryFacts(row: RawEntry): EntryFacts {
  return {
    transactionId: row.transaction_id,
    currency: row.currency,
    amount: row.amount === null ? null : amountOf(row.amount),
    paymentStatus: row.payment_status,
    state: row.state,
    found: row.found,
    transactionAt: row.transaction_at === null ? null : new Date(row.transaction_at),
  };
}

function refundFacts(row: RawFacts['refunds'][number]): RefundFacts {
  return {
    refundId: row.refund_id,
    amount: amountOf(row.amount),
    requestedAt: new Date(row.requested_at),
    isPaidElsewhere: row.is_paid_elsewhere,
  };
}

function instructionFacts(row: RawFacts['instructions'][number]): InstructionFacts {
  return {
    operation: row.operation,
    transactionId: row.transaction_id,
    currency: row.currency,
    amount: amountOf(row.amount),
    refundId: row.refund_id,
    refundAmount: row.refund_amount === null ? null : amountOf(row.refund_amount),
    reviewDecision: row.review_decision,
    state: row.state,
    isRefused: row.is_refused,
    isReplanned: row.is_replanned,
    isPart: row.is_part,
  };
}

/** The same transaction with other content, of entries that are all distinct. */
function isContradictory(entries: readonly RawEntry[]): boolean {
  return new Set(entries.map((entry) => entry.transaction_id ?? '')).size < entries.length;
}

/** A view may hold 12 or 12.5 or 12.500: the same amounts, checked before. */
function ledgerAmount(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return amountOf(`${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`);
}

function amountOf(text: string): bigint {
  const amount = parseAmount(text);
  if (amount === null) throw new Error('the database holds an amount that is not one');
  return amount;
}
