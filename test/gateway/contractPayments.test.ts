// Payments of the client over real HTTP, against answers written by hand from the document: direct,
// by an alternative payment method, on the hosted page.

import { afterEach, describe, expect, it } from 'vitest';
import { TieoutError } from '../../src/core/errors.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { readForm } from '../../src/gateway/wire/encode.js';
import type { Json } from './batchAnswer.js';
import { FIXED_INPUTS } from './documentFields.js';
import { ACCOUNT } from './rawServer.js';
import {
  APM,
  APM_XML,
  CARD,
  CHECKOUT_HTML,
  PAYMENT,
  PAYMENT_ELEMENTS,
  paymentXml,
  signatureOver,
} from './samples.js';
import { closeWires, UNANSWERED, wire } from './wire.js';

afterEach(closeWires);

/** The acquirer says that nothing was done where it answers so. */
const NOT_DONE = sandboxProfile();
NOT_DONE.payments.notDone = [400, 404];

it.each([
  ['400 Bad', []],
  ['404 None', []],
  ['400 Bad', [404]],
  ['404 None', [400]],
])('HTTP %s means nothing where the profile has %j', async (status, notDone) => {
  const profile = sandboxProfile();
  profile.payments.notDone = notDone as (400 | 404)[];
  const { client } = await wire('', { status, profile });
  expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe('unknown');
});

it.each([
  ['1', '0000', ['1'], 'accepted'],
  ['A', '0000', ['A'], 'accepted'],
  ['1', '0000', ['A'], 'unknown'],
  ['A', '1005', ['A'], 'unknown'],
  ['1', '1005', ['A'], 'not_accepted'],
])('order_status %s with %s, accepted %j: %s', async (status, code, accepted, kind) => {
  const profile = sandboxProfile();
  profile.payments.accepted = accepted;
  const xml = paymentXml({ order_status: status, result_info: `${code}:x` });
  const { client } = await wire(xml, { profile });
  expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe(kind);
});

