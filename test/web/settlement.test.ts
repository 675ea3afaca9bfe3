// What became of the captured money, as finance reads it on the console: every figure leads to the rows
// that it is the sum of, and nothing of it is there where settlement is not kept.

import { createHash } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settledAccounts, settlementRules } from '../../src/settlement/settlement.js';
import { settlementFigures } from '../../src/settlement/settlementStore.js';
import { CHROMIUM, findings, launch, openTab } from '../support/chromium.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';
import {
  acquirersFile,
  batchFile,
  bring,
  LONG,
  lastRows,
  MAP,
  MARKUP,
  oddFile,
  secondPress,
  take,
} from './settlementFiles.js';

let console: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  const tariff = [
    { accountId: 'A1001', type: 'captured', percent: '1.40', fixed: { EUR: '0.20' } },
  ];
  const settlement = { from: dateOf(30), tariff, files: [{ match: 'sandbox*.csv', map: MAP }] };
  console = await openConsole({ settings: { settlement } });
  finance = await console.withRole('finance');
  await take(console, 'sandbox.csv', await acquirersFile(console));
  await take(console, 'odd.csv', oddFile());
});
afterAll(() => console.end());

describe('the page of settlement', () => {
  it('says the sentences of the command line, and every figure leads to rows that come to it', async () => {
    const { db, config } = console.app;
    const rules = settlementRules(config);
    if (rules === null) throw new Error('settlement is not kept');
    const accounts = await settledAccounts(db, rules, ['A1001'], null);
    const { accounts: books } = await settlementFigures(db, accounts, rules.times);
    const [book] = books;
    const { body, statusCode } = await finance.get('/settlement');
    expect(statusCode).toBe(200);
    expect(body).toMatch(
      /EUR: captured [\d.,]+, refunded [\d.,]+, settled -?[\d.,]+, at the gateway/,
    );
    const links = [...body.matchAll(/href="(\/settlement\/rows\?account=A1001[^"]+)"/g)];
    const seen = new Set<string>();
    for (const [, link = ''] of links) {
      const path = link.replaceAll('&amp;', '&');
      const of = new URL(path, 'http://x').searchParams.get('of') ?? '';
      const currency = new URL(path, 'http://x').searchParams.get('currency') ?? '';
      const page = await finance.get(path);
      expect([path, page.statusCode]).toEqual([path, 200]);
      seen.add(of);
      if (of === 'suspense') {
        const count = book?.atGateway.find((one) => one.currency === currency)?.suspense;
        expect(page.body).toMatch(new RegExp(`Account A1001: ${count} rows? in ${currency}`));
        expect((await lastRows(finance, path)).length).toBe(count);
        continue;
      }
      const said = / (?:row comes|rows come) to (-?[\d.,]+)/.exec(page.body)?.[1] ?? '';
      const { atGateway = [], payable = [] } = book ?? {};
      const row = { ...payable.find((one) => one.currency === currency) } as Record<string, string>;
      const first = { ...atGateway.find((one) => one.currency === currency) };
      const figure = of === 'open' ? first.closing : ({ ...row, ...first }[of] as string);
      const shown = currency === 'JPY' ? figure?.replace(/\.00$/, '') : figure;
      expect([path, said.replaceAll(',', '')]).toEqual([path, shown]);
    }
    const ofGateway = ['captured', 'open', 'refunded', 'settled', 'suspense'];
    const others = ['chargebacks', 'fees', 'gross', 'other', 'paidOut'];
    expect([...seen].sort()).toEqual([...ofGateway, ...others].sort());
  });

  it('lists what is open by age, with the order of each item', async () => {
    const path = '/settlement/rows?account=A1001&currency=EUR&of=open';
    const { body } = await finance.get(path);
    expect(body).toContain('A row is a capture or refund without a settlement line, or');
    expect(body).toContain('up to 1 day');
    expect(body).toContain(`/orders/A1001/${LONG}`);
    const old = await finance.get(`${path}&age=${encodeURIComponent('91+')}`);
    expect(old.body).toContain('0 rows come to 0.00 EUR (over 90 days)');
  });

  const amountOf = (text = ''): number => Number(text.replaceAll(',', ''));

  it('puts batches in the order of each head', async () => {
    const { body } = await finance.get('/settlement?sort=lines');
    expect(body).toMatch(
      /aria-sort="descending"><a class="by" href="[^"]*sort=lines#batches">Lines/,
    );
    const newest = await lastRows(finance, '/settlement');
    expect(newest.length).toBeGreaterThan(10);
    const orders: [string, (a: string[], b: string[]) => number][] = [
      ['batch', ([a = ''], [b = '']) => a.localeCompare(b, 'en', { numeric: true })],
      ['account', ([, a = ''], [, b = '']) => a.localeCompare(b)],
      ['state', ([, , a = ''], [, , b = '']) => a.localeCompare(b)],
      ['lines', (a, b) => amountOf(b[3]) - amountOf(a[3])],
      [
        'payout',
        (a, b) => (a[5] ?? '').localeCompare(b[5] ?? '') || amountOf(b[4]) - amountOf(a[4]),
      ],
    ];
    for (const [sort, order] of orders) {
      const found = await lastRows(finance, `/settlement?sort=${sort}`);
      expect([sort, found]).toEqual([sort, found.toSorted(order)]);
      if (!['account', 'state'].includes(sort)) expect(found, sort).not.toEqual(newest);
    }
  });

  it('puts what is open by its amount, whichever way the money goes', async () => {
    const path = '/settlement/rows?account=A1001&currency=EUR&of=open';
    const oldest = await lastRows(finance, path);
    expect(oldest.map(([on]) => on)).toEqual(oldest.map(([on]) => on).sort());
    const sizes = (await lastRows(finance, `${path}&sort=amount`)).map((row) =>
      Math.abs(amountOf(row[5])),
    );
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(sizes).not.toEqual(oldest.map((row) => Math.abs(amountOf(row[5]))));
  });

  it.each(['of=none', 'of=open&account=A9', 'of=open&currency=EURO', ''])(
    'knows no other list: %s',
    async (query) => {
      const given = new URLSearchParams({ account: 'A1001', currency: 'EUR' });
      for (const [name, value] of new URLSearchParams(query)) given.set(name, value);
      expect((await finance.get(`/settlement/rows?${given}`)).statusCode).toBe(404);
    },
  );
});

