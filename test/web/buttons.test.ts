// Buttons that do what commands do, with the same rights and the same record: a month's report, one
// written once more, somebody invited and put out.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSchedule, workOnOwed } from '../../src/night/owedRun.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf } from './consoleHouse.js';

let place: ConsoleHouse;
let finance: Visitor;
let admin: Visitor;
beforeAll(async () => {
  place = await openConsole();
  finance = await place.withRole('finance');
  admin = await place.withRole('admin');
}, 120_000);
afterAll(() => place.end());

async function one<T>(sql: string, values: unknown[] = []): Promise<T | undefined> {
  return (await place.app.db.query<T & object>(sql, values)).rows[0];
}

async function reports(kind: string) {
  const { rows } = await place.app.db.query<{ state: string; revision: number; period: string }>(
    `select state, revision, period from tieout.reports where kind = $1 order by revision`,
    [kind],
  );
  return rows;
}

describe('a night', () => {
  it('is run again by a clock, once, by who may; an older one is not', async () => {
    const operator = await place.withRole('operator');
    const viewer = await place.withRole('viewer');
    expect((await viewer.get('/')).body).not.toContain('Run again');
    const run = await one<{ date: string; id: bigint }>(
      'select business_date as date, run_id as id from tieout.runs order by 1 desc limit 1',
    );
    const date = run?.date ?? '';
    expect((await operator.get(`/nights/${date}`)).body).toContain('Run again');
    expect((await viewer.post('/nights/again', { date })).statusCode).toBe(403);
    const none = await operator.post('/nights/again', { date: '2001-01-01' });
    expect(none.headers.location).toBe('/');
    expect((await operator.post('/nights/again', { date })).headers.location).toBe(
      `/nights/${date}`,
    );
    expect((await operator.get('/')).body).toContain(`${operator.name} asked at`);
    expect(
      await one('select who, outcome from tieout.console_events order by event_id desc limit 1'),
    ).toEqual({ who: operator.name, outcome: 'asked' });
    const looks = () =>
      one<{ pulls: number }>('select count(*)::int as pulls from tieout.pulls where run_id = $1', [
        run?.id,
      ]);
    const before = await looks();
    const app = await place.house.open();
    const deps = { ...(await app.sendDeps()), localTicks: () => [] };
    const status = await readSchedule(deps);
    const workforce = await app.workforce();
    const owed = { kind: 'nothing' as const };
    const worked = await workOnOwed(deps, workforce, { ...status, owed });
    expect([worked?.kind, worked?.summary.businessDate]).toEqual(['resumed', date]);
    expect((await looks())?.pulls).toBeGreaterThan(before?.pulls ?? 0);
    expect(await workOnOwed(deps, workforce, { ...(await readSchedule(deps)), owed })).toBeNull();
    expect((await operator.get('/')).body).toContain('Run again');
  }, 60_000);
});

describe('reports', () => {
  it('are made of a month, and nothing of a month without a run', async () => {
    const run = await one<{ date: string }>('select max(business_date) as date from tieout.runs');
    const month = (run?.date ?? '').slice(0, 7);
    const answer = await finance.post('/reports/make', { kind: 'activity', period: month });
    expect(answer.statusCode).toBe(200);
    expect(await reports('activity')).toEqual([{ state: 'queued', revision: 1, period: month }]);
    const none = await finance.post('/reports/make', { kind: 'activity', period: '2001-01' });
    expect(await refusalOf(finance, none)).toContain('There is no finished run in 2001-01');
    expect(await reports('activity')).toHaveLength(1);
  });

  it('are written once more as the next revision', async () => {
    const { body } = await finance.get('/reports');
    const [, id = ''] = /name="id" value="(\d+)"/.exec(body) ?? [];
    const found = await one<{ kind: string }>(
      'select kind from tieout.reports where report_id = $1',
      [id],
    );
    const kind = found?.kind ?? 'none';
    const before = await reports(kind);
    expect((await finance.post('/reports/rewrite', { id })).statusCode).toBe(200);
    const after = await reports(kind);
    expect(after).toHaveLength(before.length + 1);
    expect(after.at(-1)).toMatchObject({ state: 'queued', revision: before.length + 1 });
    const event = await one(
      `select who, outcome from tieout.console_events where action = 'make report'
       order by event_id desc limit 1`,
    );
    expect(event).toEqual({ who: finance.name, outcome: 'queued' });
  });

  it('of a night whose looks are gone are not written again, and have no button', async () => {
    const { body } = await finance.get('/reports');
    const [, id = ''] = /name="id" value="(\d+)"/.exec(body) ?? [];
    const before = await one<{ n: number }>('select count(*)::int as n from tieout.reports');
    await place.app.db.query(
      `insert into tieout.evidence_removals (month, first_date, last_date, nights, looks, rows,
         bytes, kept_months, by, is_claim)
       select distinct to_char(now(), 'YYYY_MM'), business_date, business_date, 1, 1, '{}'::jsonb, 1, 1,
         'tieout', false
       from tieout.runs`,
    );
    const answer = await finance.post('/reports/rewrite', { id });
    expect(await refusalOf(finance, answer)).toContain('its workbooks stay as they were made');
    expect(await one('select count(*)::int as n from tieout.reports')).toEqual(before);
    const after = (await finance.get('/reports')).body;
    expect(after).toContain('reconciliation (xlsx)');
    expect(after).not.toContain('action="/reports/rewrite"');
  });
});

describe('people', () => {
  it('are invited with a link that works, and put out at once', async () => {
    const fields = { name: 'clara', role: 'approver', account: 'A1001' };
    const { body } = await admin.post('/settings/invite', fields);
    const [link = ''] = /\/welcome\/[\w-]+/.exec(body) ?? [];
    expect((await place.signedOut().get(link)).body).toContain('clara');
    const two = { ...fields, name: 'dora', account: ['A1001', 'A1002'] };
    const refused = await admin.post('/settings/invite', two);
    expect(await refusalOf(admin, refused)).toContain('an account or all of them');
    const again = await admin.post('/settings/invite', { ...fields, name: 'CLARA' });
    expect(await refusalOf(admin, again)).toContain('somebody called CLARA already');
    const clara = await one<{ id: bigint }>(
      `select user_id as id from tieout.users where name = 'clara'`,
    );
    const page = await admin.post('/settings/disable', { id: String(clara?.id) });
    expect(page.statusCode).toBe(303);
    expect((await place.signedOut().get(link)).body).not.toContain('clara');
    const told = await place.app.db.query<{ action: string; outcome: string }>(
      `select action, outcome from tieout.console_events
       where subject = 'clara' and who = $1 order by event_id`,
      [admin.name],
    );
    expect(told.rows).toEqual([
      { action: 'add person', outcome: 'approver of A1001' },
      { action: 'set state', outcome: 'disabled' },
    ]);
  });

  it('are not managed by others, and nobody puts himself out', async () => {
    const operator = await place.withRole('operator');
    expect((await operator.get('/settings')).body).not.toContain('Invite');
    const self = await one<{ id: bigint }>(
      'select user_id as id from tieout.users where name = $1',
      [admin.name],
    );
    const answer = await admin.post('/settings/disable', { id: String(self?.id) });
    expect(await refusalOf(admin, answer)).toContain('Nobody disables himself');
    expect((await admin.get('/settings')).statusCode).toBe(200);
  });
});
