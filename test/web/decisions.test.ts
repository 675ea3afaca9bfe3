// Decisions back by Excel, by way of the browser: what would be done is shown before anything is, only
// a second press does it, once, and everybody by the rights of who is signed in.

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moneyIn } from '../../src/core/text/amounts.js';
import { unzip } from '../reports/openXlsx.js';
import type { Parts } from '../support/workbookEdits.js';
import { boundRows, edited, fill, sheetPartOf } from '../support/workbookEdits.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { bringWorkbook, openConsole } from './consoleHouse.js';

let console: ConsoleHouse;
let workbook: string;
let breaks: string[];
let held: string[];

beforeAll(async () => {
  const operations = { capture: 'approve', cancel: 'auto', refund: 'approve', review: 'auto' };
  console = await openConsole({ settings: { operations } });
  const { rows } = await console.app.db.query<{ path: string }>(
    `select path from tieout.reports where kind = 'reconciliation' and state = 'written'`,
  );
  workbook = rows[0]?.path ?? '';
  const parts = await unzip(workbook);
  breaks = [...boundRows(parts, 'Breaks').keys()];
  const waiting = await console.app.db.query<{ id: string }>(
    `select instruction_id::text as id from tieout.instructions
     where state = 'held' and hold_reason = 'approval' order by instruction_id`,
  );
  held = waiting.rows.map(({ id }) => id);
  expect([breaks.length > 3, held.length > 3]).toEqual([true, true]);
}, 120_000);
afterAll(() => console.end());

const take = (list: string[]): string => list.shift() ?? '';

async function change(edit: (parts: Parts) => void): Promise<Buffer> {
  return readFile(await edited(workbook, join(console.house.folder, 'back.xlsx'), edit));
}

const upload = (visitor: Visitor, bytes: Buffer, name?: string, token?: string) =>
  bringWorkbook(console, visitor, bytes, name, token);

const press = (visitor: Visitor, body: string) =>
  visitor.post('/reports/decisions/do', {
    sha256: /name="sha256" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '',
  });

async function look(visitor: Visitor, bytes: Buffer): Promise<string> {
  const { headers, statusCode } = await upload(visitor, bytes);
  expect(statusCode).toBe(303);
  return (await visitor.get(String(headers.location))).body;
}

async function said(): Promise<unknown> {
  const { rows } = await console.app.db.query(
    `select (select count(*) from tieout.break_events where by <> 'tieout') as events,
       (select count(*) from tieout.decisions) as decisions`,
  );
  return rows[0];
}

