// Every operation of the client over real HTTP, against answers written by hand from the document.

import { afterEach, describe, expect, it } from 'vitest';
import { TieoutError } from '../../src/core/errors.js';
import { OPERATIONS } from '../../src/core/order.js';
import { createGatewayClient, type GatewayClient } from '../../src/gateway/client.js';
import { readForm } from '../../src/gateway/encode.js';
import { OTHER_OPERATIONS } from '../../src/gateway/others.js';
import { type Profile, sandboxProfile } from '../../src/gateway/profile.js';
import { readQueryRecords } from '../../src/gateway/queryRecord.js';
import type { Json } from './batchAnswer.js';
import { FIXED_INPUTS } from './documentFields.js';
import { ACCOUNT, httpText, type RawServer, rawServer } from './rawServer.js';
import {
  APM,
  APM_XML,
  BATCH_SAMPLES,
  batchJson,
  CARD,
  CHECKOUT_HTML,
  PAYMENT,
  PAYMENT_ELEMENTS,
  PAYOUT,
  paymentXml,
  payoutJson,
  QUERY_JSON,
  signatureOver,
} from './samples.js';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Wire {
  client: GatewayClient;
  server: RawServer;
  /** Head and body of the one request. */
  request(): { line: string; head: string; body: string };
}

async function wire(
  answer: string,
  { status = '200 OK', profile = sandboxProfile() as Profile, headers = [] as string[] } = {},
): Promise<Wire> {
  const server = await rawServer({
    asked: (socket) => socket.write(httpText(answer, headers, status)),
  });
  const client = createGatewayClient({ profile, baseUrl: server.baseUrl });
  open.push(server.close, client.close);
  return {
    client,
    server,
    request: () => {
      expect(server.connections()).toBe(1);
      const [head = '', body = ''] = (server.received[0] ?? '').split('\r\n\r\n');
      const text = Buffer.from(body, 'latin1').toString('utf8');
      return { line: head.split('\r\n')[0] ?? '', head, body: text };
    },
  };
}

const UNANSWERED = ['502 Bad', '500 Error', '302 Found', '204 Nothing', '401 No'];

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
  ] as const)('holds the signature under %s to its rule: %s', async (responses, signature, kind, warning) => {
    const profile = sandboxProfile();
    profile.signing.responses = responses;
    const { client } = await wire(paymentXml({ encryption_data: signature }), { profile });
    const outcome = await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD });
    expect(outcome.kind).toBe(kind);
    expect('signatureWarning' in outcome ? outcome.signatureWarning : undefined).toBe(warning);
  });

  it('takes the echo of its own signature where the profile says so', async () => {
    const profile = sandboxProfile();
    profile.signing.responses = 'enforce';
    profile.signing.responseMode = 'echo';
    const echo = signatureOver('M1', 'A1', 'SO-1', 'EUR', '10.00');
    const { client } = await wire(paymentXml({ encryption_data: echo }), { profile });
    expect((await client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })).kind).toBe('accepted');
  });

  it.each([
    ['400 Bad', 'Invalid input', 'invalid_input'],
    ['404 None', 'Record not found', 'not_found'],
    ...UNANSWERED.map((status) => [status, paymentXml(), 'unknown'] as const),
    ['200 OK', paymentXml().slice(0, -9), 'unknown'],
    ['200 OK', '<html>maintenance</html>', 'unknown'],
    ['200 OK', '', 'unknown'],
  ])('reads HTTP %s', async (status, body, kind) => {
    const { client, server } = await wire(body, { status });
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
    const { client } = await wire(body, { status });
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

  it.each([
    ['invalid input', '', '400 Bad', 'invalid_input'],
    ['an unknown record', '', '404 None', 'not_found'],
    ['a page of another order', CHECKOUT_HTML.replace("'SO-1'>", "'SO-2'>"), '200 OK', 'unknown'],
    ['a cut page', CHECKOUT_HTML.slice(0, -20), '200 OK', 'unknown'],
    ['a page without form', '<html><body>Sorry</body></html>', '200 OK', 'unknown'],
    ['JSON', '{}', '200 OK', 'unknown'],
    ...UNANSWERED.map((status) => [status, CHECKOUT_HTML, status, 'unknown'] as const),
  ])('reads %s', async (_, body, status, kind) => {
    const { client } = await wire(body, { status });
    expect((await client.checkout(ACCOUNT, PAYMENT)).kind).toBe(kind);
  });

  it.each(['card', 'security_code', 'accept'])('never sends a %s', async (field) => {
    const { client, server } = await wire(CHECKOUT_HTML);
    await expect(client.checkout(ACCOUNT, { ...PAYMENT, [field]: '1' })).rejects.toThrow(field);
    expect(server.connections()).toBe(0);
  });
});

