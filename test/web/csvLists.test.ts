// Lists of the console as CSV: each file has the rows of its page, written as `tieout report` writes
// them, of the accounts whose reports the person may take; what is cut says so, and who took it is
// recorded.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { addAmounts } from '../../src/core/money.js';
import { BOOK_LINES_MAX, keepBookLines } from '../../src/report/settlement/writtenBooksStore.js';
import { CSV_ROWS_MAX } from '../../src/web/pages/csvLists.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';
import { acquirersFile, take } from './settlementFiles.js';

let console: ConsoleHouse;
let finance: Visitor;
const lines = `/nights/${dateOf(1)}/statement/lines`;

beforeAll(async () => {
  const settlement = { from: dateOf(30) };
  console = await openConsole({
    orders: 400,
    before: async ({ db }) => {
      await db.query(
        `update ledger.orders set amount = amount + 5
         where account_id = 'A1001' and expected = 'captured' and currency = 'EUR'`,
      );
    },
    settings: { settlement, operations: { capture: 'approve', refund: 'auto', cancel: 'auto' } },
  });
  finance = await console.withRole('finance');
  await take(console, 'sandbox.csv', await acquirersFile(console));
}, 120_000);
afterAll(() => console.end());

/** Rows by the keys of their columns; no field of these holds a quote or the end of a line. */
function rowsOf(body: string, separator = ','): Record<string, string>[] {
  const [head = '', ...rest] = body.replace(/^\ufeff/, '').split('\r\n');
  const fields = new RegExp(`("[^"]*"|[^"${separator}]*)(?:${separator}|$)`, 'g');
  const cells = (line: string) =>
    [...line.matchAll(fields)].map(([, field = '']) => field.replace(/^"(.*)"$/s, '$1'));
  const keys = head.split(separator);
  return rest
    .filter((line) => line !== '')
    .map((line) =>
      Object.fromEntries(cells(line).flatMap((cell, at) => (keys[at] ? [[keys[at], cell]] : []))),
    );
}

const csvOf = async (visitor: Visitor, path: string) => {
  const { statusCode, body, headers } = await visitor.get(path);
  expect([path, statusCode]).toEqual([path, 200]);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  return { body, name: String(headers['content-disposition']) };
};

