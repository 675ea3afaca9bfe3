// The sandbox on the wire, asked as the interface document of the gateway shows it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/core/orders/order.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { responseSignatureOf } from '../../src/gateway/wire/sign.js';
import { shopperOf } from '../../src/sandbox/seed/people.js';
import { type SeededOrder, seedOrders } from '../../src/sandbox/seed/seed.js';
import { planSeed } from '../../src/sandbox/seed/seedPlan.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, OTHER_ACCOUNT, SETTINGS, startHere } from './startedSandbox.js';
import { batch, effects, pay, payment, postJson, query, signed } from './wireClient.js';

let sandbox: Sandbox;

/** The first order of a planted kind, with the account that it belongs to. */
function planted(kind: string): SeededOrder {
  for (const order of seedOrders(planSeed(SETTINGS))) if (order.kind === kind) return order;
  throw new Error(`no ${kind}`);
}

function accountOf(order: SeededOrder) {
  return order.ledger.account_id === ACCOUNT.accountId ? ACCOUNT : OTHER_ACCOUNT;
}

async function stateOf(orderNo: string): Promise<string | undefined> {
  const [entry] = await query(sandbox.baseUrl, ACCOUNT, [orderNo]);
  return entry?.payment_status;
}

beforeEach(async () => {
  sandbox = await startHere();
});
afterEach(() => sandbox.close());

describe('a query', () => {
  it('answers a whole page with every field of the document', async () => {
    const orders = [...seedOrders(planSeed(SETTINGS))].filter(
      ({ gateway }) => gateway?.accountId === ACCOUNT.accountId,
    );
    const hundred = orders.slice(0, 100).map(({ ledger }) => ledger.order_no);
    const entries = await query(sandbox.baseUrl, ACCOUNT, hundred);
    expect(new Set(entries.map((entry) => entry.order_no))).toEqual(
      new Set([...hundred, ...entries.map((e) => e.order_no).filter((no) => no?.startsWith('P'))]),
    );
    expect(Object.keys(entries[0] ?? {}).sort()).toEqual(
      [
        ...['amount', 'currency', 'delivery_information', 'antifraud_provider'],
        ...['fraud_check_result', 'is3ds', 'order_no', 'payment_status', 'query_result'],
        ...['reference_no', 'shopper_email', 'shopper_phone', 'subscription_result'],
        ...['transaction_date', 'transaction_id', 'the service'],
      ].sort(),
    );
    expect(entries[0]?.transaction_date).toMatch(/^2026\d{10}$/);
  });

  it('shows a seeded order and one that was paid over the wire in the same shape', async () => {
    const order = planted('capture_due');
    const account = accountOf(order);
    await pay(sandbox.baseUrl, account, 'X-1');
    const [seeded, paid] = await query(sandbox.baseUrl, account, [order.ledger.order_no, 'X-1']);
    const shapeOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shapeOf);
      if (value === null || typeof value !== 'object') return typeof value;
      return Object.entries(value).map(([name, part]) => [name, shapeOf(part)]);
    };
    expect(shapeOf(paid)).toEqual(shapeOf(seeded));
  });

  it('speaks UTF-8: the shoppers of a page have names of three languages', async () => {
    const orders = [...seedOrders(planSeed(SETTINGS))].slice(0, 100);
    const entries = await query(
      sandbox.baseUrl,
      ACCOUNT,
      orders.map(({ ledger }) => ledger.order_no),
    );
    const text = JSON.stringify(entries);
    for (const letters of [/[äöüß]/, /[çéèê]/, /[łąęż]/]) expect(text).toMatch(letters);
    expect(text).not.toMatch(/[\u0080-\u009f\ufffd]/);
    for (const entry of entries) {
      const who = shopperOf(entry.order_no ?? '');
      expect(entry).toMatchObject({
        shopper_email: who.email,
        shopper_phone: who.phone,
        delivery_information: {
          delivery_address: who.street,
          delivery_city: who.city,
          delivery_country: who.country,
          delivery_firstname: who.firstName,
          delivery_lastname: who.lastName,
          delivery_postal_code: who.postalCode,
          delivery_state: who.state,
        },
      });
    }
  });

  it.each([
    ['capture_due', ['2000']],
    ['review_accept_due', ['1500']],
    ['unknown_status', ['7777']],
    ['dead_attempts', ['5000', '4000', '3000']],
    ['refund_mismatch', ['6000']],
    ['pending_old', ['1000']],
    ['missing_at_gateway', []],
  ])('shows a planted %s as %j', async (kind, codes) => {
    const order = planted(kind);
    const entries = await query(sandbox.baseUrl, accountOf(order), [order.ledger.order_no]);
    expect(entries.map((entry) => entry.payment_status)).toEqual(codes);
  });

  it('brings along an order that nobody asked for', async () => {
    const order = planted('stranger');
    const entries = await query(sandbox.baseUrl, accountOf(order), [order.ledger.order_no]);
    expect(entries.map((entry) => entry.order_no)).toEqual([
      order.ledger.order_no,
      order.gatewayOnly?.orderNo,
    ]);
  });

  it('answers 100 orders and refuses 101, none, and who is not known by signature', async () => {
    const names = Array.from({ length: 101 }, (_, number) => `X-${number}`);
    await expect(query(sandbox.baseUrl, ACCOUNT, names.slice(1))).resolves.toEqual([]);
    await expect(query(sandbox.baseUrl, ACCOUNT, names)).rejects.toThrow('too many orders');
    await expect(query(sandbox.baseUrl, ACCOUNT, [])).rejects.toThrow('no orders named');
    const forged = { ...ACCOUNT, signingKey: 'guessed' };
    await expect(query(sandbox.baseUrl, forged, ['X'])).rejects.toThrow('wrong signature');
    const unknown = { ...ACCOUNT, accountId: 'A9' };
    await expect(query(sandbox.baseUrl, unknown, ['X'])).rejects.toThrow('unknown account');
  });
});