describe('authorise, direct', () => {
  it('sends every field as given, signed, and reads every element', async () => {
    const { client, request } = await wire(paymentXml());
    const outcome = await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD });
    expect(outcome).toEqual({
      kind: 'accepted',
      signatureWarning: null,
      answer: {
        merchantId: 'M1',
        accountId: 'A1',
        orderNo: 'SO-1',
        amount: '10.00',
        currency: 'EUR',
        transactionId: '2026111900001',
        card: '411111******1111',
        orderStatus: '1',
        resultCode: '0000',
        resultMessage: 'Success',
        contractName: 'monthly',
        recurringId: 'R-7',
        recurringDeductionPeriod: '30',
        recurringDeductionTime: '2026-12-19 10:00:00',
        note: 'Café & more',
        tokenId: 'tok-1',
        connector: 'conn-a',
        threedsResult: 'authenticated',
        riskAction: 'ACCEPT',
        riskMeaning: 'accept',
        riskScore: '12',
        riskReasons: [
          { name: 'velocity', status: 'PASS' },
          { name: 'country', status: 'PASS' },
        ],
        issuerUrl: null,
      },
    });
    const { line, head, body } = request();
    expect(line).toBe('POST /v1/authorise HTTP/1.1');
    expect(head).toContain('content-type: application/json');
    const { site, ...fields } = PAYMENT;
    expect(JSON.parse(body)).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      ...fields,
      ...CARD,
      'the service': site,
      encryption_data: signatureOver('M1', 'A1', 'SO-1', 'EUR', '10.00'),
    });
  });

  it.each([
    ['another code', { result_info: '0101:Declined', order_status: '0' }, 'not_accepted'],
    ['another code without status', { result_info: '0101:No', order_status: '' }, 'not_accepted'],
    ['another code with status 1', { result_info: '0101:No' }, 'unknown'],
    ['success with another status', { order_status: '2' }, 'unknown'],
    ['success without status', { order_status: '' }, 'unknown'],
    ['success without transaction', { transaction_id: '' }, 'unknown'],
    ['no result', { result_info: '' }, 'unknown'],
    ['a result without colon', { result_info: '0000' }, 'unknown'],
    ['another order', { order_no: 'SO-9' }, 'unknown'],
    ['another account', { account_id: 'A9' }, 'unknown'],
    ['another merchant', { merchant_id: 'M9' }, 'unknown'],
    ['another amount', { amount: '10.0' }, 'unknown'],
    ['another currency', { currency: 'USD' }, 'unknown'],
  ])('reads %s', async (_, change, kind) => {
    const { client } = await wire(paymentXml(change));
    expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe(kind);
  });

  it('hides a card number that the gateway did not mask', async () => {
    const { client } = await wire(paymentXml({ card: CARD.card, note: `paid ${CARD.card}` }));
    const outcome = await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD });
    expect(JSON.stringify(outcome)).not.toContain(CARD.card);
    expect(outcome).toMatchObject({ answer: { card: '411111******1111' } });
  });

  it.each([
    ['off', 'wrong', 'accepted', null],
    ['warn', 'wrong', 'accepted', 'the signature of the answer is wrong'],
    ['warn', '', 'accepted', 'the answer bears no signature'],
    ['enforce', 'wrong', 'unknown', undefined],
    ['enforce', PAYMENT_ELEMENTS.encryption_data ?? '', 'accepted', null],
  ] as const)(
    'holds the signature under %s to its rule: %s',
    async (responses, signature, kind, warning) => {
      const profile = sandboxProfile();
      profile.signing.responses = responses;
      const { client } = await wire(paymentXml({ encryption_data: signature }), { profile });
      const outcome = await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD });
      expect(outcome.kind).toBe(kind);
      expect('signatureWarning' in outcome ? outcome.signatureWarning : undefined).toBe(warning);
    },
  );

  it('takes the echo of its own signature where the profile says so', async () => {
    const profile = sandboxProfile();
    profile.signing.responses = 'enforce';
    profile.signing.responseMode = 'echo';
    const echo = signatureOver('M1', 'A1', 'SO-1', 'EUR', '10.00');
    const { client } = await wire(paymentXml({ encryption_data: echo }), { profile });
    expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe('accepted');
  });

  it.each<[string, string, string]>([
    ['400 Bad', 'Invalid input', 'invalid_input'],
    ['404 None', 'Record not found', 'not_found'],
    ...UNANSWERED.map((status): [string, string, string] => [status, paymentXml(), 'unknown']),
    ['200 OK', paymentXml().slice(0, -9), 'unknown'],
    ['200 OK', '<html>maintenance</html>', 'unknown'],
    ['200 OK', '', 'unknown'],
  ])('reads HTTP %s', async (status, body, kind) => {
    const { client, server } = await wire(body, { status, profile: NOT_DONE });
    expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe(kind);
    expect(server.connections()).toBe(1);
  });

  it('takes the name of the site and the spelling of the body from the profile', async () => {
    const profile = sandboxProfile();
    profile.siteField = 'website';
    profile.bodies = { default: 'form' };
    const { client, request } = await wire(paymentXml(), { profile });
    await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD });
    const message = readForm(request().body) as Json;
    expect(message.website).toBe('https://shop.example');
    expect(message.cart_items).toMatchObject([{ basic_item_data: { name: 'Boots' } }]);
  });

  it.each([
    ['no amount', { amount: undefined }, /amount is missing/],
    ['an amount of another shape', { amount: '10' }, /amount must be an amount/],
    ['an amount of zero', { amount: '0.00' }, /above zero/],
    ['a part of another shape', { shipping: '1.5' }, /shipping must be an amount/],
    ['no order', { order_no: '' }, /order_no is missing/],
    ['a currency in small letters', { currency: 'eur' }, /currency must be/],
    ['a number in place of text', { note: 1 }, /note must be text/],
    ['text in place of a number', { checkout_time: '1' }, /checkout_time must be an integer/],
    ['a broken list', { cart_items: {} }, /cart_items must be a list/],
    ['a broken record', { cart_items: [{ basic_item_data: 1 }] }, /basic_item_data must be an/],
    ['a record nobody described', { extra: { a: 1 } }, /extra is not in the document/],
    ['half a character', { note: '\ud800' }, /note is no clean text/],
    ['the ids', { merchant_id: 'M9' }, /merchant_id is added/],
    ['a signature', { encryption_data: 'x' }, /encryption_data is added/],
    ['a payment method', { payment_method: 'x' }, /no place/],
  ])('sends nothing with %s, and repeats no value', async (_, change, words) => {
    const { client, server } = await wire(paymentXml());
    const payment = { ...PAYMENT, ...CARD, ...change } as unknown as typeof PAYMENT;
    const error = await client.authorise(ACCOUNT, payment).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TieoutError);
    expect(String(error)).toMatch(words);
    expect(String(error)).not.toContain(CARD.card);
    expect(server.connections()).toBe(0);
  });
});

