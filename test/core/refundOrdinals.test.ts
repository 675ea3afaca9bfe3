// Numbers that the gateway gave to refunds, and those that none of ours bears.

import { expect, test } from 'vitest';
import { gapWords, refundGaps } from '../../src/core/instructions/refundOrdinals.js';

const refund = (
  gatewayReference: string | null,
  transaction = 'T1',
  operation = 'refund',
  state = 'confirmed',
) => ({
  ...{ operation, transaction, gatewayReference, state },
});

test.each([
  ['none', [], []],
  ['one after the other', [refund('T1-01'), refund('T1-02')], []],
  ['one without a number', [refund(null), refund('T1-01')], []],
  ['a first one that is not ours', [refund('T1-02')], ['T1-01']],
  ['two between', [refund('T1-04'), refund('T1-01')], ['T1-02', 'T1-03']],
  ['of another transaction', [refund('T2-02')], []],
  ['of a capture', [refund('T1-02', 'T1', 'capture')], []],
  ['an id with a dash', [refund('T-1-02', 'T-1')], ['T-1-01']],
  ['three digits', [refund('T1-002')], []],
])('%s', (_, refunds, missing) => {
  expect(refundGaps(refunds).flatMap((gap) => gap.missing)).toEqual(missing);
});

test.each([
  ['nobody recorded it', [refund('T1-02')], [], /^the gateway counts 1 refund.* of ours: T1-01$/],
  ['one of ours bears no number', [refund('T1-02'), refund(null)], [], /^T1-01 .* may be 1 refund/],
  [
    'one of ours may have been made',
    [refund('T1-02'), refund(null, 'T1', 'refund', 'unknown')],
    [],
    /may be 1/,
  ],
  [
    'ours was refused',
    [refund('T1-02'), refund(null, 'T1', 'refund', 'rejected')],
    [],
    /none of ours/,
  ],
  ['a person made it by hand', [refund('T1-02')], ['T1'], /may be 1/],
  ['of another transaction', [refund('T1-02')], ['T2'], /none of ours/],
  [
    'more are missing than ours',
    [refund('T1-03'), refund(null)],
    [],
    /^the gateway counts 1 refund.*: T1-01, T1-02 \(2 numbers, less 1 refund/,
  ],
])('%s', (_, refunds, byHand, words) => {
  expect(refundGaps(refunds, byHand).map(gapWords).join()).toMatch(words);
});
