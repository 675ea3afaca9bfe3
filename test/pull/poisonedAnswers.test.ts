// One bad entry harms itself alone: odd values in answers of the gateway, beside good orders of the
// same page. The good ones are captured once, the bad ones are named every night, no page fails.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditRun } from '../faults/audit.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

type Entry = Record<string, unknown>;

/** Nothing that compresses: an index row holds 2,700 bytes. */
const LONG = Array.from({ length: 1_000 }, (_, n) => ((n * 2_654_435_761) >>> 0).toString(36))
  .join('')
  .slice(0, 4_000);

/** What an asked order's entry has in place of its own values, and the break that comes of it. */
const CHANGED: Record<string, [Entry, string]> = {
  'a transaction of 4 KB': [{ transaction_id: LONG }, 'invalid_record'],
  'a transaction with a NUL': [{ transaction_id: 'T\0X' }, 'invalid_record'],
  'half a character': [{ transaction_id: 'T\ud800X' }, 'invalid_record'],
  'a line break in it': [{ transaction_id: 'T\nX' }, 'invalid_record'],
  'a number for it': [{ transaction_id: 12 }, 'invalid_record'],
  '19 digits': [{ amount: '1234567890123456789.00' }, 'invalid_record'],
  '18 digits': [{ amount: '999999999999999999.99' }, 'amount_mismatch'],
  '18 digits again': [{ amount: '999999999999999999.98' }, 'amount_mismatch'],
  'an amount of 100 KB': [{ amount: '9'.repeat(100_000) }, 'invalid_record'],
  'not a number': [{ amount: 'NaN' }, 'invalid_record'],
  'a currency of 100 KB': [{ currency: 'EUR'.repeat(30_000) }, 'currency_mismatch'],
  'a code of 100 KB': [{ payment_status: '2000'.repeat(25_000) }, 'unknown_status'],
};

/** Harmless in a field that nothing is decided by. */
const HARMLESS: Entry[] = [
  { transaction_date: '99999999999999' },
  { transaction_date: '00000101000000' },
  { transaction_date: 'x'.repeat(100_000) },
  { reference_no: LONG.repeat(10) },
  { reference_no: '\0' },
];

/** Entries that nobody asked for. */
const UNASKED: Entry[] = [
  { order_no: LONG },
  { order_no: 'S\0X' },
  { order_no: 'S\ud800X' },
  { order_no: `S\n${'x'.repeat(300)}` },
];

/** What they have besides in the second night, so that each is the first with a new field. */
let besides: Entry = {};

let house: House;
let numbers: string[] = [];
const changed = Object.values(CHANGED);

function spoil(list: Entry[]): Entry[] {
  const spoilt = list.map((entry) => {
    const at = numbers.indexOf(String(entry.order_no));
    const change = changed[at]?.[0] ?? HARMLESS[at - changed.length] ?? {};
    return { ...entry, ...change };
  });
  const like = list.find(({ order_no: orderNo }) => orderNo === numbers[0]);
  return like ? [...spoilt, ...UNASKED.map(unasked(like))] : spoilt;
}

function unasked(like: Entry) {
  return (entry: Entry, at: number): Entry => {
    const own = Object.entries(besides).map(([name, value]) => [`${name}${at}`, value]);
    return { ...Object.fromEntries(own), ...like, ...entry };
  };
}

async function spoilingFront(target: string) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'POST',
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      body: Buffer.concat(parts),
    });
    let text = await answer.text();
    if (request.url?.endsWith('/v1/retrievalTrans')) {
      const page = JSON.parse(text) as { orders_list: Entry[] };
      text = JSON.stringify({ ...page, orders_list: spoil(page.orders_list) });
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

beforeAll(async () => {
  house = await buildHouse({
    orders: 6000,
    seed: 9,
    daysAgo: 2,
    // So many entries of one account that a change of them is told.
    inLedger: kinds({ capture_due: 24 }, 'A1001'),
    through: spoilingFront,
  });
  numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '');
}, 60_000);
afterAll(() => house.end());

it.each([2, 1])(
  'every page is read, the good are captured once, the bad are named: %d days ago',
  async (daysAgo) => {
    besides = daysAgo === 1 ? { beside_: 'x' } : {};
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    expect(summary.state).toBe('broken');
    // An order that cannot be named is no example of a field that is new.
    const samples = (summary.drift ?? []).flatMap(({ changes }) =>
      changes.map(({ path, samples: [sample] }) => [path, sample?.orderNo]),
    );
    const paths = UNASKED.map((_, at) => [`orders_list[].beside_${at}`, null]);
    expect(samples).toEqual(daysAgo === 1 ? paths : []);
    expect(summary.pull.failedPages).toBe(0);
    await expectIdentities(house.db, summary);
    const { rows } = await house.db.query<{ order_no: string; kind: string; size: bigint }>(
      `select order_no, kind, length(actual::text) as size from tieout.breaks where state = 'open'`,
    );
    const kindOf = new Map(rows.map((row) => [row.order_no, row.kind]));
    for (const [at, [name, [, kind]]] of Object.entries(CHANGED).entries()) {
      expect(kindOf.get(numbers[at] ?? ''), name).toBe(kind);
    }
    for (const { size } of rows) expect(Number(size)).toBeLessThan(1_000);
    // The gateway-only orders, each in a bounded form, invalid by name.
    const gatewayOnly = rows.filter((row) => !numbers.includes(row.order_no));
    expect(gatewayOnly.map(({ kind }) => kind)).toEqual(UNASKED.map(() => 'invalid_record'));
    for (const row of gatewayOnly) expect(row.order_no.length).toBeLessThan(60);
    const effects = await house.effects();
    const good = numbers.slice(changed.length).sort();
    expect(effects.map(({ order_no: orderNo }) => orderNo).sort()).toEqual(good);
    expect(await auditRun(house.db, effects)).toEqual([]);
  },
  90_000,
);
