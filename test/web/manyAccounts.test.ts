// A console of very many accounts: the night, the statement, what one press signs and the settlement
// are rows of a table, what is wrong first, each leading to its account alone; of few accounts all
// stands there.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const ACCOUNTS = 24;
const date = dateOf(1);
const url = `/nights/${date}/statement`;
const close = `/days/all/close?date=${date}`;
const IDS = Array.from({ length: ACCOUNTS }, (_, at) => `A${1001 + at}`);

let house: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  house = await openConsole({
    ...{ accounts: ACCOUNTS, orders: 400 },
    settings: { settlement: { from: dateOf(30) } },
  });
  finance = await house.withRole('finance');
}, 180_000);
afterAll(() => house.end());

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'");
const rowsOf = (body: string): string[] =>
  [...body.matchAll(/<tr[^>]*><th scope="row"[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    textOf(row),
  );

async function owned(sql: string, values: unknown[] = []): Promise<void> {
  await house.house.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(sql, values);
  });
}

it('has a row for each statement, those with unexplained money first, each leading to its own', async () => {
  await owned(
    `update tieout.statements set unexplained_captured = 3
     where account_id = 'A1020' and currency = 'EUR'`,
  );
  const { body } = await finance.get(url);
  const rows = rowsOf(body);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows[0]).toMatch(
    /^ ?A1020 EUR .* captured .* refunded 3\.00 captured 0\.00 refunded not yet/,
  );
  expect(rows[1]).toContain('A1001');
  expect(body).not.toContain('From the ledger to the gateway');
  expect(body).toContain(`<a href="${url}?account=A1020">A1020</a>`);
  // Its head has no line for each account.
  const [head = ''] = /<ul class="signing".*?<\/ul>/s.exec(body) ?? [];
  expect(textOf(head)).toContain(
    '1 account: this day cannot be signed yet: A1020 ( the statement leaves money',
  );
  expect(head).toContain(`${url}?account=A1020`);
  expect(textOf(head)).toContain('23 accounts: this day can be signed: A1001, A1002');
  expect(textOf(head)).toContain('and 18 more.');
  const own = (await finance.get(`${url}?account=A1020`)).body;
  expect(own).toContain('From the ledger to the gateway: A1020 EUR');
  expect(own).toContain('Unexplained money in A1020 EUR: do not sign.');
  expect(own).not.toContain('A1019');
});

it('names a few accounts of a person who has many, and how many more', async () => {
  const grants = IDS.slice(1).map((accountId) => ({ role: 'finance' as const, accountId }));
  await house.visitor(grants, 'each');
  const { body } = await finance.get('/breaks');
  expect(body).toContain('>each (only A1002, A1003, A1004, A1005, A1006 and 18 more)<');
  const settings = (await (await house.withRole('admin')).get('/settings')).body;
  expect(settings).toContain('finance of A1002, A1003, A1004 and 20 more');
  const here = { cwd: house.house.folder };
  const close = ['days', 'close', date, '--account', 'A9', '--check'];
  const { stderr } = await tieoutHere(close, here);
  expect(stderr).toContain('(A1001, A1002, A1003, A1004, A1005 and 19 more)');
  await owned(`delete from tieout.user_roles where account_id is not null`);
});

it('names nothing of other accounts, and says of one that cannot be chosen that nothing matches', async () => {
  const few = await house.visitor([
    { role: 'finance', accountId: 'A1003' },
    { role: 'finance', accountId: 'A1004' },
  ]);
  const { body } = await few.get(url);
  expect(body).toContain('From the ledger to the gateway: A1003');
  expect(body).not.toContain('A1001');
  const other = (await few.get(`${url}?account=A1020`)).body;
  expect(other).toContain('no account to choose here');
  expect(other).not.toContain('From the ledger to the gateway');
  expect((await few.get(close)).body).not.toContain('A1020');
});