describe('payout', () => {
  it('sends the whole record and keeps each digit of the answer', async () => {
    const { client, request } = await wire(payoutJson());
    expect(await client.payout(ACCOUNT, PAYOUT)).toEqual({
      kind: 'accepted',
      record: {
        amount_beneficiary_receives: '150000.00',
        amount_payer_pays: '90071992547409931.25',
        created_at: '2026-11-20T04:15:00+0100',
        last_updated_at: '2026-11-20T04:15:01+0100',
        failure_reason: null,
        failure_type: null,
        fee_amount: '12.5',
        fee_currency: 'USD',
        payer_id: 'P-1',
        transaction_id: 'PT-1',
        short_reference_id: '20261120-ABC123',
        status: 'COMPLETED',
      },
    });
    expect(request().line).toBe('POST /v1/payout HTTP/1.1');
    expect(JSON.parse(request().body)).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      ...PAYOUT,
      encryption_data: signatureOver('M1', 'A1', PAYOUT.request_id, 'USD', '150000'),
    });
  });

  it.each([
    ['a failure', { status: 'FAILED', failure_type: 'BANK', failure_reason: 'closed' }, 'rejected'],
    ['a failure with a type alone', { status: 'FAILED', failure_type: 'BANK' }, 'rejected'],
    ['a failure beside COMPLETED', { failure_reason: 'closed' }, 'unknown'],
    ['a blank failure beside COMPLETED', { failure_type: ' ' }, 'unknown'],
    ['a failure without status', { status: '', failure_type: 'BANK' }, 'unknown'],
    ['another status without failure', { status: 'PENDING' }, 'unknown'],
    ['a status in small letters', { status: 'completed' }, 'unknown'],
    ['no status', { status: undefined }, 'unknown'],
    ['failure fields that are null', { failure_type: null, failure_reason: null }, 'accepted'],
    ['no failure fields', { failure_type: undefined, failure_reason: undefined }, 'accepted'],
    ['a failure that is no text', { failure_type: {} }, 'unknown'],
    ['no transaction', { transaction_id: '' }, 'unknown'],
    ['another request', { request_id: '0f8fad5b-d9cb-469f-a165-70867728950f' }, 'unknown'],
    ['another amount', { payment_amount: '150001' }, 'unknown'],
    ['another currency', { payment_currency: 'EUR' }, 'unknown'],
    ['another account', { account_id: 'A9' }, 'unknown'],
  ])('reads %s', async (_, change, kind) => {
    const { client } = await wire(payoutJson(change));
    expect((await client.payout(ACCOUNT, PAYOUT)).kind).toBe(kind);
  });

  it.each(['400 Bad', '404 None', ...UNANSWERED])('knows nothing after HTTP %s', async (status) => {
    const { client } = await wire(payoutJson(), { status });
    expect((await client.payout(ACCOUNT, PAYOUT)).kind).toBe('unknown');
  });

  it.each([
    ['an amount with decimals', { payment_amount: '15.00' }, /payment_amount must be a whole/],
    ['an amount of zero', { payment_amount: '0' }, /payment_amount must be a whole/],
    ['an amount as a number', { payment_amount: 15 }, /payment_amount must be text/],
    ['a source amount with decimals', { source_amount: '1.5' }, /source_amount must be a whole/],
    ['an id that is no UUID', { request_id: 'P-1' }, /request_id must be a UUID/],
    ['a day that does not exist', { payment_date: '2026-02-30' }, /payment_date must be a day/],
    ['no currency', { payment_currency: undefined }, /payment_currency/],
  ])('sends nothing with %s', async (_, change, words) => {
    const { client, server } = await wire(payoutJson());
    const payout = { ...PAYOUT, ...change } as typeof PAYOUT;
    await expect(client.payout(ACCOUNT, payout)).rejects.toThrow(words);
    expect(server.connections()).toBe(0);
  });

  it('can be prepared, sent and read in steps that a journal fits between', async () => {
    const { client } = await wire(payoutJson());
    const prepared = client.preparePayout(ACCOUNT, PAYOUT);
    const opened = await client.connectMoney(ACCOUNT);
    if (opened.kind !== 'connected') throw new Error(opened.reason);
    const { path, body, contentType } = prepared;
    const headers = { 'content-type': contentType };
    const mayWrite = () => true;
    const posted = await opened.connection.post({ path, body, headers, deadlineMs: 5_000, mayWrite });
    if (posted.kind !== 'answered') throw new Error(posted.reason);
    expect(client.readPayoutAnswer(prepared, posted).kind).toBe('accepted');
  });
});

describe.each(OPERATIONS)('%s', (operation) => {
  it('sends the printed entry and accepts the printed answer', async () => {
    const { client, request } = await wire(batchJson(operation));
    const sample = BATCH_SAMPLES[operation];
    const entry = {
      transactionId: 'T1',
      orderNo: 'SO-1',
      currency: 'EUR',
      amount: '10.00',
      ...(operation === 'refund' ? { refundAmount: '4.00', refundReason: 'late' } : {}),
      ...(operation === 'review' ? { decision: 'accept' as const } : {}),
    };
    const prepared = client.prepareBatch(ACCOUNT, operation, [entry]);
    const posted = await client.postOnce(ACCOUNT, prepared);
    if (posted.kind !== 'answered') throw new Error(posted.reason);
    const reading = client.readBatchAnswer(ACCOUNT, operation, [entry], posted);
    expect(reading).toMatchObject({ trusted: true, signatureWarning: null });
    expect(reading.entries).toMatchObject([{ kind: 'accepted', orderNo: 'SO-1' }]);
    expect(request().line).toBe(`POST /v1/${operation} HTTP/1.1`);
    expect(JSON.parse(request().body)).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      [`${operation}_orders`]: [
        {
          transaction_id: 'T1',
          order_no: 'SO-1',
          currency: 'EUR',
          amount: '10.00',
          ...sample.sent,
        },
      ],
      encryption_data: signatureOver('M1', 'A1', sample.signed),
    });
  });
});

