// Numbers that the gateway gave to refunds, and those that none of ours bears.

import { expect, test } from 'vitest';
import { refundGaps } from '../../src/core/instructions/refundOrdinals.js';

const refund = (gatewayReference: string | null, transaction = 'T1', operation = 'refund') => ({
  ...{ operation, transaction, gatewayReference },
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
