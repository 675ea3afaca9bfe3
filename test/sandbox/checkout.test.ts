// The hosted payment page: the form that submits itself, and the page at its other end.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, startHere } from './startedSandbox.js';
import { type Fields, post, query, signed } from './wireClient.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startHere();
});
afterEach(() => sandbox.close());

const ORDER = { order_no: 'X-1', amount: '20.00', currency: 'EUR' };
const REQUEST = {
  ...ORDER,
  shipping: '4.90',
  items: 'a#,#b#,#c#,#d;e#,#f#,#g#,#h',
  shopper_email: '"><script>alert(1)</script>',
  notify_url: 'http://127.0.0.1:1/n',
  return_url: 'https://shop.example/back?a=1&b=2',
  cancel_url: 'https://shop.example/cancelled',
  note: "it's\nten \\ percent",
};

function checkout(fields: Fields): Promise<{ status: number; text: string }> {
  return post(`${sandbox.baseUrl}/v1/checkout`, signed(ACCOUNT, 'checkout', fields));
}

/** All inputs of a page, those that its script writes included. */
function inputsOf(html: string): Map<string, string> {
  const found = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  return new Map([...found].map(([, name = '', value = '']) => [name, decoded(value)]));
}

function decoded(value: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return value.replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
    code === undefined ? (named[name ?? ''] ?? '') : String.fromCodePoint(Number(code)),
  );
}

describe('a hosted page session', () => {
  it('is a form that submits itself with all inputs of the document', async () => {
    const { status, text } = await checkout(REQUEST);
    expect(status).toBe(200);
    expect(text).toMatch(/<body onload="document\.forms\[0\]\.submit\(\)"><form method="POST"/);
    const markup = text.replace(/<script>.*?<\/script>/s, '');
    expect([...inputsOf(markup).keys()]).toEqual([
      ...['gbc_id', 'connector_code', 'account_name', 'webSite', 'pm_id', 'apm_type'],
      ...['descriptor', 'orderprefix', 'rrtimezone', 'ordernumlength', 'sendbgoods'],
      ...['replacename', 'send_bank_website', 'replace_up_id', 'replace_match_address'],
      'to_pass_page',
    ]);
  });

  it('echoes the request by its own names and by those of the document', async () => {
    const inputs = inputsOf((await checkout(REQUEST)).text);
    expect(Object.fromEntries(inputs)).toMatchObject({
      ...{ merNo: 'M1001', gatewayNo: 'A1001', orderNo: 'X-1', orderAmount: '20.00' },
      ...{ orderCurrency: 'EUR', shipFee: '4.90', goodsInfo: REQUEST.items },
      ...{ returnUrl: REQUEST.return_url, return_url: REQUEST.return_url },
      ...{ cancelUrl: REQUEST.cancel_url, cancel_url: REQUEST.cancel_url },
      ...{ notifyUrl: REQUEST.notify_url, order_no: 'X-1', shopperEmail: REQUEST.shopper_email },
    });
    for (const name of [
      ...['signInfo', 'defaultLang', 'isOpen3D', 'source_request_ip', 'verifyBillingAddress'],
      'merSendLogoNo',
    ]) {
      expect(inputs.has(name), name).toBe(true);
    }
    const all = Object.fromEntries(new URLSearchParams(inputs.get('allParams')));
    expect(all).toMatchObject(REQUEST);
  });

  it('lets nothing of the request out of its quotes', async () => {
    const { text } = await checkout(REQUEST);
    expect(text.match(/<script>/g)).toHaveLength(1);
    const script = /<script>(.*)<\/script>/s.exec(text)?.[1] ?? '';
    expect(script.replace(/document\.write\('[^'\\\n]*'\);/g, '')).toBe('');
  });

  it('ends on a page where the shopper pays', async () => {
    const { text } = await checkout(REQUEST);
    const action = /<form method="POST" action="([^"]*)"/.exec(text)?.[1] ?? '';
    const inputs = Object.fromEntries(inputsOf(text));
    const press = async (choice: Record<string, string>): Promise<string> => {
      const body = new URLSearchParams({ ...inputs, ...choice });
      return (await fetch(action, { method: 'POST', body })).text();
    };
    expect(await press({})).toContain('<button>Pay with the test card</button>');
    expect(await query(sandbox.baseUrl, ACCOUNT, ['X-1'])).toEqual([]);
    expect(await press({ choice: 'decline' })).toContain('declined');
    const paid = await press({ choice: 'pay' });
    expect(paid).toContain('href="https://shop.example/back?a=1&amp;b=2"');
    const entries = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(entries.map((entry) => entry.payment_status)).toEqual(['5000', '2000']);
  });

  it('does not let the shopper change what was signed', async () => {
    const inputs = inputsOf((await checkout(REQUEST)).text);
    const cheaper = inputs.get('allParams')?.replace('20.00', '2.00') ?? '';
    const body = new URLSearchParams({ allParams: cheaper, choice: 'pay' });
    const answer = await fetch(`${sandbox.baseUrl}/_sandbox/hosted`, { method: 'POST', body });
    expect(answer.status).toBe(400);
  });

  it.each<[string, Fields, number, string]>([
    ['without an amount', { amount: undefined }, 400, 'Invalid input'],
    ['of an unknown account', { account_id: 'A9' }, 404, 'Record not found'],
  ])('%s is refused', async (_name, change, status, text) => {
    expect(await checkout({ ...REQUEST, ...change })).toEqual({ status, text });
  });

  it('with a signature of its own making is refused', async () => {
    const message = { ...signed(ACCOUNT, 'checkout', REQUEST), amount: '1.00' };
    const answer = await post(`${sandbox.baseUrl}/v1/checkout`, message);
    expect(answer).toEqual({ status: 400, text: 'Invalid input' });
  });
});
