// The life of an instruction: the data of core/instructions/instruction.ts holds together in itself.
// test/instructions/instructionLife.test.ts holds it against the database.

import { describe, expect, test } from 'vitest';
import {
  INSTRUCTION_STATES,
  instructionMoney,
  LEGAL_MOVES,
  OPEN_STATES,
  PROOFS,
  refundAfter,
} from '../../src/core/instructions/instruction.js';
import { GATEWAY_STATES } from '../../src/core/orders/order.js';

const MAY_HAVE_HAD_AN_EFFECT = ['sending', 'accepted', 'confirmed', 'unknown'] as const;

describe('the life of an instruction', () => {
  test('what may have had an effect never becomes unsent, save by a proof', () => {
    const unsent = ['planned', 'held', 'queued', 'withdrawn'] as const;
    const ways = MAY_HAVE_HAD_AN_EFFECT.flatMap((from) =>
      unsent.filter((to) => LEGAL_MOVES[from].includes(to)).map((to) => `${from} to ${to}`),
    );
    expect(ways).toEqual(['sending to queued', 'unknown to planned']);
  });

  test('only sending leads out of the house, and only queued leads to sending', () => {
    const before = INSTRUCTION_STATES.filter((from) => LEGAL_MOVES[from].includes('sending'));
    const answered = INSTRUCTION_STATES.filter((from) => LEGAL_MOVES[from].includes('accepted'));
    expect({ before, answered }).toEqual({ before: ['queued'], answered: ['sending'] });
  });

  test('every state can be reached, and confirmed and withdrawn are the end', () => {
    const reached = new Set(['planned', ...Object.values(LEGAL_MOVES).flat()]);
    expect([...reached].sort()).toEqual([...INSTRUCTION_STATES].sort());
    const ends = INSTRUCTION_STATES.filter((state) => LEGAL_MOVES[state].length === 0);
    expect(ends).toEqual(['confirmed', 'withdrawn']);
  });

  test('an open instruction is one that is neither settled nor refused', () => {
    const closed = INSTRUCTION_STATES.filter((state) => !OPEN_STATES.includes(state));
    expect(closed).toEqual(['confirmed', 'rejected', 'withdrawn']);
  });
});

describe('the money of an instruction in words', () => {
  const moved = { amount: '150000.00', currency: 'EUR', isInTotals: true };
  test.each([
    ['what moves', moved, null, '150,000.00 EUR'],
    ['a part of it', { ...moved, refundAmount: '12.34', currency: 'KWD' }, null, '12.340 KWD'],
    ['of no known unit', { ...moved, isInTotals: false }, null, '150000 EUR as written'],
    ['as the ledger has it', { ...moved, isInTotals: false }, '0150000', '0150000 EUR as written'],
    [
      'unread',
      { ...moved, amount: '0', isInTotals: false },
      null,
      'no amount that can be read (EUR)',
    ],
  ])('%s', (_what, one, written, words) => {
    expect(instructionMoney(one, written)).toBe(words);
  });
});

describe('what shows an operation done', () => {
  test('never the state from before it', () => {
    for (const proof of PROOFS) expect(proof.after).not.toContain(proof.before);
  });

  test('a cancelled order is no captured one, nor the other way round', () => {
    const capture = PROOFS.find((proof) => proof.operation === 'capture');
    const cancel = PROOFS.find((proof) => proof.operation === 'cancel');
    expect(capture?.after.filter((state) => cancel?.after.includes(state))).toEqual([]);
  });

  test('an accepted review is no rejected one', () => {
    const [accept, reject] = PROOFS.filter((proof) => proof.operation === 'review');
    expect(accept?.after.filter((state) => reject?.after.includes(state))).toEqual([]);
    expect(GATEWAY_STATES).toEqual(expect.arrayContaining([...(accept?.after ?? [])]));
  });

  test('the refund that completes the amount must show as refunded', () => {
    expect(refundAfter(true)).toEqual(['refunded']);
    expect(refundAfter(false)).toEqual(['partially_refunded', 'refunded']);
  });
});
