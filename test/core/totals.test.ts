// Money that was confirmed and is in no total, or the other way round, is named.

import { expect, test } from 'vitest';
import { untoldMoney } from '../../src/core/orders/totals.js';

const NONE = {
  captured: '0.00',
  cancelled: '0.00',
  refunded: '0.00',
  net: '0.00',
  unknown: '0.00',
};
const told = [{ accountId: 'A1', totals: [{ currency: 'EUR', ...NONE, captured: '600.00' }] }];
const captured = { accountId: 'A1', currency: 'EUR', operation: 'capture', amount: '600.00' };

test('totals that are what was confirmed have nothing to tell', () => {
  expect(untoldMoney([captured], told)).toBeNull();
  expect(untoldMoney([], [{ accountId: 'A1', totals: [{ currency: 'EUR', ...NONE }] }])).toBeNull();
});

test.each([
  ['a total without the money', [], /600.00 EUR by capture, confirmed were 0.00/],
  ['another amount', [{ ...captured, amount: '600.01' }], /confirmed were 600.01/],
  ['money of an account without totals', [captured, { ...captured, accountId: 'A2' }], /A2/],
  ['money in another currency', [captured, { ...captured, currency: 'USD' }], /0.00 USD/],
  ['another operation', [captured, { ...captured, operation: 'refund' }], /by refund/],
])('%s does not tie', (_what, confirmed, words) => {
  expect(untoldMoney(confirmed, told)).toMatch(words);
});
