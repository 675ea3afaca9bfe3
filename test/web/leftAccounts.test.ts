// An account that left the configuration with breaks and instructions that are open: who sees all
// accounts finds it in the console, in lists and totals, as the command line has it; who sees one
// account finds it only where it was granted by its name. Neighbour: faults/people/leftAccount.test.ts.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROLES } from '../../src/core/access.js';
import { closeDay } from '../../src/days/days.js';
import { ROUTES } from '../../src/web/routes.js';
import { tieoutHere } from '../support/cliHere.js';
import { rewriteSettings } from '../support/night.js';
import { edited, fill } from '../support/workbookEdits.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { bringWorkbook, openConsole } from './consoleHouse.js';

const LEFT = 'A1002';

let place: ConsoleHouse;
let finance: Visitor;
let ofOne: Visitor;
let ofLeft: Visitor;

beforeAll(async () => {
  place = await openConsole({
    settings: { operations: { capture: 'approve', refund: 'auto' } },
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
    after: async (house) => {
      const accounts = house.accounts.map((one) => ({ ...one, liveFrom: '2026-01-01T00:00:00Z' }));
      rewriteSettings(house, { accounts: accounts.slice(0, 1) });
    },
  });
  finance = await place.withRole('finance');
  ofOne = await place.withRole('finance', 'A1001');
  ofLeft = await place.visitor([
    { role: 'finance', accountId: 'A1001' },
    { role: 'finance', accountId: LEFT },
  ]);
}, 180_000);
afterAll(() => place.end());

const textOf = (body: string): string => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

async function listed(...more: string[]): Promise<number> {
  const { stdout } = await tieoutHere(['breaks', 'list', '--json', ...more], {
    cwd: place.house.folder,
  });
  return (JSON.parse(stdout) as { breaks: unknown[] }).breaks.length;
}

async function firstOf(sql: string): Promise<string> {
  const { rows } = await place.app.db.query<{ id: string | null }>(sql, [LEFT]);
  if (!rows[0]?.id) throw new Error(`nothing of ${LEFT}: ${sql}`);
  return rows[0].id;
}
const BREAK = `select min(break_id)::text as id from tieout.breaks
  where account_id = $1 and state = 'open'`;
const INSTRUCTION = `select min(instruction_id)::text as id from tieout.instructions
  where account_id = $1 and state = 'held'`;
const ORDER = `select min(order_no) as id from tieout.breaks
  where account_id = $1 and state = 'open'`;

it('is in the lists and totals of who sees all accounts, as on the command line', async () => {
  const [all, own] = [await listed(), await listed('--account', LEFT)];
  expect(own).toBeGreaterThan(0);
  const { body } = await finance.get('/breaks');
  expect(textOf(body)).toContain(`${all} breaks.`);
  expect(body).toMatch(/<option value="A1002"[^>]*>A1002 \(not configured\)</);
  expect(body).toMatch(/<option value="A1001"[^>]*>A1001</);
  const mine = textOf((await finance.get(`/breaks?account=${LEFT}`)).body);
  expect(mine).toContain(`${own} breaks.`);
  expect(textOf((await finance.get('/')).body)).toContain(`${all} breaks are open in all`);
  const csv = (await finance.get('/breaks.csv')).body;
  expect(csv.match(/A1002,/g)?.length).toBe(own);
  const causes = textOf((await finance.get(`/breaks/causes?account=${LEFT}`)).body);
  expect(causes).not.toContain('no account to choose here');
  expect((await finance.get(`/instructions?account=${LEFT}&state=held`)).body).toContain(LEFT);
  expect((await finance.get('/approvals')).body).toContain(LEFT);
});

it('has its break, its instruction and its order on their pages, which say how it stands', async () => {
  const pages = [
    `/breaks/${await firstOf(BREAK)}`,
    `/instructions/${await firstOf(INSTRUCTION)}`,
    `/orders/${LEFT}/${encodeURIComponent(await firstOf(ORDER))}`,
  ];
  for (const page of pages) {
    for (const visitor of [finance, ofLeft]) {
      const { statusCode, body } = await visitor.get(page);
      expect([page, statusCode]).toEqual([page, 200]);
      expect(textOf(body)).toContain('account A1002 (not configured)');
    }
    expect((await ofOne.get(page)).statusCode).toBe(404);
  }
});