it('the list of breaks has the rows of its filters, by account, and is recorded', async () => {
  const page = (await finance.get('/breaks?account=A1001&sort=order')).body;
  expect(page).toContain('action="/breaks.csv"');
  expect(page).toContain('<input type="hidden" name="account" value="A1001"/>');
  const path = '/breaks.csv?account=A1001&sort=order&separator=%3B&decimal=%2C&bom=yes';
  const { body, name } = await csvOf(finance, path);
  expect(name).toBe('attachment; filename="breaks.csv"');
  expect(body).toMatch(/^\ufeffaccount_id;order_no;break_id;kind;state;/);
  const rows = rowsOf(body, ';');
  const { rows: known } = await console.app.db.query<{ id: string; stake: string | null }>(
    `select break_id::text as id, replace(round(stake, 2)::text, '.', ',') as stake
     from tieout.break_facts where state = 'open' and account_id = 'A1001' and currency <> 'JPY'
     order by order_no, 1`,
  );
  expect(known.length).toBeGreaterThan(50);
  const shown = rows.filter(({ currency }) => currency !== 'JPY' && currency !== '');
  expect(new Map(shown.map(({ break_id: id, stake }) => [id, stake]))).toEqual(
    new Map(known.map(({ id, stake }) => [id, stake ?? ''])),
  );
  expect(rows[0]).toMatchObject({ state: 'open', environment: 'test' });
  expect(rows[0]?.states_as_of).toMatch(/^now \(2/);
  const { rows: trail } = await console.app.db.query(
    `select who, subject, outcome from tieout.console_events where action = 'download list'`,
  );
  const subject = 'breaks: account A1001';
  expect(trail).toEqual([{ who: finance.name, subject, outcome: `${rows.length} rows` }]);
  const other = await console.withRole('finance', 'A1002');
  const theirs = rowsOf((await csvOf(other, '/breaks.csv')).body);
  expect([...new Set(theirs.map((row) => row.account_id))]).toEqual(['A1002']);
  expect((await other.get('/breaks.csv?account=A1001')).statusCode).toBe(400);
  const viewer = await console.withRole('viewer');
  expect((await viewer.get('/breaks')).body).not.toContain('/breaks.csv');
  expect((await viewer.get('/breaks.csv')).statusCode).toBe(403);
  for (const wrong of ['separator=x', 'decimal=;', 'bom=x']) {
    expect((await finance.get(`/breaks.csv?${wrong}`)).statusCode).toBe(400);
  }
});

it('the lines of an item come to its figure, and rows of settlement to theirs', async () => {
  const asked = 'account=A1001&currency=EUR&item=amount_mismatch';
  const page = (await finance.get(`${lines}?${asked}`)).body;
  const [, count = '', captured = ''] =
    /: ([\d,]+) lines? comes? to captured (-?[\d,.]+) EUR/.exec(page) ?? [];
  const { body, name } = await csvOf(finance, `${lines}.csv?${asked}`);
  expect(name).toContain(`statement-${dateOf(1)}-r1-A1001-EUR-amount_mismatch.csv`);
  const rows = rowsOf(body);
  expect(rows.length).toBeGreaterThan(100);
  expect(String(rows.length)).toBe(count.replaceAll(',', ''));
  const sum = rows.reduce((all, row) => addAmounts(all, row.captured ?? ''), '0.00');
  expect(sum).toBe(captured.replaceAll(',', ''));
  expect((await finance.get(`${lines}.csv?${asked}x`)).statusCode).toBe(404);
  const settled = 'account=A1001&currency=EUR&of=settled';
  const shown = (await finance.get(`/settlement/rows?${settled}`)).body;
  expect(shown).toContain('action="/settlement/rows.csv"');
  const said = / (?:row comes|rows come) to (-?[\d.,]+)/.exec(shown)?.[1] ?? '';
  const file = rowsOf((await csvOf(finance, `/settlement/rows.csv?${settled}`)).body);
  const total = file.reduce((all, row) => addAmounts(all, row.amount ?? ''), '0.00');
  expect(total).toBe(said.replaceAll(',', ''));
});

it('what is not settled leads from the statement to its lines, which come to its figure', async () => {
  const { body: page } = await finance.get(`/nights/${dateOf(1)}/statement`);
  const figure = '<td class="figure"[^>]*>([^<]*)</td>';
  const item = new RegExp(
    `<a href="([^"]+/statement/books[^"]+)">[^<]+</a></th>${figure.repeat(3)}`,
    'g',
  );
  const plain = (text = '') => text.replaceAll(',', '').replace('−', '-');
  const items = [...page.matchAll(item)];
  expect(items.length).toBeGreaterThan(2);
  for (const [, to = '', count, captured, refunded] of items) {
    const path = to.replaceAll('&amp;', '&');
    const { body } = await finance.get(path);
    expect(body, path).not.toContain('class="problem"');
    const csv = rowsOf((await csvOf(finance, path.replace('/books?', '/books.csv?'))).body);
    expect([path, String(csv.length)]).toEqual([path, plain(count)]);
    for (const [key, said] of [
      ['captured', captured],
      ['refunded', refunded],
    ] as const) {
      const sum = csv.reduce((all, row) => all + Number(row[key]), 0);
      expect([path, key, sum.toFixed(2)]).toEqual([path, key, Number(plain(said)).toFixed(2)]);
    }
    const [, order = ''] = /href="(\/orders\/[^"]+)"/.exec(body) ?? [];
    expect([order, (await finance.get(order)).statusCode]).toEqual([order, 200]);
  }
  const [, some = ''] = items[0] ?? [];
  const foreign = await console.withRole('finance', some.includes('A1001') ? 'A1002' : 'A1001');
  expect((await foreign.get(some.replaceAll('&amp;', '&'))).statusCode).toBe(404);
  for (const wrong of ['settled', 'x']) {
    const path = some.replaceAll('&amp;', '&').replace(/item=\w+/, `item=${wrong}`);
    expect((await finance.get(path)).statusCode).toBe(404);
  }
});