describe("a batch's page", () => {
  it('has the orders that its lines settle, the fee beside the agreed one, and its file', async () => {
    const { rows } = await console.app.db.query<{ batch: string; sha256: string }>(
      `select batch, sha256 from tieout.settlement_batches b
       join tieout.settlement_files using (file_id)
       where account_id = 'A1001' and currency = 'EUR' and batch <> $1
       order by b.lines desc limit 1`,
      [LONG],
    );
    const { body } = await finance.get(
      `/settlement/A1001/${encodeURIComponent(rows[0]?.batch ?? '')}`,
    );
    expect(body).toContain(rows[0]?.sha256);
    expect(body).toContain('sandbox.csv');
    expect(body).toMatch(/<a href="\/orders\/A1001\/[^"]+">[^<]+<\/a><span class="hint"> of /);
    // Its gross is that of the lines that are paid out, not what the payout line leaves of it.
    const money = await console.app.db.query<{ gross: string; fees: string; payout: string }>(
      `select to_char(sum(gross) filter (where type <> 'payout'), 'FM999,990.00') as gross,
         to_char(sum(fee), 'FM999,990.00') as fees,
         to_char(-sum(net) filter (where type = 'payout'), 'FM999,990.00') as payout
       from tieout.settlement_lines
       where account_id = 'A1001' and settle_currency = 'EUR' and batch = $1`,
      [rows[0]?.batch],
    );
    const { gross = '', fees = '', payout = '' } = money.rows[0] ?? {};
    const figures = [...body.matchAll(/class="figure" data-name="(?:Gross|Fees|Payout)">([^<]*)/g)];
    expect(figures.slice(0, 3).map(([, figure]) => figure)).toEqual([gross, fees, payout]);
    expect(body).toContain('fee variance');
    expect(body).toContain('class="differs"');
  });

  it('escapes what stands in it, holds long names, and leads to its breaks and back', async () => {
    const path = `/settlement/A1001/${LONG}`;
    const { body } = await finance.get(path);
    expect(body).not.toContain('<img');
    expect(body).toContain('&lt;img src=x onerror=alert(1)>');
    expect(body).toContain('settled unknown');
    const ids = [...body.matchAll(/href="(\/breaks\/\d+)"/g)].map(([, link = '']) => link);
    expect(ids.length).toBeGreaterThanOrEqual(3);
    for (const link of ids) {
      const page = await finance.get(link);
      expect([link, page.statusCode]).toEqual([link, 200]);
      expect(page.body).toContain('<th scope="col">Acquirer</th>');
    }
    const listed = await finance.get('/breaks?kind=settled_unknown');
    expect(listed.statusCode).toBe(200);
    expect(listed.body).toContain(`href="${path}"`);
  });

  it('is not there for whoever may not see the account, nor one that nobody knows', async () => {
    const other = await console.withRole('finance', 'A1002');
    expect((await other.get(`/settlement/A1001/${LONG}`)).statusCode).toBe(404);
    expect((await other.get('/settlement')).body).not.toContain(LONG);
    const own = await console.withRole('finance', 'A1001');
    expect((await own.get(`/settlement/A1001/${LONG}`)).body).not.toContain('>Holds<');
    expect((await finance.get(`/settlement/A1001/${LONG}`)).body).toContain('>Holds<');
    expect((await finance.get('/settlement/A1001/nobody')).statusCode).toBe(404);
  });
});

