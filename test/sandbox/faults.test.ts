// Each fault over real HTTP: what the caller sees, and whether the money moved all the same.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultAction } from '../../src/sandbox/faults/faults.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, startHere } from './startedSandbox.js';
import {
  ask,
  batch,
  effects,
  element,
  pay,
  payment,
  post,
  query,
  signed,
  type WireEntry,
} from './wireClient.js';

let fault: FaultAction | null = null;
let faulty: Sandbox;
beforeAll(async () => {
  faulty = await startHere({ fault: () => fault });
});
afterAll(() => faulty.close());

/** Does the work without faults, then one thing with one. */
async function under<T>(action: FaultAction, work: () => Promise<T>): Promise<T> {
  fault = action;
  try {
    return await work();
  } finally {
    fault = null;
  }
}

let orders = 0;
async function paid(count: number): Promise<WireEntry[]> {
  const entries: WireEntry[] = [];
  for (let made = 0; made < count; made += 1) {
    orders += 1;
    entries.push(await pay(faulty.baseUrl, ACCOUNT, `X-${orders}`));
  }
  return entries;
}

async function isCaptured({ order_no }: WireEntry): Promise<boolean> {
  return (await query(faulty.baseUrl, ACCOUNT, [order_no]))[0]?.payment_status === '3000';
}

const capture = (entries: WireEntry[]) => batch(faulty.baseUrl, ACCOUNT, 'capture', entries);

describe('a fault that takes the answer', () => {
  it.each<[FaultAction, boolean, RegExp]>([
    [{ kind: 'drop', when: 'before' }, false, /fetch failed|terminated/],
    [{ kind: 'drop', when: 'after' }, true, /fetch failed|terminated/],
    [{ kind: 'drop', when: 'before', how: 'fin' }, false, /fetch failed|terminated/],
    [{ kind: 'drop', when: 'after', how: 'fin' }, true, /fetch failed|terminated/],
    [{ kind: 'status', status: 502, when: 'before' }, false, /JSON/],
    [{ kind: 'status', status: 502, when: 'after' }, true, /JSON/],
    [{ kind: 'html' }, true, /JSON/],
    [{ kind: 'truncate' }, true, /fetch failed|terminated/],
  ])('%j; effect: %s', async (action, effect, problem) => {
    const [entry] = (await paid(1)) as [WireEntry];
    await expect(under(action, () => capture([entry]))).rejects.toThrow(problem);
    expect(await isCaptured(entry)).toBe(effect);
  });

  it('resets where it says reset and ends in good order where it says fin', async () => {
    const codes: unknown[] = [];
    for (const how of ['rst', 'fin'] as const) {
      const failed = under({ kind: 'drop', when: 'before', how }, () => capture([]));
      const error = (await failed.catch((one: unknown) => one)) as { cause?: { code?: string } };
      codes.push(error.cause?.code);
    }
    expect(codes).toEqual(['ECONNRESET', 'UND_ERR_SOCKET']);
  });

  it('half does the first half of a batch', async () => {
    const entries = await paid(5);
    await expect(under({ kind: 'half' }, () => capture(entries))).rejects.toThrow();
    const done = await Promise.all(entries.map(isCaptured));
    expect(done).toEqual([true, true, false, false, false]);
  });

  it.each(['drop', 'status'] as const)('late by %s moves the money afterwards', async (answer) => {
    const [entry] = (await paid(1)) as [WireEntry];
    const late: FaultAction = { kind: 'late', ms: 150, answer };
    await expect(under(late, () => capture([entry]))).rejects.toThrow();
    expect(await isCaptured(entry)).toBe(false);
    await expect.poll(() => isCaptured(entry)).toBe(true);
  });

  it('late never comes when the sandbox has ended before', async () => {
    const short = await startHere({
      fault: ({ operation }) =>
        operation === 'capture' ? { kind: 'late', ms: 600_000, answer: 'drop' } : null,
    });
    const entry = await pay(short.baseUrl, ACCOUNT, 'X-1');
    await expect(batch(short.baseUrl, ACCOUNT, 'capture', [entry])).rejects.toThrow();
    await short.close();
  });

  it('drips an answer that never ends until the caller goes', async () => {
    const [entry] = (await paid(1)) as [WireEntry];
    const message = signed(ACCOUNT, 'capture', { capture_orders: [entry] });
    const leave = new AbortController();
    const answer = await under({ kind: 'drip' }, () =>
      fetch(`${faulty.baseUrl}/v1/capture`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: leave.signal,
      }),
    );
    const reader = answer.body?.getReader();
    for (let parts = 0; parts < 5; parts += 1) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      expect([
        done,
        Buffer.from(value ?? [])
          .toString()
          .trim(),
      ]).toEqual([false, '']);
    }
    leave.abort();
    expect(await isCaptured(entry)).toBe(true);
  });

  it('slow gives the whole answer in the end', async () => {
    const [entry] = (await paid(1)) as [WireEntry];
    const { results } = await under({ kind: 'slow', ms: 30 }, () => capture([entry]));
    expect(results[0]?.capture_status).toBe('1');
  });

  it('redirects a caller that follows to where it never should have gone', async () => {
    let visits = 0;
    const elsewhere = createServer((_request, response) => {
      visits += 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    const [entry] = (await paid(1)) as [WireEntry];
    const away: FaultAction = { kind: 'redirect', status: 307, when: 'before', location };
    await under(away, () => capture([entry]));
    expect(visits).toBe(1);
    expect(await isCaptured(entry)).toBe(false);
    elsewhere.closeAllConnections();
    elsewhere.close();
  });
});