describe('the operations', () => {
  it('captures what is authorised, once', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    expect(await stateOf('X-1')).toBe('2000');
    const first = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(first.return_status).toBe('1');
    expect(first.results).toEqual([{ ...entry, capture_status: '1', error_message: '' }]);
    expect(await stateOf('X-1')).toBe('3000');
    const again = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(again.results).toEqual([
      { ...entry, capture_status: '0', error_message: 'E1004:the transaction is not authorised' },
    ]);
    expect(await effects(sandbox.baseUrl)).toHaveLength(1);
  });

  it('captures a part and shows the captured amount', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    await batch(sandbox.baseUrl, ACCOUNT, 'capture', [{ ...entry, amount: '12.50' }]);
    const [shown] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(shown).toMatchObject({ amount: '12.50', payment_status: '3000' });
  });

  it('cancels what is authorised and never captures it afterwards', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const reply = await batch(sandbox.baseUrl, ACCOUNT, 'cancel', [entry]);
    expect(reply.results).toEqual([{ ...entry, cancel_status: '1', error_message: '' }]);
    expect(await stateOf('X-1')).toBe('4000');
    const late = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(late.results[0]?.capture_status).toBe('0');
  });

  it.each([
    ['review_accept_due', '1', '2000'],
    ['review_reject_due', '2', '5000'],
  ])('decides a planted %s with flag %s', async (kind, flag, after) => {
    const order = planted(kind);
    const account = accountOf(order);
    const shown = (await query(sandbox.baseUrl, account, [order.ledger.order_no]))[0];
    const { transaction_id, order_no, currency, amount } = shown ?? {};
    const entry = { transaction_id, order_no, currency, amount, review_flag: flag };
    const reply = await batch(sandbox.baseUrl, account, 'review', [entry]);
    expect(reply.results).toEqual([{ ...entry, review_status: '1', error_message: '' }]);
    const [now] = await query(sandbox.baseUrl, account, [order.ledger.order_no]);
    expect(now?.payment_status).toBe(after);
  });

  it('refunds in parts as often as it is asked, and never more than was captured', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    const part = { ...entry, refund_amount: '8.00', refund_reason: 'late' };
    const twice = await batch(sandbox.baseUrl, ACCOUNT, 'refund', [part, part]);
    expect(twice.results[0]).toEqual({
      ...part,
      refund_message: 'V0000:OK',
      refund_reference: `R${entry.transaction_id}`,
      refund_reference_id: `${entry.transaction_id}-01`,
      refund_status: '1',
    });
    expect(twice.results[1]?.refund_reference_id).toBe(`${entry.transaction_id}-02`);
    expect(await stateOf('X-1')).toBe('6000');
    const third = await batch(sandbox.baseUrl, ACCOUNT, 'refund', [part]);
    expect(third.results[0]).toMatchObject({
      refund_status: '0',
      refund_message: 'E2001:more than was captured',
      refund_reference_id: '',
    });
    const over = await batch(sandbox.baseUrl, ACCOUNT, 'refund', [
      { ...part, refund_amount: '4.01' },
    ]);
    expect(over.results[0]?.refund_status).toBe('0');
    await batch(sandbox.baseUrl, ACCOUNT, 'refund', [{ ...part, refund_amount: '4.00' }]);
    expect(await stateOf('X-1')).toBe('6500');
    const moved = (await effects(sandbox.baseUrl)).filter((one) => one.operation === 'refund');
    expect(moved.map((one) => one.refund_amount)).toEqual(['8.00', '8.00', '4.00']);
  });

  it.each<[string, object, string]>([
    ['another order number', { order_no: 'X-2' }, 'E1001'],
    ['another transaction', { transaction_id: 'T1' }, 'E1001'],
    ['another currency', { currency: 'USD' }, 'E1002'],
    ['an amount of another shape', { amount: '20' }, 'E1003'],
    ['a negative amount', { amount: '-20.00' }, 'E1003'],
    ['nothing', { amount: '0.00' }, 'E1003'],
    ['more than was authorised', { amount: '20.01' }, 'E1005'],
  ])('refuses a capture that names %s, and moves nothing', async (_name, change, code) => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const sent = { ...entry, ...change };
    const { results } = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [sent]);
    expect(results[0]?.capture_status).toBe('0');
    expect(results[0]?.error_message).toMatch(new RegExp(`^${code}:`));
    expect(await effects(sandbox.baseUrl)).toEqual([]);
  });

  it('keeps two accounts apart, also where order numbers are equal', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1', '20.00');
    await pay(sandbox.baseUrl, OTHER_ACCOUNT, 'X-1', '30.00');
    const { results } = await batch(sandbox.baseUrl, OTHER_ACCOUNT, 'capture', [entry]);
    expect(results[0]?.error_message).toContain('no such transaction');
    expect(await query(sandbox.baseUrl, OTHER_ACCOUNT, ['X-1'])).toMatchObject([
      { amount: '30.00' },
    ]);
  });

  it.each<[Operation, number]>([
    ['capture', 50],
    ['cancel', 50],
    ['refund', 50],
    ['review', 100],
  ])('takes a %s of %i orders and refuses one more', async (operation, most) => {
    const entry = { transaction_id: 'T', order_no: 'X', currency: 'EUR', amount: '1.00' };
    const full = await batch(sandbox.baseUrl, ACCOUNT, operation, Array(most).fill(entry));
    expect(full.return_status).toBe('1');
    expect(full.results).toHaveLength(most);
    const over = await batch(sandbox.baseUrl, ACCOUNT, operation, Array(most + 1).fill(entry));
    expect(over).toMatchObject({ return_status: '0', return_message: 'too many orders' });
    expect(over.results).toEqual([]);
  });

  it('signs its answers and believes no signature but the account own', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const forged = { ...ACCOUNT, signingKey: OTHER_ACCOUNT.signingKey };
    const refused = await batch(sandbox.baseUrl, forged, 'capture', [entry]);
    expect(refused).toMatchObject({ return_status: '0', return_message: 'wrong signature' });
    expect(await effects(sandbox.baseUrl)).toEqual([]);
    const reply = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    const said = { merchant_id: 'M1001', account_id: ACCOUNT.accountId, return_status: '1' };
    const { signing } = sandboxProfile();
    expect(reply.encryption_data).toBe(
      responseSignatureOf(signing, 'capture', ACCOUNT.signingKey, said),
    );
  });

  it('finds a signed amount that was changed on the way', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const message = signed(ACCOUNT, 'capture', { capture_orders: [entry] });
    const changed = { ...message, capture_orders: [{ ...entry, amount: '2.00' }] };
    const answer = await postJson(`${sandbox.baseUrl}/v1/capture`, changed);
    expect(await answer.json()).toMatchObject({ return_message: 'wrong signature' });
  });

  it.each(['application/json', 'application/x-www-form-urlencoded'])(
    'reads JSON sent as %s',
    async (contentType) => {
      const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
      const message = signed(ACCOUNT, 'capture', { capture_orders: [entry] });
      await postJson(`${sandbox.baseUrl}/v1/capture`, message, contentType);
      expect(await stateOf('X-1')).toBe('3000');
    },
  );

  it('reads a batch sent as a form', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const { capture_orders: _, ...rest } = signed(ACCOUNT, 'capture', { capture_orders: [entry] });
    const body = new URLSearchParams(rest as Record<string, string>);
    for (const [name, value] of Object.entries(entry)) {
      body.append(`capture_orders[0][${name}]`, value);
    }
    await fetch(`${sandbox.baseUrl}/v1/capture`, { method: 'POST', body });
    expect(await stateOf('X-1')).toBe('3000');
  });

  it.each([
    ['no object', [1]],
    ['a number as amount', [{ amount: 1 }]],
    ['no array', 'x'],
  ])('refuses entries that are %s as a whole', async (_name, entries) => {
    const message = signed(ACCOUNT, 'capture', { capture_orders: entries });
    const answer = await postJson(`${sandbox.baseUrl}/v1/capture`, message);
    expect(await answer.json()).toMatchObject({ return_message: 'invalid entries' });
  });

  it('names each receipt by itself and by the hash of its body', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    const refund = { ...entry, refund_amount: '5.00', refund_reason: '' };
    await batch(sandbox.baseUrl, ACCOUNT, 'refund', [refund]);
    await batch(sandbox.baseUrl, ACCOUNT, 'refund', [refund]);
    const [capture, first, second] = await effects(sandbox.baseUrl);
    expect(Object.keys(capture ?? {})).toEqual([
      ...['at', 'operation', 'account_id', 'order_no', 'transaction_id', 'amount', 'request'],
    ]);
    const hash = (request = ''): string | undefined => request.split('.')[1];
    expect(first?.request).not.toBe(second?.request);
    expect(hash(first?.request)).toBe(hash(second?.request));
    expect(hash(first?.request)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a payment', () => {
  it('answers as XML with the card masked, and keeps nothing of the card', async () => {
    const message = payment(ACCOUNT, { order_no: 'X&1', amount: '20.00', currency: 'EUR' });
    const answer = await postJson(`${sandbox.baseUrl}/v1/authorise`, message);
    const xml = await answer.text();
    expect(xml).toContain('<order_no>X&amp;1</order_no>');
    expect(xml).toContain('<result_info>0000:Success</result_info>');
    expect(xml).toContain('<card>411111******1111</card>');
    const held = await (await fetch(`${sandbox.baseUrl}/_sandbox/orders`)).text();
    expect(held).toContain('X&1');
    expect(held).not.toContain('4111111111111111');
  });

  it('paid again is a second transaction of the same order', async () => {
    const first = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const second = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    expect(first.transaction_id).not.toBe(second.transaction_id);
    expect(await query(sandbox.baseUrl, ACCOUNT, ['X-1'])).toHaveLength(2);
  });

  it.each([
    ['without a card', { card: undefined }, 400],
    ['of nothing', { amount: '0.00' }, 400],
    ['in no currency', { currency: 'Euro' }, 400],
    ['with a comma in the number', { order_no: 'X,1' }, 400],
    ['of an unknown account', { account_id: 'A9' }, 404],
  ])('%s is refused', async (_name, change, status) => {
    const fields = { order_no: 'X-1', amount: '20.00', currency: 'EUR', ...change };
    const answer = await postJson(`${sandbox.baseUrl}/v1/authorise`, payment(ACCOUNT, fields));
    expect(answer.status).toBe(status);
    expect(await query(sandbox.baseUrl, ACCOUNT, ['X-1'])).toEqual([]);
  });
});

describe('the server', () => {
  it('refuses a body that is too large', async () => {
    const body = 'x'.repeat(5 * 1024 * 1024);
    const answer = await fetch(`${sandbox.baseUrl}/v1/capture`, { method: 'POST', body });
    expect(answer.status).toBe(413);
  });

  it.each([
    ['GET', '/v1/capture', 405],
    ['POST', '/v1/nothing', 404],
    ['GET', '/_sandbox/nothing', 404],
  ])('answers %s %s with %i', async (method, path, status) => {
    expect((await fetch(`${sandbox.baseUrl}${path}`, { method })).status).toBe(status);
  });

  it('lists everything it holds', async () => {
    await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const text = await (await fetch(`${sandbox.baseUrl}/_sandbox/orders`)).text();
    const lines = text.trimEnd().split('\n');
    const seeded = [...seedOrders(planSeed(SETTINGS))].flatMap(({ gateway, gatewayOnly }) =>
      [gateway, gatewayOnly].filter((order) => order !== null),
    );
    expect(lines).toHaveLength(seeded.length + 1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      order_no: 'X-1',
      transactions: [{ amount: '20.00', state: 'authorised', refunded: '0.00' }],
    });
  });
});
