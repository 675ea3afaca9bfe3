// What the gateway said of a payout, in a line.

import { expect, test } from 'vitest';
import { payoutWords } from '../../src/core/instructions/payoutAnswer.js';

const ANSWER = {
  ...{ meaning: 'done' as const, status: 'DONE', fee_amount: '12.5', fee_currency: 'USD' },
  ...{ fee: null, amount_payer_pays: null, amount_beneficiary_receives: null, created_at: null },
  ...{ last_updated_at: null, payer_id: null, short_reference_id: null },
};

test.each([
  ['an amount of money', '12.50', 'DONE (done), fee 12.50 USD'],
  ['digits of which nobody knows the unit', null, 'DONE (done), fee 12.5 USD as it came'],
])('a fee is %s', (_, fee, words) => {
  expect(payoutWords({ ...ANSWER, fee })).toBe(words);
});
