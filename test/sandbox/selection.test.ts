// The three ways to name the orders of a query: a list is in server.test.ts; here windows of dates,
// pages of everything, and who may ask at all.

import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { printedDate } from '../../src/sandbox/answers/entries.js';
import { momentOf } from '../../src/sandbox/answers/selection.js';
import { createBook } from '../../src/sandbox/book/book.js';
import { ALWAYS, listingOf } from '../../src/sandbox/book/listing.js';
import { seedOrders } from '../../src/sandbox/seed/seed.js';
import { planSeed } from '../../src/sandbox/seed/seedPlan.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, OTHER_ACCOUNT, SETTINGS, startHere } from './startedSandbox.js';
import { ask, batch, pay, query, signed } from './wireClient.js';

type Entry = Record<string, string>;

/** What the gateway holds for the account, gateway-only orders included, in the sequence of its placing. */
const HELD = [...seedOrders(planSeed(SETTINGS))]
  .flatMap(({ gateway, gatewayOnly }) => [gateway, gatewayOnly].filter((order) => order !== null))
  .filter(({ accountId }) => accountId === ACCOUNT.accountId);
const NUMBERS = HELD.map(({ orderNo }) => orderNo);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startHere();
});
afterAll(() => sandbox.close());

async function allPages(
  selection: Record<string, string>,
  at = sandbox,
  account = ACCOUNT,
): Promise<Entry[][]> {
  const pages: Entry[][] = [];
  for (let no = 1; no < 100; no += 1) {
    const page = await ask(at.baseUrl, account, { ...selection, page_no: String(no) });
    if (page.length === 0) return pages;
    pages.push(page);
  }
  throw new Error('the pages do not end');
}

const numbersOf = (entries: Entry[]): string[] => [
  ...new Set(entries.map(({ order_no }) => order_no ?? '')),
];

describe('a query without order numbers', () => {
  it('shows every order of the account once, in pages of a hundred', async () => {
    const pages = await allPages({});
    expect(pages.slice(0, -1).map((page) => numbersOf(page).length)).toEqual(
      Array.from({ length: pages.length - 1 }, () => 100),
    );
    expect(numbersOf(pages.flat())).toEqual(NUMBERS);
    expect(pages.flatMap(numbersOf)).toHaveLength(NUMBERS.length);
  });

  it('finds what no list could ask for: gateway-only orders', async () => {
    const seeded = [...seedOrders(planSeed(SETTINGS))];
    for (const account of [ACCOUNT, OTHER_ACCOUNT]) {
      const gatewayOnly = seeded
        .map(({ gatewayOnly }) => gatewayOnly)
        .filter((one) => one?.accountId === account.accountId);
      const shown = numbersOf((await allPages({}, sandbox, account)).flat());
      const wanted = gatewayOnly.map((one) => one?.orderNo);
      expect(shown.filter((orderNo) => orderNo.startsWith('PHONE-'))).toEqual(wanted);
    }
    expect(seeded.some(({ gatewayOnly }) => gatewayOnly !== null)).toBe(true);
  });

  it('without a page number shows the newest hundred, newest first', async () => {
    const newest = await ask(sandbox.baseUrl, ACCOUNT, {});
    expect(numbersOf(newest)).toEqual(NUMBERS.toReversed().slice(0, 100));
    const three = await ask(sandbox.baseUrl, ACCOUNT, { page_size: '3' });
    expect(numbersOf(three)).toEqual(NUMBERS.toReversed().slice(0, 3));
  });

  it('keeps its places while money moves and orders come', async () => {
    const own = await startHere();
    const before = numbersOf((await allPages({}, own)).flat());
    const first = await pay(own.baseUrl, ACCOUNT, 'X-1');
    await pay(own.baseUrl, ACCOUNT, 'X-2');
    await pay(own.baseUrl, OTHER_ACCOUNT, 'X-3');
    await pay(own.baseUrl, ACCOUNT, 'X-1');
    await batch(own.baseUrl, ACCOUNT, 'capture', [first]);
    const pages = await allPages({}, own);
    expect(numbersOf(pages.flat())).toEqual([...before, 'X-1', 'X-2']);
    const states = pages.flat().filter(({ order_no }) => order_no === 'X-1');
    expect(states.map(({ payment_status }) => payment_status)).toEqual(['3000', '2000']);
    const [newest] = await ask(own.baseUrl, ACCOUNT, {});
    expect(newest?.order_no).toBe('X-2');
    await own.close();
  });
});

