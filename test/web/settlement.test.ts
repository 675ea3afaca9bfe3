// What became of the captured money, as finance reads it on the console: every figure leads to the rows
// that it is the sum of, and nothing of it is there where settlement is not kept.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { packageRoot } from '../../src/database/statements.js';
import { settledAccounts, settlementRules } from '../../src/settlement/settlement.js';
import { settlementFigures } from '../../src/settlement/settlementStore.js';
import { takeSettlement } from '../../src/settlement/takeSettlement.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const MAP = join(packageRoot(), 'docs', 'maps', 'sandbox-settlement.yaml');
const LONG = `${'n'.repeat(100)}${'4'.repeat(28)}`;
const MARKUP = '<img src=x onerror=alert(1)>';

let console: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  const tariff = [
    { accountId: 'A1001', type: 'captured', percent: '1.40', fixed: { EUR: '0.20' } },
  ];
  const settlement = { from: dateOf(30), tariff, files: [{ match: 'sandbox*.csv', map: MAP }] };
  console = await openConsole({ settings: { settlement } });
  finance = await console.withRole('finance');
  await take('sandbox.csv', await acquirersFile());
  await take('odd.csv', oddFile());
});
afterAll(() => console.end());

async function acquirersFile(): Promise<string> {
  const answer = await fetch(`${console.house.sandboxUrl}/_sandbox/settlement?until=${dateOf(0)}`);
  return answer.text();
}

/** A batch of orders with names that no page may stumble over, and one line without any. */
function oddFile(): string {
  const lines = [
    ['1', 'captured', MARKUP, '10.00', '1.00', '9.00'],
    ['2', 'captured', LONG, '10.00', '0.00', '10.00'],
    ['3', 'captured', '', '5.00', '0.00', '5.00'],
  ].map(([line, type, order, amount, fee, net]) =>
    [
      'A1001',
      LONG,
      line,
      type,
      `${dateOf(1)}T10:00:00Z`,
      order,
      '',
      '',
      'EUR',
      amount,
      fee,
      net,
    ].join(),
  );
  return [HEADER, ...lines, ''].join('\n');
}

const HEADER = 'Account,Batch,Line,Type,Booked,Order,Transaction,Reference,Currency,Amount,Fee,Net';

async function take(name: string, text: string): Promise<void> {
  const { db, config } = console.app;
  const rules = settlementRules(config);
  if (rules === null) throw new Error('settlement is not kept');
  const path = join(console.house.folder, name);
  writeFileSync(path, text);
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  const deps = { db, config, rules, accountIds, now: () => new Date() };
  const map = loadColumnMap(MAP, 'settlement');
  const result = await takeSettlement(deps, [path], { map, check: false });
  expect(result, JSON.stringify(result)).toMatchObject({ kind: 'imported', check: false });
}

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
    expect(body).toMatch(/EUR: captured [\d.]+, refunded [\d.]+, settled -?[\d.]+, at the gateway/);
    const links = [...body.matchAll(/href="(\/settlement\/rows\?account=A1001[^"]+)"/g)];
    const seen = new Set<string>();
    for (const [, link = ''] of links) {
      const path = link.replaceAll('&amp;', '&');
      const of = new URL(path, 'http://x').searchParams.get('of') ?? '';
      const currency = new URL(path, 'http://x').searchParams.get('currency') ?? '';
      const page = await finance.get(path);
      expect([path, page.statusCode]).toEqual([path, 200]);
      const said = / (?:row comes|rows come) to (-?[\d.,]+)/.exec(page.body)?.[1] ?? '';
      const { atGateway = [], payable = [] } = book ?? {};
      const row = { ...payable.find((one) => one.currency === currency) } as Record<string, string>;
      const first = { ...atGateway.find((one) => one.currency === currency) };
      const figure = of === 'open' ? first.closing : ({ ...row, ...first }[of] as string);
      expect([path, said.replaceAll(',', '')]).toEqual([path, figure]);
      seen.add(of);
    }
    expect([...seen].sort()).toEqual([
      'captured',
      'chargebacks',
      'fees',
      'gross',
      'open',
      'other',
      'paidOut',
      'refunded',
      'settled',
    ]);
  });

  it('lists what is open by age, with the order of each item', async () => {
    const path = '/settlement/rows?account=A1001&currency=EUR&of=open';
    const { body } = await finance.get(path);
    expect(body).toContain('up to 1 day');
    expect(body).toContain(`/orders/A1001/${LONG}`);
    const old = await finance.get(`${path}&age=${encodeURIComponent('91+')}`);
    expect(old.body).toContain('0 rows come to 0.00 EUR (over 90 days)');
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
    expect((await finance.get('/settlement/A1001/nobody')).statusCode).toBe(404);
  });
});
