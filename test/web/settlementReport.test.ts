// The settlement report on the console: asked for by whoever may take reports of all accounts,
// written by a worker, handed out on the same page.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/report/writeReport.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf } from './consoleHouse.js';

let console: ConsoleHouse;
let finance: Visitor;

beforeAll(async () => {
  console = await openConsole({ settings: { settlement: { from: dateOf(30) } } });
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

  it('is not offered to whoever sees one account alone', async () => {
    const other = await console.withRole('finance', 'A1001');
    expect((await other.get('/settlement')).body).not.toContain('/settlement/report');
  });
});
