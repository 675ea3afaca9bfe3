// Payments on the wire: cards, tokens, subscriptions and alternative methods, held against the
// tables of the interface document.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { responseSignatureOf } from '../../src/gateway/wire/sign.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, OTHER_ACCOUNT, startHere } from './startedSandbox.js';
import { batch, effects, element, payment, post, query, signed } from './wireClient.js';

const ORDER = { order_no: 'X-1', amount: '20.00', currency: 'EUR' };

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startHere();
});
afterEach(() => sandbox.close());

async function authorise(fields: Record<string, unknown>): Promise<string> {
  const { status, text } = await post(`${sandbox.baseUrl}/v1/authorise`, payment(ACCOUNT, fields));
  if (status !== 200) throw new Error(`${status} ${text}`);
  return text;
}

describe('the answer to a direct payment', () => {
  it('has every element of the document under respon, in its sequence', async () => {
    const xml = await authorise({ ...ORDER, note: 'Grüße & <mehr>' });
    const names = [...xml.matchAll(/<(\w+)>/g)].map(([, name]) => name);
    expect(names).toEqual([
      ...['respon', 'merchant_id', 'account_id', 'order_no', 'amount', 'currency'],
      ...['transaction_id', 'card', 'order_status', 'result_info', 'contract_name'],
      ...['recurring_id', 'recurring_deduction_period', 'recurring_deduction_time', 'note'],
      ...['token_id', 'connector', 'threeds_result', 'risk_action', 'risk_score'],
      ...['risk_reasons', 'name', 'status', 'encryption_data'],
    ]);
    expect(xml).toContain('<note>Grüße &amp; &lt;mehr&gt;</note>');
    expect(element(xml, 'order_status')).toBe('1');
    expect(element(xml, 'result_info')).toBe('0000:Success');
    expect(element(xml, 'card')).toBe('411111******1111');
  });

  it('is signed as the profile says', async () => {
    const xml = await authorise(ORDER);
    const { signing } = sandboxProfile();
    const said = { merchant_id: 'M1001', account_id: ACCOUNT.accountId };
    expect(element(xml, 'encryption_data')).toBe(
      responseSignatureOf(signing, 'authorise', ACCOUNT.signingKey, said),
    );
  });

  it.each([
    ['4000000000000002', '0', '1005:Declined', 'ACCEPT', '5000'],
    ['4000000000009235', '2', '0001:In review', 'REVIEW', '1500'],
    ['4000000000000077', '2', '0002:Pending', 'ACCEPT', '1000'],
    ['378282246310005', '1', '0000:Success', 'ACCEPT', '2000'],
    ['4242 4242 4242 4242', '1', '0000:Success', 'ACCEPT', '2000'],
  ])('to card %s is %s with %s', async (card, status, info, risk, shown) => {
    const xml = await authorise({ ...ORDER, card });
    expect(element(xml, 'order_status')).toBe(status);
    expect(element(xml, 'result_info')).toBe(info);
    expect(element(xml, 'risk_action')).toBe(risk);
    const [entry] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(entry?.payment_status).toBe(shown);
  });

  it('carries a token that pays again, in its own account only', async () => {
    const token = element(await authorise({ ...ORDER, token_flag: '1' }), 'token_id') ?? '';
    expect(token).toMatch(/^TK\w+$/);
    expect(element(await authorise(ORDER), 'token_id')).toBe('');
    const again = { ...ORDER, order_no: 'X-2', token_id: token };
    const url = `${sandbox.baseUrl}/v1/authorise`;
    const own = await post(url, signed(ACCOUNT, 'authorise', again));
    expect(element(own.text, 'card')).toBe('411111******1111');
    const other = await post(url, signed(OTHER_ACCOUNT, 'authorise', again));
    expect(other).toEqual({ status: 404, text: 'Record not found' });
  });

  it('shows a subscription, and every query shows it again', async () => {
    const subscription = {
      ...{ contract: 'C-7', contract_name: 'Coffee & tea', contract_amount: '9.90' },
      ...{ interval: 'month', interval_count: '1', billing_cycle: 12 },
      ...{ contract_start: '2026-12-01', contract_end: '2027-12-01' },
    };
    const xml = await authorise({ ...ORDER, subscription });
    const id = element(xml, 'recurring_id');
    expect(id).toBe(`RC${element(xml, 'transaction_id')}`);
    expect(element(xml, 'contract_name')).toBe('Coffee &amp; tea');
    expect(element(xml, 'recurring_deduction_period')).toBe('1 month');
    expect(element(xml, 'recurring_deduction_time')).toBe('2026-12-01 00:00:00');
    const [entry] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(entry?.subscription_result).toEqual({
      contract_name: 'Coffee & tea',
      recurring_deduction_period: '1 month',
      recurring_deduction_time: '2026-12-01',
      recurring_id: id,
      recurring_status: '1',
    });
  });

  it('leaves in the query what the shop said of shopper, delivery and web site', async () => {
    const delivery = {
      ...{ delivery_firstname: 'Łucja', delivery_lastname: 'O\'"Neil\\', delivery_city: 'Łódź' },
      ...{ delivery_country: 'PL', delivery_address: 'Młyńska 1', delivery_state: 'LD' },
      delivery_postal_code: '90-001',
    };
    const shopper = { shopper_email: 'l@mail.example', shopper_phone: '+48 555 0101' };
    await authorise({ ...ORDER, ...delivery, ...shopper, 'the service': 'https://mine.example' });
    const [entry] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(entry).toMatchObject({
      ...shopper,
      delivery_information: delivery,
      'the service': 'https://mine.example',
    });
  });
});

