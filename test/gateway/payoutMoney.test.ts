// What the printed amounts of a payout come to in money: the sum that is asked for, and the fee that
// the answer names.

import { expect, test } from 'vitest';
import {
  feeMoney,
  payoutAmountProblem,
  payoutMoney,
} from '../../src/gateway/batches/payoutMoney.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';

function profileOf(unit: 'major' | 'minor' | null) {
  const { payout, currencies } = sandboxProfile();
  return { payout: { ...payout, unit }, currencies: { ...currencies, KWD: 3 } };
}

test.each([
  [null, 'EUR', '120', '120.00'],
  ['major', 'EUR', '120', '120.00'],
  ['minor', 'EUR', '120', '1.20'],
  ['minor', 'EUR', '5', '0.05'],
  ['minor', 'JPY', '120', '120.00'],
  // A thousandth is no hundredth.
  ['minor', 'KWD', '1205', null],
  ['minor', 'KWD', '10000', '10.00'],
  ['major', 'KWD', '10', '10.00'],
  // Not listed, not known, known no more, and no money.
  ['major', 'BHD', '10', null],
  ['minor', 'BHD', '1000', null],
  ['major', 'CLF', '10', null],
  ['major', 'BTC', '10', null],
  ['major', 'DEM', '10', null],
  ['major', 'XAU', '10', null],
  // A person looks at each of these, and no figure has it.
  [null, 'BTC', '10', '10.00'],
  ['major', 'EUR', '12.50', null],
  ['major', 'EUR', '0', null],
  ['major', 'EUR', '9'.repeat(16), null],
  ['major', 'EUR', undefined, null],
] as const)('an amount of unit %s, %s %s: %s', (unit, currency, printed, money) => {
  expect(payoutMoney(profileOf(unit), currency, printed)).toBe(money);
});

test.each([
  ['major', 'EUR', '0', 'no amount above zero'],
  ['major', 'EUR', '9'.repeat(16), 'payment_amount has more than 15 digits'],
  ['minor', 'KWD', '1205', 'payment_amount: of KWD, too, no less than 0.01 can be kept'],
  [
    'major',
    'BHD',
    '10',
    'payment_currency BHD has 3 decimals: refused until the profile lists it under currencies',
  ],
  [
    'minor',
    'BTC',
    '10',
    'payment_currency BTC is no currency of ISO 4217 and the profile does not list it under currencies',
  ],
  ['major', 'EUR', '10', null],
  [null, 'BTC', '10', null],
] as const)('what is told of unit %s, %s %s: %s', (unit, currency, printed, problem) => {
  expect(payoutAmountProblem(profileOf(unit), currency, printed)).toBe(problem);
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