it('what is cut says so in its name, in the file and in the trail', async () => {
  const { db } = console.app;
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into tieout.written_lines (report_id, account_id, currency, item, line_no, order_no,
         ledger_captured)
       select report_id, 'A1001', 'EUR', 'amount_mismatch', 100000 + n, 'M' || n, 1
       from generate_series(1, $1::int) n, tieout.reports where kind = 'reconciliation'`,
      [CSV_ROWS_MAX],
    );
  });
  const asked = 'account=A1001&currency=EUR&item=amount_mismatch';
  const { body, name } = await csvOf(finance, `${lines}.csv?${asked}`);
  expect(name).toContain('-cut.csv"');
  const cut = /^"CUT: the first 10,000 of 1\d,\d{3} rows"\r\n$/m;
  expect(body).toMatch(cut);
  expect(body.split('\r\n')).toHaveLength(CSV_ROWS_MAX + 3);
  const { rows } = await db.query<{ outcome: string }>(
    `select outcome from tieout.console_events where action = 'download list'
     order by event_id desc limit 1`,
  );
  expect(rows[0]?.outcome).toMatch(/^CUT: the first 10,000 of 1/);
});

it('who may look at more than may be taken reads of which accounts the file is', async () => {
  const mixed = await console.visitor([
    { role: 'viewer', accountId: 'A1001' },
    { role: 'finance', accountId: 'A1002' },
  ]);
  expect((await mixed.get('/breaks')).body).toContain('It is of A1002 alone, and says so.');
  const { body } = await csvOf(mixed, '/breaks.csv');
  expect(body).toMatch(/"PART: of account A1002 alone; [^"]+ may download no others"\r\n$/);
  expect(body).not.toContain('A1001');
  expect((await mixed.get('/breaks?account=A1001')).body).not.toContain('Download as CSV');
  expect((await csvOf(mixed, '/breaks.csv?account=A1002')).body).not.toContain('PART');
  expect((await csvOf(finance, '/breaks.csv')).body).not.toContain('PART');
});

it('an item of more lines than are kept has none of them, and each other item all', async () => {
  const { db } = console.app;
  const of = { accountId: 'A1001', currency: 'XTS' };
  const line = { ...of, lines: 1, orderNo: 'K1', transactionId: null, batch: null, since: null };
  const money = { captured: '1.00', refunded: '0.00', ageDays: null, breakId: null, owner: null };
  const rows = ['in_transit', 'not_settled'].map((item) => ({ ...line, ...money, item }));
  const sums = { captured: 100n, refunded: 0n };
  const bridge = [
    { item: 'in_transit', lines: BOOK_LINES_MAX + 1, ...sums },
    { item: 'not_settled', lines: BOOK_LINES_MAX, ...sums },
  ];
  const books = { from: '2026-01-01', bridge, unexplained: sums, other: [], closing: sums };
  const side = { ...sums, orders: 1 };
  const one = { ...of, ledger: side, gateway: side, items: [], unexplained: sums, books };
  const [report] = (
    await db.query<{ id: bigint }>(
      `select report_id as id from tieout.reports where kind = 'reconciliation'`,
    )
  ).rows;
  async function* chunks() {
    yield rows;
  }
  await db.transaction((tx) => keepBookLines(tx, report?.id ?? 0n, chunks(), [one]));
  const kept = await db.query<{ item: string }>(
    `select item from tieout.written_book_lines where currency = 'XTS'`,
  );
  expect(kept.rows).toEqual([{ item: 'not_settled' }]);
});