it('is signed by one press near the head, with a row for each account', async () => {
  const { body } = await finance.get(close);
  expect(body.indexOf('<button type="submit" class="main"')).toBeLessThan(body.indexOf('<table'));
  const rows = rowsOf(body);
  expect(rows).toHaveLength(ACCOUNTS);
  expect(rows[0]).toMatch(/A1020 leaves it: it cannot be signed yet .*money unexplained/);
  expect(textOf(body)).toContain('for 23 accounts: A1001, A1002, A1003, A1004, A1005 and 18 more.');
  expect(body).not.toContain('class="checklist"');
  for (const id of IDS) expect(body).toContain(`/days/${id}/${date}`);
});

it('names the accounts that changed since what one press would sign was shown', async () => {
  const fields = (body: string) => ({
    seen: /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '',
    marks: /name="marks" value="([0-9a-f]+)"/.exec(body)?.[1] ?? '',
    words: 'month end',
  });
  const seen = fields((await finance.get(close)).body);
  await owned(
    `update tieout.breaks set state = 'resolved' where break_id in (
       select min(break_id) from tieout.breaks
       where account_id in ('A1004', 'A1005') and state = 'open' group by account_id)`,
  );
  const refused = await finance.post(close, seen);
  expect(refused.statusCode).toBe(409);
  expect(textOf(refused.body)).toContain('nothing was signed. Changed: A1004, A1005.');
  // The press reads the ledger once for all of them, as the page does, and not once for each.
  const { db } = house.house;
  await db.query('alter table ledger.orders rename to orders_kept');
  await db.query('create sequence asked');
  await db.query(
    `create view ledger.orders as select * from ledger.orders_kept where nextval('asked') > 0`,
  );
  const read = async (work: () => Promise<{ body: string }>) => {
    await db.query(`select setval('asked', 1)`);
    const { body } = await work();
    const { rows } = await db.query<{ n: bigint }>(`select nextval('asked') as n`);
    return { body, rows: Number(rows[0]?.n) };
  };
  const page = await read(() => finance.get(close));
  const done = await read(() => finance.post(close, fields(page.body)));
  expect(done.body).toContain('23 of 23 done');
  expect(page.rows).toBeGreaterThan(300);
  expect(done.rows).toBeLessThan(page.rows * 1.5);
  await db.query('drop view ledger.orders');
  await db.query('alter table ledger.orders_kept rename to orders');
  const after = textOf((await finance.get(url)).body);
  expect(after).toContain('23 accounts: this day is prepared; a review is still to come');
});

it('has the settlement by sentences and rows, what is late first, and each account by itself', async () => {
  const { body } = await finance.get('/settlement');
  expect(textOf(body)).toMatch(/EUR: captured [\d,.]+, refunded/);
  const table = /<caption>Books by account.*?<\/table>/s.exec(body)?.[0] ?? '';
  const late = rowsOf(table).map((row) => Number(/ (\d+) ?$/.exec(row)?.[1]) > 0);
  expect(late.length).toBeGreaterThan(20);
  expect(late).toEqual(late.toSorted((a, b) => Number(b) - Number(a)));
  expect(body).toContain('<option value="A1024">');
  expect(body).not.toContain('At the gateway, A1001');
  const own = (await finance.get('/settlement?account=A1002')).body;
  expect(own).toContain('At the gateway, A1002');
  expect(own).not.toContain('A1003');
  const few = await house.withRole('finance', 'A1004');
  expect((await few.get('/settlement')).body).toContain('At the gateway, A1004');
  const other = (await few.get('/settlement?account=A1001')).body;
  expect(other).toContain('no account to choose here');
});

it('has the days of one account for who chooses it', async () => {
  const all = (await finance.get('/days')).body;
  expect(all).toContain('<option value="A1024">');
  expect((await finance.get('/approvals')).body).toContain('<option value="A1024">');
  const own = (await finance.get('/days?account=A1003')).body;
  expect(own).toContain(`/days/A1003/${date}`);
  expect(own).toMatch(/<option[^>]*selected[^>]*>A1003</);
  expect(own).not.toContain(`/days/A1001/${date}`);
  expect(own).toMatch(/href="\/days\?account=A1003&amp;until=[\d-]+">Older days/);
  const few = await house.withRole('finance', 'A1004');
  expect((await few.get('/days')).body).not.toContain('<option value="A1004">');
  expect((await few.get('/days?account=A1001')).body).toContain('no account to choose here');
});