describe('query', () => {
  it('asks by the printed fields and reads the whole record', async () => {
    const { client, request } = await wire(QUERY_JSON);
    const result = await client.query(ACCOUNT, ['SO-1', 'SO-2']);
    expect(result).toMatchObject({ kind: 'page', entries: [{ orderNo: 'SO-1', fraudRejected: true }] });
    expect(request().line).toBe('POST /v1/retrievalTrans HTTP/1.1');
    expect(readForm(request().body)).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      order_no: 'SO-1,SO-2',
      encryption_data: signatureOver('M1', 'A1'),
    });
    expect(readQueryRecords(sandboxProfile(), Buffer.from(QUERY_JSON))).toEqual([
      {
        orderNo: 'SO-1',
        transactionId: 'T1',
        referenceNo: 'REF-1',
        amount: '10.00',
        currency: 'EUR',
        paymentStatus: '3000',
        queryResult: '1',
        transactionDate: '20261119120000',
        is3ds: '0',
        shopperEmail: 'zoe@mail.example',
        shopperPhone: '+48 000 000',
        antifraudProvider: 'guard',
        fraudChecks: [
          { checkItems: 'velocity', status: 'ACCEPT' },
          { checkItems: 'address', status: 'REJECT' },
        ],
        delivery: JSON.parse(QUERY_JSON).orders_list[0].delivery_information,
        subscription: JSON.parse(QUERY_JSON).orders_list[0].subscription_result,
        site: 'https://shop.example',
      },
    ]);
  });

  it('can be tried with whatever fields the acquirer names', async () => {
    const { client, request } = await wire(QUERY_JSON);
    expect((await client.tryQuery(ACCOUNT, { order_list: 'SO-1' })).kind).toBe('page');
    expect(readForm(request().body)).toMatchObject({ order_list: 'SO-1', merchant_id: 'M1' });
  });
});

describe.each(OTHER_OPERATIONS)('%s', (name) => {
  it('says that only its existence is shown, and which key to fill', async () => {
    const { client, server } = await wire('{}');
    await expect(client.other(ACCOUNT, name, {})).rejects.toThrow(
      new RegExp(`only that this operation exists.*operations\\.${name}`),
    );
    expect(server.connections()).toBe(0);
  });

  it('is called as the profile says and hands back what came', async () => {
    const profile = sandboxProfile();
    profile.operations[name] = { path: '/v1/special', body: 'json-as-form' };
    profile.signing.fields[name] = ['account_id', 'subject'];
    const { client, request } = await wire('{"answer":1.10}', { profile, status: '201 Made' });
    const outcome = await client.other(ACCOUNT, name, { subject: 'R-7' });
    expect(outcome).toMatchObject({ kind: 'answered', status: 201, json: { answer: '1.10' } });
    const { line, head, body } = request();
    expect(line).toBe('POST /v1/special HTTP/1.1');
    expect(head).toContain('content-type: application/x-www-form-urlencoded');
    expect(JSON.parse(body)).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      subject: 'R-7',
      encryption_data: signatureOver('A1', 'R-7'),
    });
  });
});

describe('all that may move money', () => {
  const calls: [string, (client: GatewayClient) => Promise<{ kind: string }>][] = [
    ['authorise', (client) => client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })],
    ['authoriseApm', (client) => client.authoriseApm(ACCOUNT, APM)],
    ['checkout', (client) => client.checkout(ACCOUNT, PAYMENT)],
    ['payout', (client) => client.payout(ACCOUNT, PAYOUT)],
  ];

  it.each(calls)('is unknown and sent once when %s is answered by a reset', async (_, call) => {
    const server = await rawServer({ asked: (socket) => socket.resetAndDestroy() });
    const client = createGatewayClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    open.push(server.close, client.close);
    expect(await call(client)).toMatchObject({ kind: 'unknown' });
    expect(server.connections()).toBe(1);
  });

  it.each(calls)('is not sent when %s finds the port closed', async (_, call) => {
    const server = await rawServer({});
    await server.close();
    const client = createGatewayClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    open.push(client.close);
    expect(await call(client)).toMatchObject({ kind: 'not_sent' });
  });

  it.each(calls)('waits for its permit before %s', async (_, call) => {
    const server = await rawServer({ asked: (socket) => socket.destroy() });
    const asked: string[] = [];
    const permit = async (merchantId: string) => {
      asked.push(`${merchantId} ${server.connections()}`);
    };
    const client = createGatewayClient({ profile: sandboxProfile(), baseUrl: server.baseUrl, permit });
    open.push(server.close, client.close);
    await call(client);
    expect(asked).toEqual(['M1 0']);
  });
});
