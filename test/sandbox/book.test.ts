// The book of the sandbox: money that it holds, and that it never gives back more than it took.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAmount } from '../../src/core/money.js';
import { OPERATIONS } from '../../src/core/orders/order.js';
import { authorise, repeat } from '../../src/sandbox/book/arrivals.js';
import {
  allOrders,
  type Book,
  createBook,
  draftOf,
  type Effect,
  move,
  settle,
} from '../../src/sandbox/book/book.js';
import { planSeed } from '../../src/sandbox/seed/seedPlan.js';
import { SETTINGS } from './startedSandbox.js';

const ACCOUNT_ID = 'A1001';

const action = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  order: fc.integer({ min: 0, max: 2 }),
  amount: fc.constantFrom('10.00', '10.00', '7.50', '0.00', '10.01', 'x'),
  back: fc.constantFrom('0.00', '0.01', '2.50', '2.51', '5.00', '7.50', '10.00', '10.01'),
  decision: fc.constantFrom('accept' as const, 'reject' as const, null),
  settled: fc.boolean(),
});

function paidBook(): { book: Book; effects: Effect[] } {
  const book = createBook(planSeed({ ...SETTINGS, orders: 0 }));
  const effects = [0, 1, 2].map((order) => ({
    operation: 'authorise' as const,
    account_id: ACCOUNT_ID,
    order_no: `X-${order}`,
    transaction_id: `T${order}`,
    currency: 'EUR',
    amount: '10.00',
    authorised_at: 0,
  }));
  for (const effect of effects) {
    const draft = draftOf(book);
    authorise(draft, effect);
    settle(draft);
  }
  return { book, effects };
}

describe('the book', () => {
  it('never gives back more than it took, and effects alone make the same book', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const { book, effects } = paidBook();
        for (const { operation, order, amount, back, decision, settled } of actions) {
          const draft = draftOf(book);
          const names = { transaction_id: `T${order}`, order_no: `X-${order}`, currency: 'EUR' };
          const entry = { ...names, amount, refund_amount: back };
          const moved = move(draft, operation, ACCOUNT_ID, entry, decision);
          if (moved.kind === 'refused') expect(draft.changed.size).toBe(0);
          if (moved.kind === 'refused' || !settled) continue;
          settle(draft);
          effects.push(moved.effect);
        }
        for (const order of ['X-0', 'X-1', 'X-2']) conserve(effects, order);
        expect([...allOrders(replayed(effects))]).toEqual([...allOrders(book)]);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing until a draft is settled', () => {
    const { book } = paidBook();
    const before = [...allOrders(book)];
    const entry = { transaction_id: 'T0', order_no: 'X-0', currency: 'EUR', amount: '10.00' };
    expect(move(draftOf(book), 'capture', ACCOUNT_ID, entry, null).kind).toBe('done');
    expect([...allOrders(book)]).toEqual(before);
  });
});

function conserve(effects: readonly Effect[], orderNo: string): void {
  const own = effects.filter((effect) => effect.order_no === orderNo);
  const captures = own.filter(({ operation }) => operation === 'capture');
  const cancels = own.filter(({ operation }) => operation === 'cancel');
  expect(captures.length + cancels.length).toBeLessThanOrEqual(1);
  const sum = (texts: readonly (string | undefined)[]): bigint =>
    texts.reduce((total, text) => total + (parseAmount(text ?? '') ?? 0n), 0n);
  const taken = sum(captures.map(({ amount }) => amount));
  const given = sum(own.map(({ refund_amount }) => refund_amount ?? '0.00'));
  expect(given <= taken && taken <= 1_000n).toBe(true);
}

function replayed(effects: readonly Effect[]): Book {
  const book = createBook(planSeed({ ...SETTINGS, orders: 0 }));
  for (const effect of effects) {
    const draft = draftOf(book);
    expect(repeat(draft, effect)).toBe(true);
    settle(draft);
  }
  return book;
}
