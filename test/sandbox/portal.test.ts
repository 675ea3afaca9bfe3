// The portal: money moved by hand, behind the back of whoever works over the wire.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, startHere } from './startedSandbox.js';
import { batch, effects, pay, payment, post, postJson, query } from './wireClient.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startHere();
});
afterEach(() => sandbox.close());

async function act(action: string, fields: Record<string, unknown>) {
  const message = { account_id: ACCOUNT.accountId, ...fields };
  const answer = await postJson(`${sandbox.baseUrl}/_sandbox/portal/${action}`, message);
  return { status: answer.status, ...((await answer.json()) as Record<string, string>) };
}

async function page(query = ''): Promise<string> {
  return (await fetch(`${sandbox.baseUrl}/_sandbox/portal${query}`)).text();
}

describe('the portal', () => {
  it('captures and refunds by hand, and marks what it did', async () => {
    const { transaction_id, order_no } = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const ids = { transaction_id, order_no };
    expect(await act('capture', ids)).toMatchObject({ kind: 'done', state: 'captured' });
    expect(await act('refund', { ...ids, refund_amount: '5.00' })).toMatchObject({
      state: 'partially_refunded',
    });
    expect(await act('refund', ids)).toMatchObject({ state: 'refunded' });
    const moved = await effects(sandbox.baseUrl);
    expect(moved.map((one) => [one.operation, one.amount ?? one.refund_amount])).toEqual([
      ['capture', '20.00'],
      ['refund', '5.00'],
      ['refund', '15.00'],
    ]);
    expect(moved.every(({ request }) => request?.startsWith('portal.'))).toBe(true);
  });

  it('cancels by hand what the wire can then no longer capture', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const { transaction_id, order_no } = entry;
    expect(await act('cancel', { transaction_id, order_no })).toMatchObject({ state: 'cancelled' });
    const { results } = await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(results[0]?.capture_status).toBe('0');
    expect(await act('capture', { transaction_id, order_no })).toEqual({
      status: 409,
      kind: 'refused',
      reason: 'E1004:the transaction is not authorised',
    });
  });

  it.each([
    ['an unknown order', { order_no: 'X-2', transaction_id: 'T' }],
    ['another account', { account_id: 'A1002' }],
  ])('refuses %s', async (_name, change) => {
    const { transaction_id, order_no } = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    expect(await act('capture', { transaction_id, order_no, ...change })).toMatchObject({
      status: 409,
      reason: 'E1001:no such transaction',
    });
  });

  it('is a page with a button for each thing that can be done', async () => {
    const { transaction_id } = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const html = await page();
    expect(html).toMatch(/^<!doctype html>/);
    const row = html.split('<tr>').find((one) => one.includes(transaction_id)) ?? '';
    expect(row).toContain('action="/_sandbox/portal/capture"');
    expect(row).toContain('action="/_sandbox/portal/cancel"');
    expect(row).not.toContain('action="/_sandbox/portal/refund"');
    expect(row).toContain('411111******1111');
    expect(await page('?order_no=X-1')).toContain(transaction_id);
    expect(await page('?order_no=nothing')).not.toContain(transaction_id);
  });

  it('pages through everything, newest first', async () => {
    const numbers = async (no: number) =>
      [...(await page(`?account_id=A1001&page=${no}`)).matchAll(/<tr><td>(SO-[^<]*)/g)].map(
        ([, orderNo]) => orderNo,
      );
    const [first, second] = [await numbers(1), await numbers(2)];
    expect(new Set([...first, ...second]).size).toBe(new Set(first).size + new Set(second).size);
    expect(first[0] && second[0] && first[0] > second[0]).toBe(true);
  });

  it('takes its own form and goes back to the page', async () => {
    const { transaction_id, order_no } = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const body = new URLSearchParams({ account_id: 'A1001', order_no, transaction_id });
    const url = `${sandbox.baseUrl}/_sandbox/portal/capture`;
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    expect(answer.status).toBe(303);
    const back = await (await fetch(new URL(answer.headers.get('location') ?? '', url))).text();
    expect(back).toContain('X-1: captured');
    const [shown] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(shown?.payment_status).toBe('3000');
  });

  it('refuses a form of another site', async () => {
    const url = `${sandbox.baseUrl}/_sandbox/portal/capture`;
    const { transaction_id, order_no } = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const body = new URLSearchParams({ account_id: 'A1001', order_no, transaction_id });
    const headers = { origin: 'http://evil.example' };
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(403);
    expect(await effects(sandbox.baseUrl)).toEqual([]);
  });

  it('shows nothing of an order as markup', async () => {
    const order = { order_no: '<b>"1\'', amount: '20.00', currency: 'EUR' };
    await post(`${sandbox.baseUrl}/v1/authorise`, payment(ACCOUNT, order));
    const html = await page(`?note=${encodeURIComponent('<i>')}`);
    expect(html).toContain('&lt;b&gt;&quot;1&#39;');
    expect(html).not.toMatch(/<b>|<i>/);
  });
});