it('is nowhere for who sees another account alone', async () => {
  for (const page of ['/', '/breaks', '/breaks.csv', '/breaks/causes', '/instructions']) {
    expect((await ofOne.get(page)).body, page).not.toContain(LEFT);
  }
  const refused = (await ofOne.get(`/breaks?account=${LEFT}`)).body;
  expect(refused).toContain('no account to choose here');
  expect((await ofLeft.get(`/breaks?account=${LEFT}`)).body).not.toContain('no account to choose');
});

const written = (kind: string) =>
  rowsOf(`select report_id::text as is from tieout.reports
    where state = 'written' and kind = '${kind}' order by report_id`);

it('keeps no report from who sees all accounts, nor from whose accounts it holds', async () => {
  const [id = ''] = await written('reconciliation');
  for (const visitor of [finance, ofLeft]) {
    const { body } = await visitor.get('/reports');
    expect(body).toContain(`<a href="/reports/${id}/file" download`);
    expect((await visitor.get(`/reports/${id}/file`)).statusCode).toBe(200);
  }
  expect((await ofOne.get('/reports')).body).toContain('There is no report here');
  expect((await ofOne.get(`/reports/${id}/file`)).statusCode).toBe(404);
  expect((await finance.post('/reports/rewrite', { id })).body).toContain('is being written');
  // Who may look at all and take what one account has is led to nothing that is refused.
  const viewer = await place.visitor([
    { role: 'viewer', accountId: null },
    { role: 'finance', accountId: 'A1001' },
  ]);
  const { body } = await viewer.get('/reports');
  expect(body).toContain('reconciliation (xlsx)');
  expect(body).not.toContain(`/reports/${id}/file`);
});

it('keeps its statements of the nights that had it, with the lines of each item', async () => {
  const [date = ''] = await rowsOf('select business_date::text as is from tieout.runs');
  const url = `/nights/${date}/statement?account=${LEFT}`;
  for (const visitor of [finance, ofLeft]) {
    const { body } = await visitor.get(url);
    expect(body).toContain(`From the ledger to the gateway: ${LEFT}`);
    expect(textOf(body)).toContain(`${LEFT} (not configured), `);
    expect(body).toContain(`<a href="/days/${LEFT}/${date}">`);
    const [, lines = ''] = /href="([^"]+statement\/lines[^"]+)"/.exec(body) ?? [];
    expect((await visitor.get(lines.replaceAll('&amp;', '&'))).statusCode).toBe(200);
  }
  const refused = textOf((await ofOne.get(url)).body);
  expect(refused).toContain('no account to choose here');
  expect(refused).not.toContain('There is no statement');
  expect((await ofOne.get(`/nights/${date}/statement`)).body).not.toContain(LEFT);
});

it('gives who has each configured account by its name nothing that is of all accounts', async () => {
  const names = ROLES.map((role) => ({ role, accountId: 'A1001' }));
  const each = await place.visitor(names);
  const all = await place.visitor(ROLES.map((role) => ({ role, accountId: null })));
  for (const { method, path, everywhere } of ROUTES) {
    if (everywhere !== true) continue;
    const asked = (who: Visitor) => (method === 'GET' ? who.get(path) : who.post(path, {}));
    const { statusCode, body } = await asked(each);
    expect([path, statusCode]).toEqual([path, 403]);
    expect(body).toContain('tieout users role NAME --role ROLE, without --account');
    expect([path, (await asked(all)).statusCode]).not.toEqual([path, 403]);
  }
  await each.post('/brake/on', { words: 'stop' });
  expect(await rowsOf('select reason as is from tieout.standing_brakes')).toEqual([]);
  expect((await each.get('/brake')).body).not.toContain('>all accounts<');
  expect((await each.get('/')).body).not.toContain('action="/nights/again"');
  expect((await each.get('/reports')).body).not.toContain('action="/reports/make"');
  expect((await each.get('/metrics')).statusCode).toBe(401);
});

