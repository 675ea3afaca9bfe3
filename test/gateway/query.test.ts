// A query from the numbers that are asked to the entries that come back.

import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayClient, type GatewayClient } from '../../src/gateway/client.js';
import { type Profile, sandboxProfile } from '../../src/gateway/document/profile.js';
import { decodeQueryAnswer } from '../../src/gateway/query/decode.js';
import { canBeAsked } from '../../src/gateway/query/querySelection.js';
import { readForm } from '../../src/gateway/wire/encode.js';
import { signatureOf } from '../../src/gateway/wire/sign.js';
import { type Json, rawAnswer } from './batchAnswer.js';
import { ACCOUNT, httpText, type RawServer, rawServer } from './rawServer.js';

const ENTRY = {
  amount: '10.00',
  currency: 'EUR',
  fraud_check_result: [{ check_items: 'ip', status: 'ACCEPT' }],
  is3ds: '0',
  order_no: 'SO-1',
  payment_status: '3000',
  query_result: '1',
  reference_no: 'R1',
  transaction_date: '20261119120000',
  transaction_id: 'T1',
};
const PAGE = {
  merchant_id: 'M1',
  account_id: 'A1',
  return_status: '1',
  return_message: 'OK',
  orders_list: [ENTRY],
};
const READ = {
  orderNo: 'SO-1',
  transactionId: 'T1',
  currency: 'EUR',
  amount: '10.00',
  paymentStatus: '3000',
  queryResult: '1',
  transactionDate: '20261119120000',
  referenceNo: 'R1',
  recurringStatus: null,
  fraudRejected: false,
};

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function asking(
  answer: string,
  profile: Profile = sandboxProfile(),
): Promise<{ client: GatewayClient; server: RawServer }> {
  const server = await rawServer({ asked: (socket) => socket.write(answer) });
  const client = createGatewayClient({ profile, baseUrl: server.baseUrl });
  open.push(server.close, client.close);
  return { client, server };
}

const bodyOf = (server: RawServer): string => server.received[0]?.split('\r\n\r\n')[1] ?? '';

describe('query', () => {
  it('asks for the orders by name in a signed form and reads the page', async () => {
    const text = JSON.stringify(PAGE);
    const { client, server } = await asking(httpText(text));
    const result = await client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['SO-1', 'SO ü'] });
    expect(result).toEqual({ kind: 'page', entries: [READ], body: Buffer.from(text) });
    const sent = readForm(bodyOf(server)) as Json;
    expect(sent).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      order_no: 'SO-1,SO ü',
      encryption_data: signatureOf(
        sandboxProfile().signing,
        'retrievalTrans',
        ACCOUNT.signingKey,
        sent,
      ),
    });
  });

  it('names and joins the orders as the profile says', async () => {
    const profile = sandboxProfile();
    profile.query.orderList = { field: 'orders', separator: ';' };
    profile.bodies = { default: 'json' };
    const { client, server } = await asking(httpText(JSON.stringify(PAGE)), profile);
    await client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['a', 'b,c'] });
    expect(JSON.parse(bodyOf(server))).toMatchObject({ orders: 'a;b,c' });
    expect(['b,c', 'b;c', ''].map((orderNo) => canBeAsked(client.profile, orderNo))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['no order', []],
    ['101 orders', Array.from({ length: 101 }, (_, index) => `SO-${index}`)],
    ['a number that holds the separator', ['SO-1,SO-2']],
  ])('never asks for %s', async (_, orderNos) => {
    const { client, server } = await asking('');
    await expect(client.queryPage(ACCOUNT, { kind: 'orders', orderNos })).rejects.toThrow(/order/);
    expect(server.connections()).toBe(0);
  });

  it('keeps the bytes of an answer that it cannot use', async () => {
    const { client } = await asking(httpText('<html>', ['content-type: text/html']));
    expect(await client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['SO-1'] })).toEqual({
      kind: 'failed',
      reason: 'the answer is not JSON',
      reachable: true,
      body: Buffer.from('<html>'),
    });
  });

  it('waits for the permit before it asks', async () => {
    const server = await rawServer({ asked: (s) => s.write(httpText(JSON.stringify(PAGE))) });
    let grant = (): void => undefined;
    const takeToken = () => new Promise<void>((resolve) => (grant = resolve));
    const client = createGatewayClient({
      profile: sandboxProfile(),
      baseUrl: server.baseUrl,
      takeToken,
    });
    open.push(server.close, client.close);
    const asked = client.queryPage(ACCOUNT, { kind: 'orders', orderNos: ['SO-1'] });
    expect(server.connections()).toBe(0);
    grant();
    expect((await asked).kind).toBe('page');
  });
});

