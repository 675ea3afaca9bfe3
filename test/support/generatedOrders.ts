// Orders made up by fast-check, from domains so small that ids, amounts and times collide: equal
// and contradictory entries, requests that add up to the amount or a cent beyond, instructions of
// every state. Only what the database would refuse is left out.

import fc from 'fast-check';
import { INSTRUCTION_STATES, OPEN_STATES } from '../../src/core/instructions/instruction.js';
import type { Rules } from '../../src/core/orders/facts.js';
import { EXPECTED_STATES, GATEWAY_STATES, OPERATIONS } from '../../src/core/orders/order.js';
import type { StoredEntry, StoredInstruction, StoredOrder } from './orders.js';
import { CODES, HOUR_MS, LIVE_FROM, plainRules, SNAPSHOT_AT } from './orders.js';

const IDS = ['T1', 'T1', 'T1', 'T2'] as const;
const AMOUNTS = [400n, 600n, 1000n, 1001n];
const REFUNDABLE = ['captured', 'partially_refunded', 'refunded'] as const;
const ENDED = ['confirmed', 'rejected', 'withdrawn'] as const;
const ENDED_UNDONE: readonly string[] = ['rejected', 'withdrawn'];
const SECOND = 1000;

const time = fc
  .constantFrom(1, 24, 30, 6 * 24, 9 * 24, 12 * 24)
  .chain((hours) => fc.constantFrom(0, SECOND).map((more) => hours * HOUR_MS + more))
  .map((age) => new Date(SNAPSHOT_AT.getTime() - age));

const ledger = fc.record({
  expected: fc.constantFrom(...EXPECTED_STATES, 'captured' as const, 'captured' as const),
  currency: mostly('EUR', 'USD'),
  amount: mostly(1000n, 990n),
  captureAmount: mostly(null, 400n, 990n),
  transactionId: fc.constantFrom(null, null, null, null, null, 'T1', 'T2', 'T9'),
  reviewDecision: fc.constantFrom(null, 'accept' as const, 'reject' as const),
  placedAt: time,
});

const entry = fc
  .record({
    transactionId: fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...IDS) },
      { weight: 1, arbitrary: fc.constantFrom(null, '') },
    ),
    state: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...GATEWAY_STATES, ...REFUNDABLE) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    hasStatus: mostly(true, false),
    amount: fc.oneof(
      { weight: 20, arbitrary: fc.constant(1000n) },
      { weight: 4, arbitrary: fc.constantFrom(...AMOUNTS) },
      { weight: 1, arbitrary: fc.constantFrom(null, 0n) },
    ),
    currency: mostly<string | null>('EUR', 'USD', null, ''),
    found: mostly(true, false),
    transactionAt: fc.oneof(
      { weight: 9, arbitrary: time },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  })
  .map(({ hasStatus, ...fields }): StoredEntry => {
    const state = hasStatus ? fields.state : null;
    return {
      ...fields,
      state,
      paymentStatus: hasStatus ? (state === null ? '9999' : CODES[state]) : null,
      amountText: fields.amount === null ? 'ten' : null,
      queryResult: fields.found ? '1' : '0',
    };
  });