const upload = (...given: [Visitor, string, string, Record<string, string>?]) =>
  bring(console, ...given);

async function batchesNamed(batch: string): Promise<number> {
  const { rows } = await console.app.db.query<{ n: bigint }>(
    'select count(*) as n from tieout.settlement_batches where batch = $1',
    [batch],
  );
  return Number(rows[0]?.n);
}

const uploads = () => join(console.app.config.dataDir, 'uploads');

describe('a file by way of the browser', () => {
  it('is checked first, and a second press takes exactly these bytes, once', async () => {
    const text = batchFile('UP-1');
    const sent = await upload(finance, 'sandbox 1.csv', text);
    expect(sent.statusCode).toBe(303);
    const digest = createHash('sha256').update(text).digest('hex');
    expect(sent.headers.location).toBe(`/settlement/check?sha256=${digest}&map=0`);
    const [place = ''] = readdirSync(uploads());
    expect(statSync(join(uploads(), place)).mode & 0o77).toBe(0);
    const checked = await finance.get(String(sent.headers.location));
    expect(checked.body).toContain('Checked, nothing was taken yet: new lines 1');
    expect(checked.body).toContain('captured 1: 9.61');
    expect(await batchesNamed('UP-1')).toBe(0);
    const fields = secondPress(checked.body);
    const both = await Promise.all([
      finance.post('/settlement/import', fields),
      finance.post('/settlement/import', fields),
    ]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect(both.map(({ body }) => body).join()).toContain('Taken: new lines 1');
    expect(await batchesNamed('UP-1')).toBe(1);
    expect(readdirSync(uploads())).toEqual([]);
    const { rows } = await console.app.db.query(
      `select who, subject, outcome from tieout.console_events where action = 'import settlement'`,
    );
    expect(rows).toEqual([
      { who: finance.name, subject: `sandbox 1.csv ${digest}`, outcome: '1 lines' },
    ]);
  });

  it('is refused whole, with line, column, value and reason', async () => {
    const sent = await upload(finance, 'sandbox.csv', batchFile(MARKUP, { net: '9.99' }));
    const { body } = await finance.get(String(sent.headers.location));
    expect(body).toContain('Refused, nothing was taken');
    expect(body).toMatch(/<td [^>]*>2<\/td><td [^>]*>\w+<\/td><td [^>]*>[\d.]+<\/td>/);
    expect(body).not.toContain('<img');
    expect(secondPress(body)).toEqual({});
  });

  it.each([
    ['a name that no map is for', 'november.csv', '', '/settlement'],
    ['a name that is no CSV', 'sandbox.xlsx', '', '/settlement'],
    ['a map that is not there', 'sandbox.csv', '7', '/settlement'],
    ['a map that was chosen', 'november.csv', '0', '/settlement/check'],
    ['a path for a name', '../../sandbox/../x.csv', '0', '/settlement'],
  ])('%s', async (_what, name, map, place) => {
    const sent = await upload(finance, name, batchFile('UP-2'), { map });
    expect([sent.statusCode, String(sent.headers.location).split('?')[0]]).toEqual([303, place]);
  });

  it('takes no lines of accounts that the person has no part in', async () => {
    const other = await console.withRole('finance', 'A1002');
    const sent = await upload(other, 'sandbox.csv', batchFile('UP-3'));
    const { body } = await other.get(String(sent.headers.location));
    expect(body).toContain('is no account of the configuration');
  });

  it('is gone after an hour, with another map, another person, or another file', async () => {
    const first = String(
      (await upload(finance, 'sandbox.csv', batchFile('UP-4'))).headers.location,
    );
    const fields = secondPress((await finance.get(first)).body);
    const other = await console.withRole('finance');
    expect((await other.get(first)).statusCode).toBe(409);
    expect((await other.post('/settlement/import', fields)).statusCode).toBe(409);
    const seen = 'f'.repeat(64);
    const changed = await finance.post('/settlement/import', { ...fields, seen });
    expect([changed.statusCode, changed.body]).toEqual([409, expect.stringContaining('The map')]);
    const [place = ''] = readdirSync(uploads());
    writeFileSync(join(uploads(), place, 'sandbox.csv'), batchFile('UP-5'));
    expect((await finance.post('/settlement/import', fields)).statusCode).toBe(409);
    await upload(finance, 'sandbox.csv', batchFile('UP-6'));
    expect((await finance.get(first)).statusCode).toBe(409);
    const { now } = console.clock;
    console.clock.now = new Date(now.getTime() + 3_700_000);
    const later = await console.withRole('finance');
    await upload(later, 'sandbox.csv', batchFile('UP-6'));
    expect(readdirSync(uploads())).toEqual([expect.stringMatching(/^\d+-[0-9a-f]{64}$/)]);
    console.clock.now = now;
    for (const batch of ['UP-4', 'UP-5', 'UP-6']) expect(await batchesNamed(batch)).toBe(0);
  });

  it('asks for the password first, and comes back to what was checked', async () => {
    const { now } = console.clock;
    const stale = await console.withRole('finance');
    console.clock.now = new Date(now.getTime() + 11 * 60_000);
    const location = String(
      (await upload(stale, 'sandbox.csv', batchFile('UP-7'))).headers.location,
    );
    const { body } = await stale.get(location);
    expect(body).toContain('Password, to take it');
    const host = 'localhost:80';
    const referer = `http://${host}${location}`;
    const asked = await stale.post('/settlement/import', secondPress(body), { host, referer });
    expect(asked.headers.location).toBe(`/confirm?next=${encodeURIComponent(location)}`);
    console.clock.now = now;
    expect(await batchesNamed('UP-7')).toBe(0);
  });

  it('is not read of whoever may not bring one, and never beyond its limit', async () => {
    const large = 'x'.repeat(17_000_000);
    const viewer = await console.withRole('viewer');
    expect((await upload(viewer, 'sandbox.csv', large)).statusCode).toBe(403);
    expect((await upload(console.signedOut(), 'sandbox.csv', large)).statusCode).toBe(303);
    expect((await upload(finance, 'sandbox.csv', large)).statusCode).toBe(413);
    expect((await upload(finance, 'sandbox.csv', '')).headers.location).toBe('/settlement');
    expect((await upload(finance, 'sandbox.csv', 'x', { _csrf: 'x' })).statusCode).toBe(403);
  });
});

describe.skipIf(CHROMIUM === null)('in a browser', () => {
  it('a bad file and a good one, without barriers, in wide and narrow windows', async () => {
    const base = await console.server.listen({ host: '127.0.0.1', port: 0 });
    const browser = await launch();
    const session = finance.cookies['tieout-session'] ?? '';
    const { page, complaints } = await openTab(browser, { base, session });
    await page.setViewportSize({ width: 1440, height: 900 });
    const found: string[] = [];
    const look = async (name: string): Promise<void> => {
      const { light, dark } = await findings(page);
      found.push(...[...light, ...dark].map((one) => `${name} ${one}`));
    };
    const check = async (text: string): Promise<void> => {
      await page.goto('/settlement');
      const buffer = Buffer.from(text);
      const file = { name: 'sandbox.csv', mimeType: 'text/csv', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('button', { name: 'Check it' }).click();
      await page.getByRole('heading', { level: 1, name: 'File sandbox.csv' }).waitFor();
    };
    await check(batchFile(LONG.replace('n', 'b'), { net: '1.00' }));
    expect(await page.locator('p.problem').innerText()).toContain('Refused, nothing was taken');
    await look('refused');
    await check(batchFile('BROWSER'));
    await look('checked');
    await page.getByRole('button', { name: 'Take it' }).click();
    await page.getByText('Taken: new lines 1').waitFor();
    await look('taken');
    await page.getByRole('link', { name: 'BROWSER' }).click();
    await page.getByRole('heading', { level: 1, name: 'Batch BROWSER' }).waitFor();
    const { rows } = await console.app.db.query<{ batch: string }>(
      `select batch from tieout.settlement_lines where account_id = 'A1001'
       group by batch order by count(*) desc limit 1`,
    );
    const lines = `/nights/${dateOf(1)}/statement/books?account=A1001&currency=EUR&item=in_transit`;
    expect((await finance.get(lines)).body).toContain('Captured, not settled');
    for (const path of [
      ...['/settlement', `/settlement/A1001/${LONG}`, '/breaks?kind=settled_unknown'],
      ...['/settlement/rows?account=A1001&currency=EUR&of=open', '/audit', lines],
      `/settlement/A1001/${rows[0]?.batch}`,
    ]) {
      await page.goto(path);
      await look(path);
    }
    expect([...found, ...complaints]).toEqual([]);
    await browser.close();
  }, 300_000);
});