describe('a card number', () => {
  it.each(['4111111111111112', '4929123456789012', '12345', '', '4111-1111-1111-1111x'])(
    '%s that is no well-known test number is refused',
    async (card) => {
      const url = `${sandbox.baseUrl}/v1/authorise`;
      const answer = await post(url, payment(ACCOUNT, { ...ORDER, card }));
      expect(answer).toEqual({ status: 400, text: 'Invalid input' });
    },
  );

  it('is kept nowhere, not even where it does not belong', async () => {
    const number = '4111111111111111';
    await authorise({ ...ORDER, shopper_email: number, delivery_city: `Köln ${number}` });
    const [entry] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    const orders = await (await fetch(`${sandbox.baseUrl}/_sandbox/orders`)).text();
    const portal = await (await fetch(`${sandbox.baseUrl}/_sandbox/portal`)).text();
    for (const text of [JSON.stringify(entry), orders, portal]) expect(text).not.toContain(number);
    expect(orders).toContain('"card":"411111******1111"');
    expect(portal).toContain('411111******1111');
  });
});

describe('an alternative payment method', () => {
  const apm = (fields: Record<string, unknown> = {}) =>
    signed(ACCOUNT, 'authorise', { ...ORDER, payment_method: 'banktransfer', ...fields });

  async function issuerOf(fields: Record<string, unknown> = {}): Promise<string> {
    const { text } = await post(`${sandbox.baseUrl}/v1/authorise`, apm(fields));
    return (element(text, 'issuer_url') ?? '').replaceAll('&amp;', '&');
  }

  async function status(): Promise<string | undefined> {
    return (await query(sandbox.baseUrl, ACCOUNT, ['X-1']))[0]?.payment_status;
  }

  it('is answered with an address and no transaction', async () => {
    const { text } = await post(`${sandbox.baseUrl}/v1/authorise`, apm());
    const names = [...text.matchAll(/<(\w+)>/g)].map(([, name]) => name);
    expect(names).toEqual([
      ...['respon', 'merchant_id', 'account_id', 'order_no', 'amount', 'currency', 'issuer_url'],
    ]);
    expect(await status()).toBe('1000');
  });

  it('is paid when the shopper visits that address, once', async () => {
    const url = await issuerOf({ return_url: 'https://shop.example/thanks?a=1&b=2' });
    const page = await (await fetch(url)).text();
    expect(page).toContain('X-1: authorised');
    expect(page).toContain('href="https://shop.example/thanks?a=1&amp;b=2"');
    expect(await status()).toBe('2000');
    await fetch(`${url}&result=declined`);
    expect(await status()).toBe('2000');
    expect(await effects(sandbox.baseUrl)).toEqual([]);
  });

  it('can be declined by the shopper and is captured like any other', async () => {
    await fetch(`${await issuerOf()}&result=declined`);
    expect(await status()).toBe('5000');
    await fetch(await issuerOf());
    const entries = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    const { transaction_id } = entries.find((one) => one.payment_status === '2000') ?? {};
    const { results } = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [
      { ...ORDER, transaction_id },
    ]);
    expect(results[0]?.capture_status).toBe('1');
  });

  it('never links to anything but a web address, and knows no unknown order', async () => {
    const page = await (await fetch(await issuerOf({ return_url: 'javascript:alert(1)' }))).text();
    expect(page).not.toContain('javascript');
    const unknown = `${sandbox.baseUrl}/_sandbox/issuer?account_id=A1001&order_no=no`;
    expect((await fetch(unknown)).status).toBe(404);
  });
});

