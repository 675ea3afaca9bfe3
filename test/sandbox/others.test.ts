// The three operations that the document only names: under the sandbox's own paths or those of a
// profile, as a person calls them and as a night searches for a refund.

import { afterEach, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { CARD, PAYMENT } from '../gateway/samples.js';
import { ACCOUNT as SANDBOX_ACCOUNT, startHere } from './startedSandbox.js';

const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0).reverse()) await end();
});

const ACCOUNT = { ...SANDBOX_ACCOUNT, liveFrom: null };

async function shop(prefix: string, ownPaths: boolean) {
  const profile = sandboxProfile();
  if (!ownPaths) {
    profile.statuses.recurring = { E: 'ended', A: 'active' };
    profile.statuses.risk = { RED: 'reject', GREEN: 'accept' };
    profile.payments.accepted = ['00'];
    profile.transactionDate.timezone = 'Asia/Shanghai';
  }
  for (const name of ['searchRefund', 'cancelSubscription', 'optimisePaymentMethods'] as const) {
    profile.operations[name] = { path: `${prefix}${name}`, body: 'json' };
  }
  const sandbox = await startHere(ownPaths ? {} : { profile });
  close.push(sandbox.close);
  const client = createPaymentClient({ profile, baseUrl: sandbox.baseUrl });
  close.push(client.close);
  return client;
}

it.each([
  ['/v1/', true, { runs: '1', ended: '0', risk: 'ACCEPT', at: '20261120030000' }],
  ['/v1/other/', false, { runs: 'A', ended: 'E', risk: 'GREEN', at: '20261120110000' }],
])(
  'under %s a refund is found, a subscription ends, methods are named',
  async (prefix, own, code) => {
    const client = await shop(prefix, own);
    const subscription = { contract_name: 'club', interval: 'month', interval_count: '1' };
    const paid = await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD, subscription });
    if (paid.kind !== 'accepted') throw new Error(JSON.stringify(paid));
    const { transactionId, orderNo, amount, currency } = paid.answer;
    expect(paid.answer.riskAction).toBe(code.risk);
    const entry = { transactionId: transactionId ?? '', orderNo, currency, amount };
    const ids = { transaction_id: transactionId, order_no: orderNo };
    await client.postOnce(ACCOUNT, client.prepareBatch(ACCOUNT, 'capture', [entry]));
    const refund = { ...entry, refundAmount: '1.50', refundReason: 'late' };
    await client.postOnce(ACCOUNT, client.prepareBatch(ACCOUNT, 'refund', [refund]));
    expect(await client.searchRefund(ACCOUNT, ids)).toMatchObject({
      kind: 'answered',
      json: { return_status: '1', refunds: [{ ...ids, refund_amount: '1.50' }] },
    });
    expect(await client.searchRefund(ACCOUNT, { transaction_id: 'T' })).toMatchObject({
      json: { return_status: '1', refunds: [] },
    });
    expect(await client.other(ACCOUNT, 'optimisePaymentMethods', {})).toMatchObject({
      json: { payment_methods: ['card', 'banktransfer'] },
    });
    const shown = async () => {
      const page = await client.tryQuery(ACCOUNT, { order_no: orderNo });
      expect(String(page.body)).toContain(`"transaction_date":"${code.at}"`);
      return /"recurring_status":"(\w)"/.exec(String(page.body))?.[1];
    };
    expect(await shown()).toBe(code.runs);
    expect(await client.other(ACCOUNT, 'cancelSubscription', ids)).toMatchObject({
      json: { return_status: '1', recurring_status: code.ended },
    });
    expect(await shown()).toBe(code.ended);
    expect(
      await client.other(ACCOUNT, 'cancelSubscription', { ...ids, order_no: 'X' }),
    ).toMatchObject({
      json: { return_status: '0', return_message: 'no such subscription' },
    });
    const stranger = { ...ACCOUNT, signingKey: 'another' };
    expect(await client.searchRefund(stranger, ids)).toMatchObject({
      json: { return_status: '0', return_message: 'wrong signature' },
    });
  },
);
