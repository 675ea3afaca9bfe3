// What the printed amounts of a payout come to in money: the sum that is asked for, and the fee that
// the answer names.

import { expect, test } from 'vitest';
import { feeMoney, payoutMoney } from '../../src/gateway/batches/payoutMoney.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';

function profileOf(unit: 'major' | 'minor' | null) {
  const { payout, currencies } = sandboxProfile();
  return { payout: { ...payout, unit }, currencies };
}

test.each([
  [null, 'EUR', '120', '120.00'],
  ['major', 'EUR', '120', '120.00'],
  ['minor', 'EUR', '120', '1.20'],
  ['minor', 'EUR', '5', '0.05'],
  ['minor', 'JPY', '120', '120.00'],
  // A thousandth is no hundredth.
  ['minor', 'KWD', '1205', null],
  ['major', 'EUR', '12.50', null],
  ['major', 'EUR', '0', null],
  ['major', 'EUR', '9'.repeat(16), null],
  ['major', 'EUR', undefined, null],
] as const)('an amount of unit %s, %s %s: %s', (unit, currency, printed, money) => {
  expect(payoutMoney(profileOf(unit), currency, printed)).toBe(money);
});

test.each([
  ['major', 'EUR', '12.5', '12.50'],
  ['major', 'EUR', '0', '0.00'],
  ['major', 'EUR', '12.500', '12.50'],
  ['minor', 'EUR', '125', '1.25'],
  ['minor', 'JPY', '125', '125.00'],
  // Half a cent is no money.
  ['major', 'EUR', '12.505', null],
  ['minor', 'EUR', '12.5', null],
  ['minor', 'KWD', '1205', null],
  ['major', 'EUR', '-1.00', null],
  ['major', null, '1.00', null],
  ['major', 'EUR', null, null],
  [null, 'EUR', '12.50', null],
] as const)('a fee of unit %s, %s %s: %s', (unit, fee_currency, fee_amount, money) => {
  expect(feeMoney(profileOf(unit), { fee_amount, fee_currency })).toBe(money);
});