it('has its rows of a workbook decided about by who may', async () => {
  const id = await firstOf(BREAK);
  const [path = ''] = await rowsOf(`select path as is from tieout.reports
    where state = 'written' and kind = 'reconciliation' order by report_id`);
  const back = await edited(path, join(place.house.folder, 'left.xlsx'), (parts) =>
    fill(parts, 'Breaks', id, { decision: 'note', reason: 'account closed' }),
  );
  const shown = async (visitor: Visitor) => {
    const { headers } = await bringWorkbook(place, visitor, await readFile(back));
    return textOf((await visitor.get(String(headers.location))).body);
  };
  expect(await shown(ofOne)).toContain('0 would be done, 1 refused');
  expect(await shown(ofLeft)).toContain('1 would be done, 0 refused');
  expect(await shown(finance)).toContain('1 would be done, 0 refused');
});

it('is no account of the pages that a night writes', async () => {
  for (const page of ['/settlement', '/authorisations', '/brake']) {
    expect((await finance.get(page)).body).not.toContain(LEFT);
  }
  const { body } = await finance.get(`/authorisations?account=${LEFT}`);
  expect(textOf(body)).toContain('stands in the statements and workbooks of the nights');
});

it('keeps its days, which nobody signs, and what they lead to says so', async () => {
  const [date = ''] = await rowsOf('select business_date::text as is from tieout.runs');
  const day = `/days/${LEFT}/${date}`;
  const words = `Account ${LEFT} is not in the configuration any more: the days stay as they are`;
  const before = await rowsOf('select count(*)::text as is from tieout.day_events');
  for (const visitor of [finance, ofLeft]) {
    const list = (await visitor.get('/days')).body;
    expect(list).not.toContain(day);
    expect(list).toContain(`<a href="/days?account=${LEFT}">${LEFT}</a>`);
    const own = (await visitor.get(`/days?account=${LEFT}`)).body;
    expect(own).toContain(`<a href="${day}">`);
    expect(textOf(own)).toContain(words);
    const { statusCode, body } = await visitor.get(day);
    expect(statusCode).toBe(200);
    expect(textOf(body)).toContain(`account ${LEFT} (not configured)`);
    expect(textOf(body)).toContain(words);
    expect(body).not.toContain('action="/days/');
    expect(textOf(body)).not.toContain('can be signed');
    const form = { account: LEFT, date, words: 'month end', seen: 'x' };
    for (const verb of ['close', 'lock', 'reopen']) {
      expect((await visitor.post(`/days/${verb}`, form)).statusCode).toBe(404);
    }
  }
  expect((await ofOne.get('/days')).body).not.toContain(LEFT);
  expect(textOf((await ofOne.get(`/days?account=${LEFT}`)).body)).toContain('no account to choose');
  expect((await ofOne.get(day)).statusCode).toBe(404);
  const cli = (...args: string[]) => tieoutHere(['days', ...args], { cwd: place.house.folder });
  const all = (await cli('list')).stdout;
  expect(all).toContain(`the days of ${LEFT} (tieout days list --account ${LEFT})`);
  expect(all).not.toContain(`${LEFT}  2`);
  expect((await cli('list', '--account', LEFT)).stdout).toMatch(
    new RegExp(`^${LEFT} +${date}`, 'm'),
  );
  const shown = (await cli('list', date, '--account', LEFT)).stdout;
  expect(shown).toContain(`Account ${LEFT}, business date ${date}: open`);
  expect(shown).toContain(words);
  expect(shown).not.toContain('who signs now');
  for (const verb of ['close', 'lock', 'reopen']) {
    const { code, stderr } = await cli(verb, date, '--account', LEFT, '--reason', 'month end');
    expect([verb, code]).toEqual([verb, 2]);
    expect(stderr).toContain(words);
  }
  expect((await cli('list', '--account', 'A9')).stderr).toContain('no such account');
  expect(await rowsOf('select count(*)::text as is from tieout.day_events')).toEqual(before);
});