it('has a day of more rows than a page on several, in the order that was chosen', async () => {
  await owned(
    `insert into tieout.day_sums
     select a, $1, 'C' || n, 'capture', false, n, 1
     from unnest($2::text[]) as a, generate_series(10, 17) as n`,
    [date, IDS],
  );
  const seen: string[] = [];
  let at = `/days?until=${date}&sort=captured`;
  for (let page = 1; at !== ''; page += 1) {
    const { body } = await finance.get(at);
    const [table = ''] = /<caption[^>]*>Business days.*?<\/table>/s.exec(body) ?? [];
    const rows = rowsOf(table);
    expect(rows.length).toBeLessThanOrEqual(100);
    seen.push(...rows.filter((row) => / C1\d /.test(row)));
    expect(body).toContain(`Page ${page} of`);
    const [, next = ''] = /<a href="([^"]*)">Next page/.exec(body) ?? [];
    at = next.replaceAll('&amp;', '&');
  }
  expect(new Set(seen).size).toBe(ACCOUNTS * 8);
  expect(seen).toEqual(seen.toSorted((a, b) => currencyOf(a).localeCompare(currencyOf(b))));
  await owned(`delete from tieout.day_sums where currency like 'C1_'`);
});

const currencyOf = (row: string) => / (C1\d) /.exec(row)?.[1] ?? '';

it('has what people decided before the chains of digests, which are pages', async () => {
  await owned(
    `insert into tieout.chain_heads (account_id, link_no, sha256)
     select 'Z' || n, 1, repeat('0', 64) from generate_series(1, 100) as n`,
  );
  const auditor = await house.withRole('approver');
  const { body } = await auditor.get('/audit');
  expect(textOf(body)).toContain(`${ACCOUNTS + 101} chains of digests`);
  const [search, chains] = ['aria-label="Search"', '<caption>Where each chain'].map((part) =>
    body.indexOf(part),
  );
  expect(search).toBeGreaterThan(0);
  expect(chains).toBeGreaterThan(search ?? 0);
  expect(rowsOf(body.slice(chains))).toHaveLength(100);
  const [, next = ''] = /<a href="([^"]*chains=2#chains)">Next page/.exec(body) ?? [];
  const rest = (await auditor.get(next.replaceAll('&amp;', '&'))).body;
  const left = rowsOf(rest.slice(rest.indexOf('<caption>Where each chain')));
  expect(left).toHaveLength(ACCOUNTS + 1);
  expect(left[0]).toMatch(/^ ?Z/);
  await owned(`delete from tieout.chain_heads where account_id like 'Z%'`);
});

