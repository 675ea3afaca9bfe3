// Every other operation of the client over real HTTP, against answers written by hand from the
// document: payout, batches, query, and those of which only the existence is shown.

import { afterEach, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/core/orders/order.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import {
  createPaymentClient,
  type PaymentClient,
} from '../../src/gateway/payments/paymentClient.js';
import { readQueryRecords } from '../../src/gateway/query/queryRecord.js';
import { OTHER_OPERATIONS } from '../../src/gateway/query/undocumented.js';
import { readForm } from '../../src/gateway/wire/encode.js';
import { ACCOUNT, rawServer } from './rawServer.js';
import {
  APM,
  BATCH_SAMPLES,
  batchJson,
  CARD,
  PAYMENT,
  PAYOUT,
  payoutJson,
  QUERY_JSON,
  signatureOver,
} from './samples.js';
import { closeLater, closeWires, UNANSWERED, wire } from './wire.js';

afterEach(closeWires);

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
        local_clearing_system: 'X',
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
    const posted = await opened.connection.post({
      path,
      body,
      headers,
      deadlineMs: 5_000,
      mayWrite,
    });
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
    const result = await client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['SO-1', 'SO-2'] });
    expect(result).toMatchObject({
      kind: 'page',
      entries: [{ orderNo: 'SO-1', fraudRejected: true }],
    });
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
  const calls: [string, (client: PaymentClient) => Promise<{ kind: string }>][] = [
    ['authorise', (client) => client.authorise(ACCOUNT, { ...PAYMENT, ...CARD })],
    ['authoriseApm', (client) => client.authoriseApm(ACCOUNT, APM)],
    ['checkout', (client) => client.checkout(ACCOUNT, PAYMENT)],
    ['payout', (client) => client.payout(ACCOUNT, PAYOUT)],
  ];

  it.each(calls)('is unknown and sent once when %s is answered by a reset', async (_, call) => {
    const server = await rawServer({ asked: (socket) => socket.resetAndDestroy() });
    const client = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    closeLater(server.close, client.close);
    expect(await call(client)).toMatchObject({ kind: 'unknown' });
    expect(server.connections()).toBe(1);
  });

  it.each(calls)('is not sent when %s finds the port closed', async (_, call) => {
    const server = await rawServer({});
    await server.close();
    const client = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
    closeLater(client.close);
    expect(await call(client)).toMatchObject({ kind: 'not_sent' });
  });

  it.each(calls)('waits for its permit before %s', async (_, call) => {
    const server = await rawServer({ asked: (socket) => socket.destroy() });
    const asked: string[] = [];
    const takeToken = async (merchantId: string) => {
      asked.push(`${merchantId} ${server.connections()}`);
    };
    const client = createPaymentClient({
      profile: sandboxProfile(),
      baseUrl: server.baseUrl,
      takeToken,
    });
    closeLater(server.close, client.close);
    await call(client);
    expect(asked).toEqual(['M1 0']);
  });
});