it('has a menu of what is there for who may see it alone, and its signed day where it is told', async () => {
  const only = await place.withRole('finance', LEFT);
  const { body } = await only.get('/breaks');
  const [menu = ''] = /<nav aria-label="Sections">.*?<\/nav>/s.exec(body) ?? [];
  const paths = [...menu.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
  expect(paths).toEqual(['/', '/breaks', '/approvals', '/instructions', '/reports', '/days']);
  for (const path of paths) expect([path, (await only.get(path)).statusCode]).toEqual([path, 200]);
  const [date = ''] = await rowsOf('select business_date::text as is from tieout.runs');
  const who = { name: 'anna', isClaim: false };
  const order = { accountId: LEFT, date, who, reason: 'month end', secondPerson: false };
  expect(await closeDay(place.app.db, { ...order, withEarlier: true })).toMatchObject({
    kind: 'done',
  });
  const audit = (await (await place.withRole('approver')).get('/audit')).body;
  const [, path = ''] = /<a href="([^"]+)">[^<]*clos/.exec(audit) ?? [];
  expect(path).toBe(`/days/${LEFT}/${date}`);
  for (const visitor of [finance, only]) {
    const signed = textOf((await visitor.get(path)).body);
    expect(signed).toContain('Prepared: day closed by anna at');
    expect(signed).toContain('Reviewed: day locked not signed');
    expect(signed).toContain('closed by anna: month end');
    expect(signed).not.toContain('a review is still to come');
  }
  expect((await only.get('/days')).body).toContain(`<a href="${path}">`);
});

it('is decided about as on the command line: breaks are given, noted and waived', async () => {
  const id = await firstOf(BREAK);
  const seen = /name="id" value="([^"]+)"/.exec((await finance.get(`/breaks/${id}`)).body)?.[1];
  const assigned = await finance.post('/breaks/assign', { id: seen ?? '', owner: finance.name });
  expect(assigned.statusCode).toBeLessThan(400);
  const [one] = await rowsOf(`select owner as is from tieout.breaks where break_id = ${id}`);
  expect(one).toBe(finance.name);
  const later = /name="id" value="([^"]+)"/.exec((await finance.get(`/breaks/${id}`)).body)?.[1];
  await ofOne.post('/breaks/waive', { id: later ?? '', words: 'account closed' });
  expect(await rowsOf(stateOf(id))).toEqual(['open']);
  await finance.post('/breaks/waive', { id: later ?? '', words: 'account closed' });
  expect(await rowsOf(stateOf(id))).not.toEqual(['open']);
});

it('has its unknown instruction resolved, and what waits for approval says who sends it', async () => {
  const operator = await place.withRole('operator');
  const id = await firstOf(UNKNOWN);
  const page = (await operator.get(`/instructions/${id}`)).body;
  const pick = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const finding = { finding: 'not_happened', words: 'portal', reference: 'P-1' };
  await operator.post('/instructions/resolve', { id: pick, ...finding });
  expect(await rowsOf(stateOfInstruction(id))).toEqual(['rejected']);
  const approver = await place.withRole('approver');
  const held = await firstOf(INSTRUCTION);
  const sheet = (await approver.get(`/instructions/${held}`)).body;
  expect(textOf(sheet)).toContain(`account ${LEFT} is not in this configuration`);
  expect(sheet).not.toContain(': it will be sent');
  const mine = /name="id" value="([^"]+)"/.exec(sheet)?.[1] ?? '';
  await approver.post('/approvals/reject', { id: mine, words: 'account closed', sheet: 'yes' });
  expect(await rowsOf(stateOfInstruction(held))).toEqual(['withdrawn']);
  const all = textOf((await approver.get(`/instructions/all/approve?account=${LEFT}`)).body);
  expect(all).toMatch(/\d will be approved; not sent: \d of A1002, only observed or not in this/);
  const other = await firstOf(INSTRUCTION);
  const own = (await approver.get(`/instructions/${other}`)).body;
  const picked = /name="id" value="([^"]+)"/.exec(own)?.[1] ?? '';
  const verdict = await approver.post('/approvals/approve', { id: picked, sheet: 'yes' });
  expect(textOf(verdict.body)).toMatch(/queued: account A1002 is not in this configuration/);
  const tonight = textOf((await finance.get('/')).body);
  expect(tonight).toMatch(/A1002 ?: sending is stopped: account A1002 is not in this conf/);
  expect(tonight).not.toContain('nothing stops them');
});

const UNKNOWN = `select min(instruction_id)::text as id from tieout.instructions
  where account_id = $1 and state = 'unknown'`;
const stateOf = (id: string) => `select state as is from tieout.breaks where break_id = ${id}`;
const stateOfInstruction = (id: string) =>
  `select state as is from tieout.instructions where instruction_id = ${id}`;

async function rowsOf(sql: string): Promise<string[]> {
  return (await place.app.db.query<{ is: string }>(sql)).rows.map((row) => row.is);
}