describe('a workbook by way of the browser', () => {
  it('is looked at first, and a second press does what was shown, once', async () => {
    const [one, two] = [take(breaks), take(held)];
    const person = await console.visitor(
      (['finance', 'approver'] as const).map((role) => ({ role, accountId: null })),
    );
    const bytes = await change((parts) => {
      fill(parts, 'Breaks', one, { decision: 'note', reason: '<img src=x>' });
      fill(parts, 'Waiting for you', two, { decision: 'approve' });
    });
    const before = await said();
    const shown = await look(person, bytes);
    expect(shown).toContain('2 would be done, 0 refused, 0 unchanged. Nothing was changed yet.');
    expect(shown).toContain(`<a href="/breaks/${one}">break ${one}</a>`);
    expect(shown).not.toContain('<img');
    expect(shown).toContain('&lt;img src=x>');
    const { rows: sent } = await console.app.db.query<{ amount: string; currency: string }>(
      'select round(amount, 2)::text as amount, currency from tieout.instructions where instruction_id = $1',
      [two],
    );
    const { amount = '', currency = '' } = sent[0] ?? {};
    const text = shown.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    const money = moneyIn(amount, currency);
    // The holding rule stands with its total, and with the row.
    expect(text).toMatch(new RegExp(`approve, instructions, waiting because .+ 1 ${money} `));
    expect(text).toMatch(new RegExp(`\\) ?, [a-z]+ ?, waiting because .+ ${money} approve`));
    expect(await said()).toEqual(before);
    const both = await Promise.all([press(person, shown), press(person, shown)]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect(both.map(({ body }) => body).join()).toContain('2 done, 0 refused, 0 unchanged.');
    expect(readdirSync(join(console.app.config.dataDir, 'uploads'))).toEqual([]);
    const { rows } = await console.app.db.query(
      `select e.by, e.is_claim, d.decided_by, d.is_claim as claimed
       from tieout.break_events e, tieout.decisions d
       where e.break_id = $1 and e.event = 'noted' and d.instruction_id = $2`,
      [one, two],
    );
    const { name } = person;
    expect(rows).toEqual([{ by: name, is_claim: false, decided_by: name, claimed: false }]);
    const events = await console.app.db.query(
      `select who, outcome from tieout.console_events
       where action = 'decide by workbook' and who = $1`,
      [name],
    );
    const outcome = expect.stringMatching(
      /^2 of 2; note, breaks: 1 \(.+\); approve, instructions, waiting because .+: 1 \([\d,.]+ [A-Z]{3}\)$/,
    );
    expect(events.rows).toEqual([{ who: name, outcome }]);
    expect(await look(person, bytes)).toContain('0 would be done, 0 refused, 2 unchanged.');
    // Who decides about other accounts learns of neither that it was decided, nor by whom.
    const { rows: accounts } = await console.app.db.query<{ other: string }>(
      `select case account_id when 'A1001' then 'A1002' else 'A1001' end as other
       from tieout.instructions where instruction_id = $1`,
      [two],
    );
    const elsewhere = await look(await console.withRole('approver', accounts[0]?.other), bytes);
    expect(elsewhere).toContain('none that you may decide about');
    expect(elsewhere).not.toMatch(new RegExp(`decided meanwhile|${name}`));
  });

  it('totals apart what is waived and what only asks for it, and says whom to ask', async () => {
    const { rows } = await console.app.db.query<{ id: string }>(
      `select break_id::text as id from tieout.breaks
       where break_id = any ($1::bigint[]) and state = 'open'
         and tieout.waiver_stake(kind, currency, amount, expected, actual) <= 500
       order by break_id limit 2`,
      [breaks],
    );
    const [small = '', large = ''] = rows.map(({ id }) => id);
    breaks = breaks.filter((id) => id !== small && id !== large);
    const waits = take(held);
    // What it opened with counts for the limit, and is nothing that the workbook is bound to.
    await console.app.db.query(`update tieout.breaks set amount = 900 where break_id = $1`, [
      large,
    ]);
    const person = await console.withRole('finance');
    const bytes = await change((parts) => {
      for (const id of [small, large]) {
        fill(parts, 'Breaks', id, { decision: 'waive', reason: 'paid by bank' });
      }
      fill(parts, 'Waiting for you', waits, { decision: 'approve' });
    });
    const text = (await look(person, bytes)).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toMatch(/waive, breaks 1 [\d,.]+ [A-Z]{3} /);
    expect(text).toMatch(
      /waive, breaks: only asked for, a second person has to agree 1 [\d,.]+ [A-Z]{3} /,
    );
    expect(text).toContain('approvers decide about it: ask one, it stands under Approvals');
  });

  it('does for each person what their roles allow, and of their accounts', async () => {
    const [one, two] = [take(breaks), take(held)];
    const bytes = await change((parts) => {
      fill(parts, 'Breaks', one, { decision: 'waive', reason: 'rounding' });
      fill(parts, 'Waiting for you', two, { decision: 'approve' });
    });
    const before = await said();
    for (const [role, words] of [
      ['finance', /1 would be done, 1 refused/],
      ['approver', /1 would be done, 1 refused/],
      ['operator', /0 would be done, 2 refused/],
    ] as const) {
      expect(await look(await console.withRole(role), bytes), role).toMatch(words);
    }
    const { rows } = await console.app.db.query<{ account: string }>(
      'select account_id as account from tieout.breaks where break_id = $1',
      [one],
    );
    const other = rows[0]?.account === 'A1001' ? 'A1002' : 'A1001';
    const stranger = await look(await console.withRole('finance', other), bytes);
    expect(stranger).toContain('0 would be done, 2 refused');
    expect(stranger).toContain('none that you may decide about');
    expect((await upload(await console.withRole('viewer'), bytes)).statusCode).toBe(403);
    expect(await said()).toEqual(before);
  });

  it('asks for the password before anything is done, and refuses a form from elsewhere', async () => {
    const bytes = await change((parts) =>
      fill(parts, 'Breaks', take(breaks), { decision: 'note', reason: 'late' }),
    );
    const before = await said();
    const { now } = console.clock;
    const stale = await console.withRole('finance');
    console.clock.now = new Date(now.getTime() + 11 * 60_000);
    const shown = await look(stale, bytes);
    expect(shown).toContain('Password, to do it as');
    const answer = await press(stale, shown);
    expect([answer.statusCode, String(answer.headers.location)]).toEqual([
      303,
      expect.stringMatching(/^\/confirm/),
    ]);
    console.clock.now = now;
    expect((await upload(stale, bytes, 'back.xlsx', 'none')).statusCode).toBe(403);
    expect(await said()).toEqual(before);
  });

  it('is told of which night, revision and accounts it is, and that a newer one is there', async () => {
    const { db } = console.app;
    const person = await console.withRole('finance', 'A1001');
    const look1 = async (edit: (parts: Parts) => void = () => {}) =>
      look(person, await change(edit));
    const { rows } = await db.query<{ date: string }>(
      'select business_date as date from tieout.runs where not is_dry',
    );
    const date = rows[0]?.date ?? '';
    const own = `This workbook is of the night of ${date}, revision 1, account A1001; written 2`;
    const first = await look1();
    expect(first).toContain(own);
    expect(first).not.toContain('A newer one');
    await db.query(
      `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
         path, bytes, sha256, digests)
       select run_id, kind, format, 2, state, now(), now(), '/x/reconciliation-r2.xlsx', bytes, 'x',
         digests
       from tieout.reports where kind = 'reconciliation'`,
    );
    await db.query(
      `with later as (
         insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
           settings, settings_sha256, version, created_at, finished_at, summary)
         select business_date + 1, array[business_date + 1], ends_at, ends_at + interval '1 day',
           'tied_out', environment, settings, settings_sha256, version, now(), now(), '{}'
         from tieout.runs returning run_id)
       insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
         path, bytes, sha256)
       select run_id, 'reconciliation', 'xlsx', 3, 'written', now(), now(),
         '/x/reconciliation-later-r3.xlsx', 1, 'y' from later`,
    );
    const old = await look1();
    expect(old).toContain(own);
    const newer = 'A newer one is there: reconciliation';
    expect(old).toContain(`${newer}-r2.xlsx, revision 2 of the same night.`);
    expect(old).toMatch(new RegExp(`${newer}-later-r3\\.xlsx, of the night of \\d{4}-`));
    // What it says of itself counts only as it was written.
    const about = (from: string, to: string) => (parts: Parts) => {
      const part = sheetPartOf(parts, 'About this run');
      const text = parts.get(part) ?? '';
      expect(text).toContain(from);
      parts.set(part, text.replace(from, to));
    };
    const unknown = 'Of which night this workbook is cannot be said';
    for (const edit of [
      about('>Revision<', '>Rev.<'),
      about(`>${date}<`, '>2026-02-31<'),
      about(`>${date}<`, '>99999999<'),
      about('>Manifest: breaks<', '>Manifest: other<'),
    ]) {
      expect(await look1(edit)).toContain(unknown);
    }
    expect((await look1(about('>Environment<', '>Environ<'))).includes(own)).toBe(true);
  });

  it('refuses what is no workbook, another name, and a file of somebody else', async () => {
    const finance = await console.withRole('finance');
    expect((await upload(finance, Buffer.from('x'), 'back.csv')).headers.location).toBe('/reports');
    expect((await finance.get('/reports')).body).toContain('must end in .xlsx');
    const no = await look(finance, Buffer.from('PK no workbook at all, only some bytes'));
    expect(no).toContain('Nothing was changed: this is no workbook');
    const bytes = await change((parts) =>
      fill(parts, 'Breaks', breaks[0] ?? '', { decision: 'note', reason: 'mine' }),
    );
    const sent = String((await upload(finance, bytes)).headers.location);
    const { body } = await finance.get(sent);
    const other = await console.withRole('finance');
    expect((await other.get(sent)).statusCode).toBe(409);
    expect((await press(other, body)).statusCode).toBe(409);
    expect((await finance.get('/reports/decisions/check?sha256=x')).statusCode).toBe(404);
    expect((await finance.get('/reports')).body).toContain('action="/reports/decisions/check"');
    const viewer = await console.withRole('viewer');
    expect((await viewer.get('/reports')).body).not.toContain('/reports/decisions/check');
  });
});
