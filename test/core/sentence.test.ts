// Every break can be said in a sentence that names both sides.

import { describe, expect, test } from 'vitest';
import { breakDifference, breakSentence, sideText } from '../../src/core/sentence.js';
import { BREAK_KINDS } from '../../src/core/verdict.js';

const EXPECTED = { state: 'captured', currency: 'EUR', amount: '10.00' };
const ACTUAL = {
  state: 'authorised',
  code: '2000',
  currency: 'USD',
  amount: '9.00',
  transaction: 'T1',
};

describe('a break in words', () => {
  test.each(BREAK_KINDS.map((kind) => [kind]))('%s', (kind) => {
    const full = breakSentence(kind, EXPECTED, ACTUAL);
    const empty = breakSentence(kind, {}, {});
    expect(full.length).toBeGreaterThan(20);
    expect(full).not.toMatch(/undefined|null/);
    expect(empty).not.toMatch(/undefined|null/);
  });

  test.each([
    [{}, 'nothing'],
    [{ amount: '10.00', currency: 'EUR' }, '10.00 EUR'],
    [{ state: 'captured', amount: '10.00', currency: 'EUR' }, 'captured 10.00 EUR'],
    [{ code: '7777', amount: 'ten' }, 'code 7777 ten'],
  ])('%j reads %s', (side, text) => {
    expect(sideText(side)).toBe(text);
  });
});

describe('the difference in money', () => {
  const tenEuro = { currency: 'EUR', amount: '10.00' };
  test.each([
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: '9.99' }, '-0.01'],
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: '12.00' }, '2.00'],
    ['amount_mismatch', tenEuro, { currency: 'USD', amount: '12.00' }, null],
    ['missing_at_gateway', tenEuro, {}, '-10.00'],
    ['missing_in_ledger', {}, tenEuro, '10.00'],
    ['state_mismatch', tenEuro, { currency: 'EUR', amount: '9.00' }, null],
    ['amount_mismatch', tenEuro, { currency: 'EUR', amount: 'ten' }, null],
  ] as const)('%s of %j and %j is %s', (kind, expected, actual, difference) => {
    expect(breakDifference(kind, expected, actual)).toBe(difference);
  });
});