describe('a fault that lies about a batch', () => {
  it.each<[FaultAction['kind'], string[]]>([
    ['entry_missing', ['20.00']],
    ['entry_twice', ['20.00', '20.00', '20.00']],
    ['wrong_amount', ['209.00', '20.00']],
  ])('%s changes only what the caller sees', async (kind, amounts) => {
    const entries = await paid(2);
    const { results } = await under({ kind } as FaultAction, () => capture(entries));
    expect(results.map((result) => result.amount)).toEqual(amounts);
    expect(await Promise.all(entries.map(isCaptured))).toEqual([true, true]);
  });

  async function answered(kind: FaultAction['kind']) {
    const entries = await paid(3);
    const reply = await under({ kind } as FaultAction, () => capture(entries));
    expect(await Promise.all(entries.map(isCaptured))).toEqual([true, true, true]);
    return { reply, numbers: entries.map((one) => one.order_no), entries };
  }

  it('entries_swapped gives the first two the ids of each other', async () => {
    const { reply, entries } = await answered('entries_swapped');
    const ids = reply.results.map(({ order_no, transaction_id }) => [order_no, transaction_id]);
    const [first, second, third] = entries.map((one) => [one.order_no, one.transaction_id]);
    expect(ids).toEqual([second, first, third]);
  });

  it('entries_reordered and entry_foreign change which entries there are, and where', async () => {
    const reordered = await answered('entries_reordered');
    expect(reordered.reply.results.map((one) => one.order_no)).toEqual(
      reordered.numbers.toReversed(),
    );
    const foreign = await answered('entry_foreign');
    expect(foreign.reply.results.map((one) => one.order_no)).toEqual([
      ...foreign.numbers,
      'NOBODY-1',
    ]);
  });

  it('wrong_currency, unknown_code and wrong_signature each change one thing', async () => {
    const currency = await answered('wrong_currency');
    expect(currency.reply.results.map((one) => one.currency)).toEqual(['XTS', 'EUR', 'EUR']);
    const code = await answered('unknown_code');
    expect(code.reply.results.map((one) => one.capture_status)).toEqual(['8888', '1', '1']);
    const signature = await answered('wrong_signature');
    expect(signature.reply.encryption_data).toBe('0'.repeat(64));
    const account = await answered('wrong_account');
    expect(account.reply).toMatchObject({ account_id: 'NOBODY', return_status: '1' });
  });

  it('refused_with_effect says no to what it did', async () => {
    const { reply } = await answered('refused_with_effect');
    expect(reply).toMatchObject({ return_status: '0', results: [] });
  });
});

describe('a fault of a query', () => {
  it('unknown_code shows a status that nobody knows', async () => {
    const [entry] = (await paid(1)) as [WireEntry];
    const page = await under({ kind: 'unknown_code' }, () =>
      query(faulty.baseUrl, ACCOUNT, [entry.order_no]),
    );
    expect(page[0]).toMatchObject({ payment_status: '8888', fraud_check_result: [{}, {}] });
  });

  it('page_repeated shows the page before again', async () => {
    const first = await ask(faulty.baseUrl, ACCOUNT, { page_no: '1' });
    const second = await under({ kind: 'page_repeated' }, () =>
      ask(faulty.baseUrl, ACCOUNT, { page_no: '2' }),
    );
    expect(second).toEqual(first);
  });

  it('page_shifted loses the order between two pages', async () => {
    const size = { page_size: '10' };
    const first = await ask(faulty.baseUrl, ACCOUNT, { ...size, page_no: '1' });
    const second = await ask(faulty.baseUrl, ACCOUNT, { ...size, page_no: '2' });
    const shifted = await under({ kind: 'page_shifted' }, () =>
      ask(faulty.baseUrl, ACCOUNT, { ...size, page_no: '2' }),
    );
    const lost = second[0]?.order_no;
    const seen = [...first, ...shifted].map((one) => one.order_no);
    expect(seen).not.toContain(lost);
    expect(seen).toContain(second.at(-1)?.order_no);
  });
});

describe('a fault of a payment or payout', () => {
  it('changes amount, code and signature of an XML answer', async () => {
    const message = payment(ACCOUNT, { order_no: 'Y-1', amount: '20.00', currency: 'EUR' });
    const answer = async (kind: FaultAction['kind']): Promise<string> =>
      (await under({ kind } as FaultAction, () => post(`${faulty.baseUrl}/v1/authorise`, message)))
        .text;
    expect(element(await answer('wrong_amount'), 'amount')).toBe('209.00');
    expect(element(await answer('unknown_code'), 'order_status')).toBe('8888');
    expect(element(await answer('wrong_signature'), 'encryption_data')).toBe('0'.repeat(64));
    expect(element(await answer('refused_with_effect'), 'result_info')).toBe('9999:Failed');
  });

  it('loses the answer of a payout that was made', async () => {
    const request = { request_id: 'P-1', payment_currency: 'EUR', payment_amount: '5' };
    const message = signed(ACCOUNT, 'payout', request);
    const lost = under({ kind: 'drop', when: 'after' }, () =>
      post(`${faulty.baseUrl}/v1/payout`, message),
    );
    await expect(lost).rejects.toThrow();
    const moved = await effects(faulty.baseUrl);
    expect(moved.filter((one) => one.order_no === 'P-1')).toHaveLength(1);
    const { text } = await under({ kind: 'unknown_code' }, () =>
      post(`${faulty.baseUrl}/v1/payout`, message),
    );
    expect(JSON.parse(text).status).toBe('8888');
  });
});
