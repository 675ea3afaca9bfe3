// What a policy lets go without a person, case by case: core/instructions/policy.ts, which the claim asks. That
// plan.sql says the same of whole sets is in test/plan/plan.test.ts.

import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/core/instructions/policy.js';
import { heldAtClaim, heldBy } from '../../src/core/instructions/policy.js';
import { parseAmount } from '../../src/core/money.js';

const AUTO: Policy = {
  operation: 'capture',
  policy: 'auto',
  above: null,
  maxCount: null,
  maxAmount: null,
};
const TEN = { money: 10_00n, currency: 'EUR', isInTotals: true };

describe('a policy holds', () => {
  test.each<[Partial<Policy>, string | null]>([
    [{}, null],
    [{ policy: 'approve' }, 'approval'],
    [{ policy: 'off' }, 'approval'],
    [{ above: { EUR: '10.00' } }, null],
    [{ above: { EUR: '9.99' } }, 'above_limit'],
    [{ above: { USD: '99.00' } }, 'above_limit'],
    [{ above: {} }, 'above_limit'],
  ])('%j: %s', (change, reason) => {
    expect(heldBy({ ...AUTO, ...change }, TEN)).toBe(reason);
  });

  test.each<[string | null, string, string | null]>([
    ['12.00', 'USD', null],
    ['12.01', 'USD', 'above_limit'],
    [null, 'USD', 'above_limit'],
    ['1.00', 'GBP', 'above_limit'],
    ['10.01', 'EUR', 'above_limit'],
  ])('a payout that takes %s %s from who pays: %s', (amount, currency, reason) => {
    const source = { currency, money: amount === null ? null : parseAmount(amount) };
    const above = { EUR: '10.00', USD: '12.00' };
    expect(heldBy({ ...AUTO, above }, { ...TEN, source })).toBe(reason);
  });

  test('what has no amount in money', () => {
    expect(heldBy(AUTO, { ...TEN, isInTotals: false })).toBe('approval');
  });
});

describe('at the claim', () => {
  test.each<[string, Partial<Policy>, Partial<Policy>, string | null]>([
    ['both let it go', {}, {}, null],
    ['only the run does', { policy: 'approve' }, {}, 'approval'],
    ['only this process does', {}, { policy: 'approve' }, 'approval'],
    ['a limit of the run that is as it was planned', { maxCount: 2 }, { maxCount: 2 }, null],
    ['a lower one', { maxCount: 1 }, { maxCount: 2 }, 'over_limit_of_run'],
    ['a first one', { maxAmount: { EUR: '99.00' } }, {}, 'over_limit_of_run'],
    ['one of another currency', { maxAmount: { USD: '1.00' } }, {}, null],
    ['a higher one', { maxCount: 3 }, { maxCount: 2 }, null],
  ])('%s', (_, own, planned, reason) => {
    expect(heldAtClaim({ ...AUTO, ...own }, { ...AUTO, ...planned }, TEN)).toBe(reason);
  });
});