describe('authorise, alternative payment method', () => {
  it('brings the address to send the shopper to', async () => {
    const { client, request } = await wire(APM_XML);
    const outcome = await client.authoriseApm(ACCOUNT, APM);
    expect(outcome).toMatchObject({
      kind: 'redirect',
      issuerUrl: 'https://issuer.example/pay?a=1&b=2',
      answer: { orderNo: 'SO-2', transactionId: null },
    });
    expect(request().line).toBe('POST /v1/authorise HTTP/1.1');
    expect(JSON.parse(request().body)).toMatchObject({
      ...APM,
      encryption_data: signatureOver('M1', 'A1', 'SO-2', 'BRL', '25.50'),
    });
  });

  it.each([
    ['no address', APM_XML.replace(/<issuer_url>.*<\/issuer_url>/, ''), '200 OK', 'unknown'],
    ['an address that is none', APM_XML.replace('https://', 'javascript:'), '200 OK', 'unknown'],
    ['another order', APM_XML.replace('SO-2', 'SO-3'), '200 OK', 'unknown'],
    ['invalid input', '', '400 Bad', 'invalid_input'],
    ['an unknown record', '', '404 None', 'not_found'],
    [
      'a refusal',
      APM_XML.replace(/<issuer_url>.*<\/issuer_url>/, '<result_info>0909:No</result_info>'),
      '200 OK',
      'not_accepted',
    ],
  ])('reads %s', async (_, body, status, kind) => {
    const { client } = await wire(body, { status, profile: NOT_DONE });
    expect((await client.authoriseApm(ACCOUNT, APM)).kind).toBe(kind);
  });

  it.each(['card', 'expiration_month', 'expiration_year', 'security_code'])(
    'never sends a %s',
    async (field) => {
      const { client, server } = await wire(APM_XML);
      const payment = { ...APM, [field]: '1' };
      await expect(client.authoriseApm(ACCOUNT, payment)).rejects.toThrow(`${field} has no place`);
      expect(server.connections()).toBe(0);
    },
  );
});

describe('checkout', () => {
  it('brings the page, where it leads and its hidden inputs', async () => {
    const { client, request } = await wire(CHECKOUT_HTML, {
      headers: ['content-type: application/xml'],
    });
    const outcome = await client.checkout(ACCOUNT, { ...PAYMENT, return_url: 'https://s.example' });
    if (outcome.kind !== 'page') throw new Error(JSON.stringify(outcome));
    expect(outcome.html).toBe(CHECKOUT_HTML);
    expect(outcome.form.action).toBe('/payment/page?x=1&y=2');
    expect(Object.fromEntries(outcome.form.inputs)).toEqual({
      ...Object.fromEntries(FIXED_INPUTS.map((name) => [name, `v-${name}`])),
      order_no: 'SO-1',
      greeting: '"Zoé" & Łuk',
    });
    expect(request().line).toBe('POST /v1/checkout HTTP/1.1');
    expect(JSON.parse(request().body).encryption_data).toBe(
      signatureOver('M1', 'A1', 'SO-1', 'EUR', '10.00'),
    );
  });

  it.each<[string, string, string, string]>([
    ['invalid input', '', '400 Bad', 'invalid_input'],
    ['an unknown record', '', '404 None', 'not_found'],
    ['a page of another order', CHECKOUT_HTML.replace("'SO-1'>", "'SO-2'>"), '200 OK', 'unknown'],
    ['a cut page', CHECKOUT_HTML.slice(0, -20), '200 OK', 'unknown'],
    ['a page without form', '<html><body>Sorry</body></html>', '200 OK', 'unknown'],
    ['JSON', '{}', '200 OK', 'unknown'],
    ...UNANSWERED.map((status): [string, string, string, string] => [
      status,
      CHECKOUT_HTML,
      status,
      'unknown',
    ]),
  ])('reads %s', async (_, body, status, kind) => {
    const { client } = await wire(body, { status, profile: NOT_DONE });
    expect((await client.checkout(ACCOUNT, PAYMENT)).kind).toBe(kind);
  });

  it.each(['card', 'security_code', 'accept'])('never sends a %s', async (field) => {
    const { client, server } = await wire(CHECKOUT_HTML);
    await expect(client.checkout(ACCOUNT, { ...PAYMENT, [field]: '1' })).rejects.toThrow(field);
    expect(server.connections()).toBe(0);
  });
});
