// The client against the sandbox: both were written from the same document by different hands.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from '../../src/gateway/account.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import {
  createPaymentClient,
  type PaymentClient,
} from '../../src/gateway/payments/paymentClient.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT as SANDBOX_ACCOUNT, startHere } from '../sandbox/startedSandbox.js';
import { FIXED_INPUTS } from './documentFields.js';
import { CARD, PAYOUT } from './samples.js';

const ACCOUNT: Account = { ...SANDBOX_ACCOUNT, liveFrom: null };
const order = (order_no: string) => ({ order_no, currency: 'EUR', amount: '20.00' });

let sandbox: Sandbox;
let client: PaymentClient;
beforeAll(async () => {
  sandbox = await startHere();
  const profile = sandboxProfile();
  profile.signing.responses = 'enforce';
  client = createPaymentClient({ profile, baseUrl: sandbox.baseUrl });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
});

async function pay(orderNo: string): Promise<string> {
  const outcome = await client.authorise(ACCOUNT, { ...order(orderNo), ...CARD });
  if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
  expect(outcome.answer.card).toBe('411111******1111');
  return outcome.answer.transactionId ?? '';
}

describe('client and sandbox', () => {
  it('agree about a direct payment, its capture and its refund', async () => {
    const transactionId = await pay('TRY-1');
    const entry = { transactionId, orderNo: 'TRY-1', currency: 'EUR', amount: '20.00' };
    const refund = { ...entry, refundAmount: '5.00', refundReason: 'late' };
    for (const [operation, sent] of [
      ['capture', entry],
      ['refund', refund],
    ] as const) {
      const posted = await client.postOnce(
        ACCOUNT,
        client.prepareBatch(ACCOUNT, operation, [sent]),
      );
      if (posted.kind !== 'answered') throw new Error(posted.reason);
      const reading = client.readBatchAnswer(ACCOUNT, operation, [sent], posted);
      expect(reading).toMatchObject({ trusted: true, entries: [{ kind: 'accepted' }] });
    }
    expect(await client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['TRY-1'] })).toMatchObject({
      kind: 'page',
      entries: [{ orderNo: 'TRY-1', transactionId, paymentStatus: '6000' }],
    });
  });

  it('agree about a payment by another method', async () => {
    const payment = { ...order('TRY-2'), payment_method: 'bank-transfer' };
    const outcome = await client.authoriseApm(ACCOUNT, payment);
    expect(outcome).toMatchObject({ kind: 'redirect', answer: { orderNo: 'TRY-2' } });
  });

  it('agree about the hosted page', async () => {
    const outcome = await client.checkout(ACCOUNT, order('TRY-3'));
    if (outcome.kind !== 'page') throw new Error(JSON.stringify(outcome));
    expect([...outcome.form.inputs.keys()]).toEqual(expect.arrayContaining(FIXED_INPUTS));
  });

  it('agree about a payout', async () => {
    expect(await client.payout(ACCOUNT, PAYOUT)).toMatchObject({
      kind: 'accepted',
      record: { status: 'COMPLETED' },
    });
  });

  it('agree about a wrong key', async () => {
    const wrongKey = { ...ACCOUNT, signingKey: 'wrong' };
    const payment = { ...order('TRY-4'), ...CARD };
    expect((await client.authorise(wrongKey, payment)).kind).toBe('unknown');
    expect((await client.queryPage(wrongKey, { kind: 'orders', orderNos: ['TRY-4'] })).kind).toBe(
      'failed',
    );
  });
});