describe('decodeQueryAnswer', () => {
  const decode = (body: string | Buffer | Json, status = 200) =>
    decodeQueryAnswer(ACCOUNT, rawAnswer(body, { status }));
  const withEntry = (change: Json) => decode({ ...PAGE, orders_list: [{ ...ENTRY, ...change }] });

  const failing: [string, string | Buffer | Json, number][] = [
    ['HTTP 403', PAGE, 403],
    ['HTTP 201', PAGE, 201],
    ['no JSON', 'OK', 200],
    ['an array', '[]', 200],
    ['null', 'null', 200],
    ['bad UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 200],
    ['return_status 0', { ...PAGE, return_status: '0' }, 200],
    ['return_status as a number', { ...PAGE, return_status: 1 }, 200],
    ['no return_status', { ...PAGE, return_status: undefined }, 200],
    ['another merchant', { ...PAGE, merchant_id: 'M2' }, 200],
    ['another account', { ...PAGE, account_id: 'A2' }, 200],
    ['no account', { ...PAGE, account_id: undefined }, 200],
    ['no orders_list', { ...PAGE, orders_list: undefined }, 200],
    ['an orders_list that is none', { ...PAGE, orders_list: {} }, 200],
  ];
  it.each(failing)('fails a page with %s', (_, body, status) => {
    expect(decode(body, status)).toEqual({ kind: 'failed', reason: expect.any(String) });
  });

  it('says what came in the place of a text', () => {
    const page = decode({ ...PAGE, return_status: 1, return_message: 'OK' });
    expect(page).toEqual({
      kind: 'failed',
      reason: 'the gateway answered return_status (number) 1: OK',
    });
  });

  it.each<[string, unknown]>([
    ['that is a text', 'x'],
    ['that is null', null],
    ['that is an array', []],
    ['without order_no', { ...ENTRY, order_no: undefined }],
    ['with a number for order_no', { ...ENTRY, order_no: 1 }],
    ['with an empty order_no', { ...ENTRY, order_no: '' }],
  ])('an entry %s harms itself alone, and is told by its place', (_, odd) => {
    const body = { ...PAGE, orders_list: [ENTRY, odd] };
    const page = decode(body as Json);
    if (page.kind !== 'page') throw new Error(page.reason);
    expect(page.unreadable).toEqual([1]);
    expect(page.entries[0]?.orderNo).toBe(ENTRY.order_no);
    expect(page.entries[1]).toMatchObject({ transactionId: null, amount: null });
    expect(page.entries[1]?.orderNo).toMatch(/^\(unreadable\)…[0-9a-f]{16}$/);
    expect(decode(body as Json)).toEqual(page);
  });

  it.each([
    ['a NUL', 'a\0', /^a…[0-9a-f]{16}$/],
    ['half a character', 'a\ud800', /^a…[0-9a-f]{16}$/],
    ['4 KB', 'a'.repeat(4_000), /^a{40}…[0-9a-f]{16}$/],
    ['513 bytes in fewer characters', 'ä'.repeat(257), /^…[0-9a-f]{16}$/],
  ])(
    'an order_no with %s is none of ours: a stand-in, invalid, beside the others',
    (_, no, expected) => {
      const body = { ...PAGE, orders_list: [{ ...ENTRY, order_no: no }, ENTRY] };
      const page = decode(body);
      if (page.kind !== 'page') throw new Error(page.reason);
      expect(page.entries).toHaveLength(2);
      expect(page.entries[0]?.orderNo).toMatch(expected);
      expect(page.entries[0]?.transactionId).toBeNull();
      expect(page.entries[1]?.orderNo).toBe(ENTRY.order_no);
      expect(decode(body)).toEqual(page);
    },
  );

  it.each([
    ['4 KB', 'T'.repeat(4_000)],
    ['a line break', 'T\n1'],
    ['half a character', 'T\udc00'],
  ])('a transaction_id with %s is none', (_, id) => {
    const page = decode({ ...PAGE, orders_list: [{ ...ENTRY, transaction_id: id }] });
    expect(page).toMatchObject({ kind: 'page', entries: [{ transactionId: null }] });
  });

  it('cuts a text within no card number, so that no half of one is kept', () => {
    for (let start = 170; start < 200; start += 1) {
      const amount = `${'x'.repeat(start)} 4111111111111111 declined ${'y'.repeat(200)}`;
      const page = decode({ ...PAGE, orders_list: [{ ...ENTRY, amount }] });
      if (page.kind !== 'page') throw new Error(page.kind);
      expect(page.entries[0]?.amount).toMatch(/^x{170,} (?!4111111).*…$/);
    }
  });

  it('reads an empty page', () => {
    expect(decode({ ...PAGE, orders_list: [] })).toEqual({ kind: 'page', entries: [] });
  });

  it.each([
    ['amount', 10, { amount: '(number) 10' }],
    ['amount', null, { amount: null }],
    ['amount', '10.0', { amount: '10.0' }],
    ['amount', ' 10.00', { amount: ' 10.00' }],
    ['transaction_id', null, { transactionId: null }],
    ['currency', undefined, { currency: null }],
    ['currency', 978, { currency: '(number) 978' }],
    ['payment_status', 3000, { paymentStatus: null }],
    ['query_result', true, { queryResult: '(boolean) true' }],
    ['query_result', undefined, { queryResult: '(missing)' }],
    ['query_result', null, { queryResult: '(null)' }],
    ['query_result', [], { queryResult: '(list)' }],
    ['query_result', 'a\0b', { queryResult: '(no readable text)' }],
    ['reference_no', 'a\0b', { referenceNo: null }],
    ['transaction_date', {}, { transactionDate: null }],
    ['order_no', '001 Ü', { orderNo: '001 Ü' }],
    ['subscription_result', { recurring_status: '1' }, { recurringStatus: '1' }],
    ['subscription_result', { recurring_status: '' }, { recurringStatus: null }],
    ['subscription_result', { recurring_status: 1 }, { recurringStatus: '(number) 1' }],
    ['subscription_result', '1', { recurringStatus: null }],
    ['fraud_check_result', [{ status: 'ACCEPT' }, { status: 'REJECT' }], { fraudRejected: true }],
    ['fraud_check_result', 'REJECT', { fraudRejected: false }],
    ['fraud_check_result', [null], { fraudRejected: false }],
  ])('keeps %s %j as printed, or as lacking', (field, value, expected) => {
    expect(withEntry({ [field]: value })).toEqual({
      kind: 'page',
      entries: [{ ...READ, ...expected }],
    });
  });
});
