// What the gateway said of a payout, in a line.

import { expect, test } from 'vitest';
import { payoutWords } from '../../src/core/instructions/payoutAnswer.js';

const ANSWER = {
  ...{ meaning: 'done' as const, status: 'DONE', fee_amount: '12.5', fee_currency: 'USD' },
  ...{ fee: null, amount_payer_pays: null, amount_beneficiary_receives: null, created_at: null },
  ...{ last_updated_at: null, payer_id: null, short_reference_id: null },
};

test.each([
  ['an amount of money', '12.50', 'DONE (done), fee 12.50 USD', 'USD'],
  ['an amount of more decimals', '12.50', 'DONE (done), fee 12.500 KWD', 'KWD'],
  ['digits of which nobody knows the unit', null, 'DONE (done), fee 12.5 USD as it came', 'USD'],
])('a fee is %s', (_, fee, words, currency) => {
  expect(payoutWords({ ...ANSWER, fee, fee_currency: currency })).toBe(words);
});