describe('a window', () => {
  const window = (from: string, to: string) => ({ date_from: from, date_to: to });

  it('holds exactly the orders placed in it, the first second included, the last not', async () => {
    const dates = HELD.map(({ transactions }) => printedDate(transactions[0]?.at ?? 0));
    const [from, to] = [dates[40] ?? '', dates[180] ?? ''];
    const wanted = NUMBERS.filter((_, at) => from <= (dates[at] ?? '') && (dates[at] ?? '') < to);
    expect(wanted.length).toBeGreaterThan(100);
    expect(numbersOf((await allPages(window(from, to))).flat())).toEqual(wanted);
    const once = await ask(sandbox.baseUrl, ACCOUNT, window(from, to));
    expect(numbersOf(once)).toEqual(wanted.slice(0, 100));
  });

  it('beside another shares no order with it and leaves none out', async () => {
    const cuts = ['20261020000000', '20261119060000', '20261119120000', '20261119230000'];
    const parts: string[] = [];
    for (const [at, from] of cuts.slice(0, -1).entries()) {
      parts.push(...numbersOf((await allPages(window(from, cuts[at + 1] ?? ''))).flat()));
    }
    expect(parts).toEqual(NUMBERS);
  });

  it('has pages of the size that is asked for', async () => {
    const selection = { ...window('20261119000000', '20261119120000'), page_size: '7' };
    const pages = await allPages(selection);
    expect(pages.slice(0, -1).every((page) => numbersOf(page).length === 7)).toBe(true);
  });

  it('may be open at either end, and be empty', async () => {
    const late = await allPages({ date_from: '20261119200000' });
    const early = await allPages({ date_to: '20261119200000' });
    expect([...numbersOf(early.flat()), ...numbersOf(late.flat())]).toEqual(NUMBERS);
    const none = window('20261119120000', '20261119120000');
    expect(await ask(sandbox.baseUrl, ACCOUNT, none)).toEqual([]);
  });

  it('shows orders that were paid over the wire', async () => {
    const own = await startHere();
    await pay(own.baseUrl, ACCOUNT, 'X-1');
    const inside = window('20261120030000', '20261120030001');
    expect(numbersOf(await ask(own.baseUrl, ACCOUNT, inside))).toEqual(['X-1']);
    const before = window('20261120020000', '20261120030000');
    expect(await ask(own.baseUrl, ACCOUNT, before)).toEqual([]);
    await own.close();
  });

  it.each<[Record<string, string>, string]>([
    [{ date_from: '2026-11-19' }, 'invalid window'],
    [{ date_from: '20261131000000' }, 'invalid window'],
    [{ date_from: '20261119250000' }, 'invalid window'],
    [window('20261119120001', '20261119120000'), 'invalid window'],
    [{ page_no: '0' }, 'page_no begins at 1'],
    [{ page_no: 'x' }, 'page_no begins at 1'],
    [{ page_size: '101' }, 'page_size is 1 to 100'],
    [{ page_size: '0' }, 'page_size is 1 to 100'],
    [{ order_no: '' }, 'no orders named'],
  ])('%j is refused', async (selection, reason) => {
    await expect(ask(sandbox.baseUrl, ACCOUNT, selection)).rejects.toThrow(reason);
  });
});

describe('the listing', () => {
  it('is in time also when the night is longer than its other zones', () => {
    const dayStart = new Date(SETTINGS.dayEnd.getTime() - 10 * 86_400_000);
    const book = createBook(planSeed({ ...SETTINGS, dayStart }));
    const all = listingOf(book, ACCOUNT.accountId, ALWAYS);
    const times = all.slice(0, all.size).map(({ transactions }) => transactions[0]?.at ?? 0);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const middle = times[100] ?? 0;
    const later = listingOf(book, ACCOUNT.accountId, { from: middle, to: Infinity });
    expect(later.size).toBe(times.filter((at) => at >= middle).length);
  });

  it.each([
    ['yyyyMMddHHmmss', 'UTC', '20261119123456', Date.UTC(2026, 10, 19, 12, 34, 56)],
    ['yyyyMMddHHmmss', 'UTC', '00000000000000', null],
    ['yyyyMMddHHmmss', 'UTC', '2026111912345', null],
    [
      'yyyy-MM-dd HH:mm:ss',
      'Asia/Shanghai',
      '2026-11-19 12:34:56',
      Date.UTC(2026, 10, 19, 4, 34, 56),
    ],
    ['yyyy-MM-ddTHH:mm', 'Europe/Madrid', '2026-07-01T00:30', Date.UTC(2026, 5, 30, 22, 30)],
    ['dd.MM.yyyy', 'UTC', '31.02.2026', null],
    ['dd.MM.yyyy', 'UTC', '1.2.2026', null],
    ['yyyyMMddHHmmss', 'Europe/Madrid', '20260329023000', null],
    ['yyyyMMddHHmmss', 'UTC', 20261119123456, null],
  ])('reads a moment of %s in %s as the profile writes it: %s', (format, timezone, text, at) => {
    const { window } = sandboxProfile().query;
    expect(momentOf({ ...window, format, timezone }, text)).toBe(at);
  });
});

describe('a restricted query', () => {
  /** Asks from an address of this machine that is not the usual one. */
  function askFrom(localAddress: string, baseUrl: string): Promise<Record<string, unknown>> {
    const fields = signed(ACCOUNT, 'retrievalTrans', { order_no: 'X-1' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return new Promise((resolve, reject) => {
      const url = `${baseUrl}/v1/retrievalTrans`;
      const request = httpRequest(url, { method: 'POST', localAddress, headers }, (response) => {
        let text = '';
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () => resolve(JSON.parse(text)));
      });
      request.on('error', reject);
      request.end(new URLSearchParams(fields as Record<string, string>).toString());
    });
  }

  // Other systems than Linux have no second address on the loopback by themselves.
  it.skipIf(process.platform !== 'linux')(
    'answers registered addresses and tells others that they are not',
    async () => {
      const restricted = await startHere({ allow: ['127.0.0.1'] });
      await expect(query(restricted.baseUrl, ACCOUNT, ['X-1'])).resolves.toEqual([]);
      expect(await askFrom('127.0.0.2', restricted.baseUrl)).toEqual({
        merchant_id: 'M1001',
        account_id: 'A1001',
        return_status: '0',
        return_message: 'address 127.0.0.2 is not registered',
        orders_list: [],
      });
      expect(await askFrom('127.0.0.2', sandbox.baseUrl)).toMatchObject({ return_status: '1' });
      await restricted.close();
    },
  );

  it('restricts nothing else', async () => {
    const restricted = await startHere({ allow: ['192.0.2.1'] });
    await expect(query(restricted.baseUrl, ACCOUNT, ['X-1'])).rejects.toThrow('not registered');
    const entry = await pay(restricted.baseUrl, ACCOUNT, 'X-1');
    const { results } = await batch(restricted.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(results[0]?.capture_status).toBe('1');
    await restricted.close();
  });
});
