// Every reader of the gateway's answers under spoilt bytes: it never throws, never hangs, and never
// believes what does not stand there. 20,000 spoilt answers over all readers; TIEOUT_MUTATIONS
// sets another number.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/core/orders/order.js';
import { prepareBatch, readBatchAnswer } from '../../src/gateway/batches/prepareBatch.js';
import { preparePayout, readPayoutAnswer } from '../../src/gateway/batches/preparePayout.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { readHiddenForm } from '../../src/gateway/payments/hiddenForm.js';
import { readApmAnswer, readDirectAnswer } from '../../src/gateway/payments/paymentAnswer.js';
import { parsePaymentResponse } from '../../src/gateway/payments/paymentResponse.js';
import {
  prepareApm,
  prepareCheckout,
  prepareDirect,
  readCheckoutAnswer,
} from '../../src/gateway/payments/payments.js';
import { decodeQueryAnswer } from '../../src/gateway/query/decode.js';
import { readQueryRecords } from '../../src/gateway/query/queryRecord.js';
import { type Json, rawAnswer } from './batchAnswer.js';
import { mutated } from './mutate.js';
import { ACCOUNT } from './rawServer.js';
import {
  APM,
  APM_XML,
  batchJson,
  CARD,
  CHECKOUT_HTML,
  PAYMENT,
  PAYMENT_ELEMENTS,
  PAYOUT,
  paymentXml,
  payoutJson,
  QUERY_JSON,
} from './samples.js';

const READERS = 11;
const numRuns = Math.ceil(Number(process.env.TIEOUT_MUTATIONS ?? '20000') / READERS);
const TIMEOUT_MS = 60_000 + numRuns * 20;

const PROFILE = sandboxProfile();
PROFILE.signing.responses = 'off';

function holds(samples: readonly string[], check: (bytes: Buffer) => void): void {
  fc.assert(fc.property(mutated(samples), check), { numRuns });
}

const objectIn = (bytes: Buffer): Json => JSON.parse(bytes.toString('utf8')) as Json;

/** What must still stand in the bytes of an XML answer that is believed. */
function standsThere(bytes: Buffer, ...texts: string[]): void {
  const given = bytes.toString('utf8');
  for (const text of texts) expect(given).toContain(text);
}

