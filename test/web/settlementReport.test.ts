// The settlement report on the console: asked for by whoever may take reports of all accounts,
// written by a worker, handed out on the same page.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf } from './consoleHouse.js';

let console: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  console = await openConsole({
    settings: { settlement: { from: dateOf(30) } },
    before: async (house) => {
      await house.run({ date: dateOf(2), accountIds: ['A1001'] });
    },
  });
  finance = await console.withRole('finance');
});
afterAll(() => console.end());

describe('the settlement report', () => {
  it('is asked for on the page, written by a worker, and handed out there', async () => {
    const { db } = console.app;
    const { rows } = await db.query<{ date: string }>(
      'select max(business_date)::text as date from tieout.runs where summary is not null',
    );
    const period = rows[0]?.date ?? '';
    const asked = await finance.post('/settlement/report', { period });
    expect([asked.statusCode, asked.headers.location]).toEqual([303, '/settlement#reports']);
    expect((await finance.get('/settlement')).body).toContain(`${period}, revision 1: being`);
    const queued = await db.query<{ id: bigint }>(
      `select report_id as id from tieout.reports where kind = 'settlement'`,
    );
    const id = queued.rows[0]?.id ?? 0n;
    await writeReport(console.app, id);
    const { body } = await finance.get('/settlement');
    expect(body).toContain(`href="/reports/${id}/file"`);
    const file = await finance.get(`/reports/${id}/file`);
    expect([file.statusCode, file.rawPayload.subarray(0, 2).toString()]).toEqual([200, 'PK']);
  });

  it('is refused for what is no month or date, or has no run', async () => {
    for (const period of ['May', '', '2026-13', '2000-01', dateOf(-40)]) {
      const answer = await finance.post('/settlement/report', { period });
      expect([period, await refusalOf(finance, answer)]).toEqual([
        period,
        expect.stringMatching(/\w/),
      ]);
    }
  });

  it('of a month, at a night of one account alone, is for who sees all accounts', async () => {
    const { db } = console.app;
    const run = await db.query<{ id: bigint; date: string; accounts: number }>(
      `select run_id as id, business_date::text as date,
         (select count(*)::int from tieout.run_accounts ra where ra.run_id = r.run_id) as accounts
       from tieout.runs r order by business_date limit 1`,
    );
    const [night] = run.rows;
    expect(night?.accounts).toBe(1);
    for (const kind of ['ageing', 'activity', 'settlement']) {
      const month = night?.date.slice(0, 7) ?? '';
      const [id = 0n] = await queueReports(db, night?.id ?? 0n, [kind], new Date(), month);
      await writeReport(console.app, id);
      const other = await console.withRole('finance', 'A1001');
      const url = `/reports/${id}/file`;
      expect((await other.get('/reports')).body, kind).not.toContain(url);
      expect((await other.get(url)).statusCode, kind).toBe(404);
      expect((await finance.get('/reports')).body, kind).toContain(url);
      expect((await finance.get(url)).statusCode, kind).toBe(200);
    }
    // The night's own report holds that account alone.
    const own = await db.query<{ id: bigint }>(
      `select report_id as id from tieout.reports
       where run_id = $1 and period is null and state = 'written' limit 1`,
      [night?.id],
    );
    const other = await console.withRole('finance', 'A1001');
    expect((await other.get(`/reports/${own.rows[0]?.id}/file`)).statusCode).toBe(200);
  });

  it('of a month that is written again is as of the newest night in it, as when it is made', async () => {
    const { db } = console.app;
    const runs = await db.query<{ id: bigint; date: string }>(
      'select run_id as id, business_date::text as date from tieout.runs order by business_date',
    );
    const [older, newest] = [runs.rows[0], runs.rows.at(-1)];
    expect(older?.id).not.toBe(newest?.id);
    const month = newest?.date.slice(0, 7) ?? '';
    for (const kind of ['ageing', 'activity', 'settlement']) {
      const [id = 0n] = await queueReports(db, older?.id ?? 0n, [kind], new Date(), month);
      await writeReport(console.app, id);
      const asked = await finance.post('/reports/rewrite', { id: String(id) });
      expect(asked.body, kind).toContain('is being written');
      const again = await db.query(
        `select run_id as id, state, period from tieout.reports where kind = $1
         order by report_id desc limit 1`,
        [kind],
      );
      const expected = { id: newest?.id, state: 'queued', period: month };
      expect(again.rows, kind).toEqual([expected]);
    }
  });

  it('is not offered to whoever sees one account alone', async () => {
    const other = await console.withRole('finance', 'A1001');
    expect((await other.get('/settlement')).body).not.toContain('/settlement/report');
  });
});