/** Mostly one or none; else a few, of which some are the same entry again. */
const entries = fc.oneof(
  { weight: 1, arbitrary: fc.constant<StoredEntry[]>([]) },
  { weight: 5, arbitrary: fc.array(entry, { minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.array(entry, { minLength: 2, maxLength: 3 }) },
  { weight: 1, arbitrary: entry.map((one) => [one, { ...one }]) },
);

const refunds = fc.uniqueArray(
  fc.record({
    refundId: fc.constantFrom('R1', 'R2', 'R3'),
    amount: fc.constantFrom(...AMOUNTS),
    requestedAt: fc.oneof(time, fc.constant(LIVE_FROM)),
  }),
  { selector: (refund) => refund.refundId, maxLength: 3 },
);

const instructions = fc
  .array(
    fc.record({
      operation: fc.constantFrom(...OPERATIONS),
      transactionId: fc.constantFrom(...IDS),
      refund: fc.constantFrom('R1', 'R2'),
      state: fc.constantFrom(...INSTRUCTION_STATES, ...ENDED, ...ENDED),
      byPerson: fc.boolean(),
      isReplanned: mostly(false, true),
      amount: mostly(1000n, 400n),
      decision: fc.constantFrom('accept' as const, 'reject' as const),
      isPart: fc.boolean(),
    }),
    { maxLength: 3 },
  )
  .map((list) =>
    list.map(
      ({ refund, byPerson, isReplanned, ...rest }): StoredInstruction => ({
        ...rest,
        isPart: rest.isPart && rest.operation === 'capture',
        isRefused: byPerson && rest.state === 'withdrawn',
        isReplanned: isReplanned && ENDED_UNDONE.includes(rest.state),
        refundId: rest.operation === 'refund' ? refund : null,
        refundAmount: rest.operation === 'refund' ? 400n : null,
      }),
    ),
  )
  .map(possible);

/** What chance alone brings up too seldom: the one thing that is due was refused before. */
const refusedCapture = fc.constantFrom(...IDS).map((transactionId): StoredInstruction[] => [
  {
    operation: 'capture',
    transactionId,
    state: 'rejected',
    isReplanned: false,
    amount: 1000n,
    decision: 'accept',
    isRefused: false,
    refundId: null,
    refundAmount: null,
  },
]);

export const generatedOrder: fc.Arbitrary<StoredOrder> = fc
  .record({
    orderNo: fc.constant<string>(''),
    page: fc.oneof(
      { weight: 20, arbitrary: fc.constant('answered' as const) },
      { weight: 1, arbitrary: fc.constantFrom('failed' as const, 'unasked' as const) },
    ),
    ledger: fc.oneof(
      { weight: 12, arbitrary: ledger },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    entries,
    refunds: fc.oneof(fc.constant<StoredOrder['refunds']>([]), refunds),
    instructions: fc.oneof(fc.constant<StoredInstruction[]>([]), instructions, refusedCapture),
  })
  .map(reachable);

export const generatedRules: fc.Arbitrary<Rules> = fc
  .record({
    tolerance: fc.record({
      below: fc.constantFrom(0n, 10n),
      above: fc.constantFrom(0n, 1n),
      partsPerMillion: fc.constantFrom(0n, 10_000n),
    }),
    partialCapture: fc.boolean(),
    liveFrom: fc.constantFrom(null, LIVE_FROM),
    off: fc.subarray([...OPERATIONS]).map((off) => new Set(off)),
  })
  .map(plainRules);

/** What has a ledger row was asked for; what came unasked has an entry. */
function reachable(order: StoredOrder): StoredOrder {
  if (order.page !== 'unasked') return order;
  if (order.entries.length === 0) return { ...order, page: 'answered' };
  return { ...order, ledger: null };
}

/** The database allows one open instruction an order, and one effect a target. */
function possible(list: readonly StoredInstruction[]): StoredInstruction[] {
  const kept: StoredInstruction[] = [];
  for (const one of list) {
    const isOpen = OPEN_STATES.includes(one.state);
    if (isOpen && kept.some((other) => OPEN_STATES.includes(other.state))) continue;
    if (mayHaveEffect(one) && kept.some((other) => mayHaveEffect(other) && isSame(one, other))) {
      continue;
    }
    kept.push(one);
  }
  return kept;
}

function mayHaveEffect(instruction: StoredInstruction): boolean {
  return instruction.state !== 'rejected' && instruction.state !== 'withdrawn';
}

function isSame(one: StoredInstruction, other: StoredInstruction): boolean {
  if (one.operation !== other.operation) return false;
  return one.operation === 'refund'
    ? one.refundId === other.refundId
    : one.transactionId === other.transactionId;
}

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 24, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}