it('has the night with what a person has to do first, the same of many accounts once', async () => {
  const told = (kind: string, about: string, text: string) => (accountId: string) => ({
    ...{ accountId, kind, about: about.replace('ID', accountId) },
    text: text.replace('ID', accountId),
  });
  const notices = [
    ...IDS.map(told('first_seen_word', 'payment_status 6500', 'seen first; it means captured')),
    ...IDS.map(told('no_history', 'no earlier run of ID', 'nothing is sent of ID')),
    told('not_answered', 'return_status 0', '1 page was not answered')('A1024'),
    told('no_orders', 'not a single order of ID', 'nothing was compared')('A1023'),
  ];
  await owned(`update tieout.runs set summary = jsonb_set(summary, '{notices}', $1)`, [
    JSON.stringify(notices),
  ]);
  await owned(
    `update tieout.runs set summary = jsonb_set(summary, '{accounts,23,state}', '"incomplete"')`,
  );
  for (const [path, value] of [
    ['{accounts,22,state}', '"tied_out"'],
    ['{accounts,22,orders,ledger}', '0'],
    ['{accounts,22,orders,strangers}', '0'],
    ['{accounts,19,instructions,capture}', '{"unknown": 1}'],
  ]) {
    const set = 'update tieout.runs set summary = jsonb_set(summary, $1::text[], $2)';
    await owned(set, [path, value]);
  }
  await owned(`update tieout.run_accounts set state = 'tied_out' where account_id = 'A1023'`);
  const { body } = await finance.get('/');
  const [list = ''] = /<ul class="waits" aria-label="To be told">.*?<\/ul>/s.exec(body) ?? [];
  expect([...list.matchAll(/<li.*?<\/li>/gs)].map(([line]) => textOf(line).trim())).toEqual([
    '24 accounts (A1001, A1002, A1003, A1004, A1005 and 19 more), such as A1001: nothing is sent of A1001',
    'A1024: 1 page was not answered',
    'A1023: nothing was compared',
    '24 accounts (A1001, A1002, A1003, A1004, A1005 and 19 more), such as A1001: seen first; it means captured',
  ]);
  const [table = ''] =
    /<caption>Orders of each account by class, those.*?<\/table>/s.exec(body) ?? [];
  const rows = rowsOf(table);
  expect(rows).toHaveLength(ACCOUNTS);
  // An outcome that nobody knows first; what compared nothing does not simply tie.
  expect(rows[0]).toMatch(/^ ?A1020 /);
  expect(rows.slice(1, 3).toSorted()).toEqual([
    expect.stringMatching(/^ ?A1023 NO ORDERS in the ledger/),
    expect.stringMatching(/^ ?A1024 .*incomplete/),
  ]);
  const [none = ''] = /<h1>.*?<\/h1>/s.exec(
    (await finance.get(`/nights/${date}?account=A1023`)).body,
  ) ?? [''];
  expect(textOf(none)).toMatch(/account A1023 +NO ORDERS in the ledger/);
  expect(table).toContain(`<a href="/nights/${date}?account=A1024">A1024</a>`);
  const [money = ''] = /<caption[^>]*>Money of each account.*?<\/table>/s.exec(body) ?? [];
  expect(rowsOf(money).every((row) => row.trim().startsWith('all 24 '))).toBe(true);
  const own = (await finance.get(`/nights/${date}?account=A1003`)).body;
  expect(textOf(own)).toContain(`Run of ${date}: account A1003`);
  expect(own).toContain('nothing is sent of A1003');
  expect(own).not.toContain('A1004');
  const few = await house.withRole('finance', 'A1004');
  expect((await few.get(`/nights/${date}?account=A1003`)).body).toContain('no account to choose');
  expect((await few.get(`/nights/${date}`)).body).not.toContain('A1003');
  // Why the night failed may name any of them, also where the one account is chosen.
  await owned(`update tieout.runs set state = 'failed', failure = 'A1003 went wrong'`);
  const alone = await few.get(`/nights/${date}?account=A1004`);
  expect(textOf(alone.body)).toContain(`Run of ${date}: account A1004`);
  expect(alone.body).not.toContain('A1003');
});

it('says what each account may send, those that send nothing first, and alike once in the terminal', async () => {
  const here = { cwd: house.house.folder };
  await tieoutHere(['brake', 'on', '--account', 'A1013', '--reason', 'asked'], here);
  const { body } = await finance.get('/brake');
  const rows = rowsOf(body);
  expect(rows).toHaveLength(ACCOUNTS);
  expect(rows[0]).toMatch(/^ ?A1013 .*asked/);
  const { stdout } = await tieoutHere(['brake', 'status'], here);
  const lines = stdout.split('\n').filter((line) => /^(Account |\d+ accounts )/.test(line));
  const own = lines.filter((line) => line.startsWith('Account '));
  expect(own).toEqual([expect.stringMatching(/^Account A1013: sending is stopped/)]);
  // What sends goes with a canary or without one: two lines, and each account in one of them.
  const alike = lines.filter((line) => !own.includes(line));
  expect(alike).toHaveLength(2);
  expect(alike[0]).toMatch(/^\d+ accounts \(A1001, .*\), such as A1001: sends/);
  const named = alike.flatMap((line) => line.split(')')[0]?.match(/A\d+/g) ?? []);
  expect(named.toSorted()).toEqual(IDS.filter((id) => id !== 'A1013'));
});
