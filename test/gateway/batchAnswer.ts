// Batches and the answers an honest gateway would give to them, for the tests to spoil.

import type { Operation } from '../../src/core/orders/order.js';
import type { BatchEntry } from '../../src/gateway/batches/prepareBatch.js';
import { BATCH_SHAPES } from '../../src/gateway/document/messages.js';
import { type Profile, sandboxProfile } from '../../src/gateway/document/profile.js';
import type { RawAnswer } from '../../src/gateway/transport/transport.js';
import { responseSignatureOf } from '../../src/gateway/wire/sign.js';
import { ACCOUNT } from './rawServer.js';

export type Json = Record<string, unknown>;

export function batchOf(operation: Operation, count: number): BatchEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    transactionId: `T${index}`,
    orderNo: `SO-${index}`,
    currency: 'EUR',
    amount: `${index + 10}.00`,
    ...(operation === 'refund' ? { refundAmount: `${index + 1}.50`, refundReason: 'late' } : {}),
    ...(operation === 'review' ? { decision: 'accept' as const } : {}),
  }));
}

/** The entry of an answer in which all went well. */
export function fineEntry(operation: Operation, entry: BatchEntry): Json {
  const common = {
    transaction_id: entry.transactionId,
    order_no: entry.orderNo,
    currency: entry.currency,
    amount: entry.amount,
    [BATCH_SHAPES[operation].status]: '1',
  };
  if (operation === 'review') return { ...common, review_flag: '1', error_message: '' };
  if (operation !== 'refund') return { ...common, error_message: '' };
  return {
    ...common,
    refund_amount: entry.refundAmount,
    refund_reason: entry.refundReason,
    refund_message: 'V0000:OK',
    refund_reference: '',
    refund_reference_id: `${entry.transactionId}-01`,
  };
}

export function fineAnswer(operation: Operation, sent: BatchEntry[]): Json {
  return {
    merchant_id: ACCOUNT.merchantId,
    account_id: ACCOUNT.accountId,
    return_status: '1',
    return_message: 'OK',
    [BATCH_SHAPES[operation].array]: sent.map((entry) => fineEntry(operation, entry)),
  };
}

export function signed(operation: Operation, answer: Json, profile = sandboxProfile()): Json {
  const { signing } = profile;
  const encryption_data = responseSignatureOf(signing, operation, ACCOUNT.signingKey, answer);
  return { ...answer, encryption_data };
}

export function rawAnswer(
  body: string | Buffer | Json,
  change: Partial<RawAnswer> = {},
): RawAnswer {
  const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = Buffer.from(isBytes ? body : JSON.stringify(body));
  return {
    status: 200,
    contentType: 'application/json',
    contentEncoding: null,
    body: bytes,
    ...change,
  };
}

export function profileWith(signing: Partial<Profile['signing']>): Profile {
  const profile = sandboxProfile();
  return { ...profile, signing: { ...profile.signing, ...signing } };
}