describe('a notification', () => {
  let shop: Server;
  let received: { url: string | undefined; body: Record<string, string> }[];
  let shopUrl: string;

  beforeEach(async () => {
    received = [];
    shop = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += part;
      received.push({ url: request.url, body: JSON.parse(text) });
      response.end();
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/told`;
  });
  afterEach(() => {
    shop.closeAllConnections();
    shop.close();
  });

  it('tells of a card, of an alternative method and its end, and of a payout', async () => {
    const telling = await startHere({ notify: true });
    const paid = payment(ACCOUNT, { ...ORDER, notify_url: shopUrl });
    await post(`${telling.baseUrl}/v1/authorise`, paid);
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]).toMatchObject({
      url: '/told',
      body: { order_no: 'X-1', order_status: '1', result_info: '0000:Success', amount: '20.00' },
    });
    const apm = { ...ORDER, payment_method: 'bank', notify_url: shopUrl };
    const { text } = await post(
      `${telling.baseUrl}/v1/authorise`,
      signed(ACCOUNT, 'authorise', apm),
    );
    await expect.poll(() => received.length).toBe(2);
    await fetch((element(text, 'issuer_url') ?? '').replaceAll('&amp;', '&'));
    await expect.poll(() => received.length).toBe(3);
    expect(received.slice(1).map(({ body }) => body.result_info)).toEqual([
      '0002:Pending',
      '0000:Success',
    ]);
    const payout = { request_id: 'P-1', payment_currency: 'EUR', payment_amount: '5' };
    const message = signed(ACCOUNT, 'payout', { ...payout, notify_url: shopUrl });
    await post(`${telling.baseUrl}/v1/payout`, message);
    await expect.poll(() => received[3]?.body.status).toBe('COMPLETED');
    await telling.close();
  });

  it('is sent neither unasked nor to another machine', async () => {
    await authorise({ ...ORDER, notify_url: shopUrl });
    const telling = await startHere({ notify: true });
    const far = payment(ACCOUNT, { ...ORDER, notify_url: 'http://192.0.2.1/told' });
    const odd = payment(ACCOUNT, { ...ORDER, notify_url: 'no address' });
    for (const message of [far, odd]) {
      expect((await post(`${telling.baseUrl}/v1/authorise`, message)).status).toBe(200);
    }
    await post(
      `${telling.baseUrl}/v1/authorise`,
      payment(ACCOUNT, { ...ORDER, order_no: 'X-last', notify_url: shopUrl }),
    );
    await expect.poll(() => received.map(({ body }) => body.order_no)).toEqual(['X-last']);
    await telling.close();
  });
});