describe('spoilt answers', { timeout: TIMEOUT_MS }, () => {
  it('of a direct payment are accepted only where all that counts still stands', () => {
    const sent = prepareDirect(PROFILE, ACCOUNT, { ...PAYMENT, ...CARD });
    const refused = paymentXml({ result_info: '0101:Declined', order_status: '0' });
    holds([paymentXml(), refused], (bytes) => {
      const outcome = readDirectAnswer(PROFILE, ACCOUNT, sent, rawAnswer(bytes));
      expect(['accepted', 'not_accepted', 'unknown']).toContain(outcome.kind);
      if (outcome.kind !== 'accepted') return;
      expect(outcome.answer).toMatchObject({
        merchantId: 'M1',
        accountId: 'A1',
        orderNo: 'SO-1',
        amount: '10.00',
        currency: 'EUR',
        orderStatus: '1',
        resultCode: '0000',
      });
      standsThere(bytes, '<respon', '</respon', 'SO-1', '10.00', 'EUR', 'M1', 'A1', '0000:');
    });
  });

  it('of an APM payment lead only to a web address', () => {
    const sent = prepareApm(PROFILE, ACCOUNT, APM);
    holds([APM_XML], (bytes) => {
      const outcome = readApmAnswer(PROFILE, sent, rawAnswer(bytes));
      expect(['redirect', 'not_accepted', 'unknown']).toContain(outcome.kind);
      if (outcome.kind !== 'redirect') return;
      expect(outcome.issuerUrl).toMatch(/^https?:/i);
      standsThere(bytes, 'SO-2', '25.50', 'BRL', 'M1', 'A1');
    });
  });

  it('of a checkout are a page only where the form is whole', () => {
    const sent = prepareCheckout(PROFILE, ACCOUNT, PAYMENT);
    holds([CHECKOUT_HTML], (bytes) => {
      const outcome = readCheckoutAnswer(PROFILE, sent, rawAnswer(bytes));
      expect(['page', 'unknown']).toContain(outcome.kind);
      if (outcome.kind !== 'page') return;
      expect(outcome.form.inputs.get('order_no') ?? 'SO-1').toBe('SO-1');
      standsThere(bytes, 'form');
    });
  });

  it('of a payout are accepted only where the JSON says so', () => {
    const sent = preparePayout(PROFILE, ACCOUNT, PAYOUT);
    const failed = payoutJson({ status: 'FAILED', failure_type: 'BANK' });
    const pending = payoutJson({ status: 'PENDING' });
    holds([payoutJson(), failed, pending], (bytes) => {
      const outcome = readPayoutAnswer(PROFILE, sent, rawAnswer(bytes));
      expect(['accepted', 'rejected', 'unknown']).toContain(outcome.kind);
      if (outcome.kind === 'unknown') return;
      const said = objectIn(bytes);
      expect(said).toMatchObject({ merchant_id: 'M1', account_id: 'A1', payment_currency: 'USD' });
      expect(said.request_id).toBe(PAYOUT.request_id);
      expect(String(said.payment_amount)).toBe(PAYOUT.payment_amount);
      const hasFailed = Boolean(said.failure_type) || Boolean(said.failure_reason);
      expect([said.status === 'COMPLETED', hasFailed]).toEqual(
        outcome.kind === 'accepted' ? [true, false] : [false, true],
      );
    });
  });

  it.each(OPERATIONS)('of a %s are accepted only where the JSON says so', (operation) => {
    const entry = {
      transactionId: 'T1',
      orderNo: 'SO-1',
      currency: 'EUR',
      amount: '10.00',
      ...(operation === 'refund' ? { refundAmount: '4.00', refundReason: 'late' } : {}),
      ...(operation === 'review' ? { decision: 'accept' as const } : {}),
    };
    prepareBatch(PROFILE, ACCOUNT, operation, [entry]);
    const status = `${operation}_status`;
    const wrong = batchJson(operation, { [status]: '0', error_message: 'no' });
    holds([batchJson(operation), wrong], (bytes) => {
      const reading = readBatchAnswer(PROFILE, ACCOUNT, operation, [entry], rawAnswer(bytes));
      const [outcome] = reading.entries;
      expect(reading.entries).toHaveLength(1);
      if (outcome?.kind !== 'accepted') return;
      const said = objectIn(bytes);
      expect(said).toMatchObject({ merchant_id: 'M1', account_id: 'A1', return_status: '1' });
      const list = said[`${operation}_orders`] as Json[];
      const [own] = list.filter((one) => one.order_no === 'SO-1' && one.transaction_id === 'T1');
      expect(list).toHaveLength(1);
      expect(own).toMatchObject({ amount: '10.00', currency: 'EUR', [status]: '1' });
      if (operation === 'refund') expect(own?.refund_message).toMatch(/^V0000:/);
      else expect(own?.error_message).toBe('');
    });
  });

  it('of a query are a page only where the JSON is one', () => {
    holds([QUERY_JSON], (bytes) => {
      const page = decodeQueryAnswer(ACCOUNT, rawAnswer(bytes));
      readQueryRecords(PROFILE, bytes);
      if (page.kind === 'failed') return;
      const said = objectIn(bytes);
      expect(said).toMatchObject({ merchant_id: 'M1', account_id: 'A1', return_status: '1' });
      expect(page.entries.map(({ orderNo }) => orderNo)).toEqual(
        (said.orders_list as Json[]).map((entry) => entry.order_no),
      );
    });
  });

  it('that were stored are taken only with clean ids', () => {
    holds([paymentXml(), APM_XML], (bytes) => {
      const reading = parsePaymentResponse(bytes);
      expect(['response', 'refused']).toContain(reading.kind);
    });
  });

  it('are never a form that leads to another scheme', () => {
    holds([CHECKOUT_HTML], (bytes) => {
      const form = readHiddenForm(bytes.toString('utf8'));
      if (form.kind === 'form') expect(form.action).not.toMatch(/^\s*(javascript|data|file):/i);
    });
  });
});

describe('an answer of our own order in which one value differs', () => {
  const critical = ['merchant_id', 'account_id', 'order_no', 'amount', 'currency', 'order_status'];
  it.each(critical)('is never accepted: %s', (name) => {
    const sent = prepareDirect(PROFILE, ACCOUNT, { ...PAYMENT, ...CARD });
    const original = PAYMENT_ELEMENTS[name] ?? '';
    const other = fc.string({ maxLength: 12 }).filter((text) => text.trim() !== original);
    fc.assert(
      fc.property(other, (text) => {
        const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        const answer = rawAnswer(paymentXml({ [name]: escaped }));
        expect(readDirectAnswer(PROFILE, ACCOUNT, sent, answer).kind).not.toBe('accepted');
      }),
    );
  });
});
