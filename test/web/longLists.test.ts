// Lists that are longer than what is shown of them: each says how many more there are, or that more
// follow, and none gives a number of pages that is not true.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

let place: ConsoleHouse;
let approver: Visitor;
let finance: Visitor;
let admin: Visitor;

beforeAll(async () => {
  place = await openConsole({ settings: { operations: { refund: 'approve' } } });
  approver = await place.withRole('approver');
  finance = await place.withRole('finance');
  admin = await place.withRole('admin');
}, 180_000);
afterAll(() => place.end());

/** Rows that a night would take months to make. */
async function plant(sql: string, values: unknown[] = []): Promise<void> {
  await place.house.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(sql, values);
  });
}

async function one<T extends object>(sql: string): Promise<T> {
  const [row] = (await place.app.db.query<T>(sql)).rows;
  if (row === undefined) throw new Error('no such row');
  return row;
}

const textOf = (body: string): string =>
  body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'");
const pageOf = (body: string): string => /<span>(Page [^<]*)<\/span>/.exec(body)?.[1] ?? 'none';
const sentence = (body: string): string =>
  textOf(/<p class="sentence"[^>]*>(.*?)<\/p>/.exec(body)?.[1] ?? '').trim();

const copyInstructions = (holdReason: string): string =>
  `insert into tieout.instructions (instruction_id, run_id, account_id, order_no, operation,
     transaction_id, currency, amount, refund_id, refund_amount, from_state, done_states, state,
     hold_reason, created_at)
   overriding system value
   select -n, run_id, account_id, 'PLANTED-' || n, operation, 'T-' || n, currency, amount,
     'R-' || n, refund_amount, from_state, done_states, 'held', '${holdReason}', created_at
   from (select * from tieout.instructions
     where operation = 'refund' and state = 'held' and account_id = 'A1001' limit 1) i,
     generate_series(1, 2001) as n`;

describe('pages', () => {
  it('say how many there are only where they were counted', async () => {
    await plant(
      `insert into tieout.console_events (who, action, outcome, address)
       select 'clara', 'sign in', 'known', 'test' from generate_series(1, 250)`,
    );
    const pages = ['', '&page=2', '&page=3'];
    const bodies = await Promise.all(
      pages.map(async (page) => (await admin.get(`/activity?text=clara${page}`)).body),
    );
    expect(bodies.map(pageOf)).toEqual(['Page 1', 'Page 2', 'Page 3']);
    const next = bodies.map((body) => body.includes('>Next page</a>'));
    expect(next).toEqual([true, true, false]);
  });
});

describe('what one press approves', () => {
  it('is not hidden behind thousands that no approval frees', async () => {
    const { count } = await one<{ count: number }>(
      `select count(*)::int as count from tieout.instructions where operation = 'refund'
         and state = 'held' and account_id = 'A1001' and hold_reason = 'approval'`,
    );
    expect(count).toBeGreaterThan(0);
    await plant(copyInstructions('observed'));
    const path = '/instructions/all/approve?account=A1001&operation=refund';
    const { body } = await approver.get(path);
    expect(sentence(body)).toBe(`${count} will be approved, and sent after one more snapshot.`);
    expect(textOf(body)).toMatch(/ left as they are: no approval frees it.* 2,001 /);
    // What can be ticked is first, though the others are older; and one account is chosen.
    const all = (await approver.get('/approvals')).body;
    expect(all.match(/aria-label="Pick (?!PLANTED)/g)?.length).toBeGreaterThan(1);
    expect(all.indexOf('PLANTED-')).toBeGreaterThan(all.lastIndexOf('aria-label="Pick '));
    expect(sentence(all)).toContain('which no approval frees: 2,002, listed last.');
    const other = (await approver.get('/approvals?account=A1002&sort=amount')).body;
    expect(other).toMatch(/href="\/orders\/A1002\//);
    expect(other).not.toMatch(/PLANTED-|href="\/orders\/A1001\/|<td>A1001</);
    expect(sentence(other)).not.toContain('2,00');
    expect(other).toContain('href="/instructions/all/approve?account=A1002"');
    expect(other).toContain('href="/approvals?account=A1002&amp;sort=age"');
    await plant(`update tieout.instructions set hold_reason = 'approval' where instruction_id < 0`);
    expect(sentence((await approver.get(path)).body)).toBe(
      `2,000 will be approved, and sent after one more snapshot; ${count + 1} more match: ` +
        'the next press goes on with them.',
    );
    const list = (await approver.get('/instructions?state=held')).body;
    expect(pageOf(list)).toBe('Page 1');
    await plant('delete from tieout.instructions where instruction_id < 0');
  }, 120_000);
});

describe('the front page', () => {
  it('adds up those who have breaks and are not named', async () => {
    await plant(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint, currency, amount, owner)
       select account_id, 'OWNED-' || n || '-' || copy, 'missing_at_gateway', state, first_seen,
         first_run_id, last_run_id, '{"amount": "10.00", "currency": "EUR", "state": "captured"}', '{}',
         fingerprint, 'EUR', 10.00, case when n > 0 then 'owner-' || n end
       from (select * from tieout.breaks where state = 'open' limit 1) b,
         generate_series(0, 12) as n,
         generate_series(1, case when n < 10 then 5 else 2 end) as copy`,
    );
    const { body } = await finance.get('/');
    const rest = body.split('<tr>').find((row) => row.includes('>3 more</a>')) ?? '';
    expect(textOf(rest)).toMatch(/^ 3 more 6 60\.00 EUR /);
    expect(rest).toContain('href="/breaks?sort=owner"');
  });
});

describe('the page of a break', () => {
  it('has its whole life, the newest decision too', async () => {
    const { id } = await one<{ id: bigint }>('select min(break_id) as id from tieout.breaks');
    await plant(
      `insert into tieout.break_events (break_id, at, event, from_state, by, reason, expected,
         actual)
       select $1, now(), 'noted', 'open', 'clara', 'word ' || n, '{}', '{}'
       from generate_series(1, 600) as n`,
      [id],
    );
    const { body } = await finance.get(`/breaks/${id}`);
    expect(body).toContain('What happened to this break, oldest first');
    expect(body).toContain('>word 600<');
  });
});

describe('the page of an order', () => {
  it('says from when on it was searched', async () => {
    const { path } = await one<{ path: string }>(
      `select '/orders/' || account_id || '/' || order_no as path from tieout.asked_orders limit 1`,
    );
    expect((await finance.get(path)).body).not.toContain('are not searched');
    await plant(
      `insert into tieout.pulls (pull_id, run_id, kind, as_of, finished_at)
       overriding system value
       select -n, run_id, 'night', '2026-01-01T12:00:00Z', now()
       from (select min(run_id) as run_id from tieout.runs) r, generate_series(1, 250) as n`,
    );
    expect(textOf((await finance.get(path)).body)).toMatch(
      /Earlier snapshots than of 2026-01-01 \d\d:00 are not searched for this list\./,
    );
    await plant('delete from tieout.pulls where pull_id < 0');
  });
});

describe('reports of a month and of a day', () => {
  it('are told apart, each with its own newest revision to write again', async () => {
    const { run, date } = await one<{ run: bigint; date: string }>(
      'select max(run_id) as run, max(business_date)::text as date from tieout.runs',
    );
    const month = date.slice(0, 7);
    await plant(
      `insert into tieout.reports (run_id, kind, period, format, revision, state, created_at,
         written_at, path, sha256, bytes)
       select $1, 'activity', period, 'xlsx', revision, 'written', now(), now(), '/nowhere',
         repeat('a', 64), 1
       from (values ($2, 1), ($2, 2), ($3, 1)) as r (period, revision)`,
      [run, month, date],
    );
    await plant(
      `insert into tieout.console_events (who, action, subject, outcome, address)
       select 'clara', 'download', 'report ' || report_id, '', 'test'
       from tieout.reports, generate_series(1, 7) where period = $1`,
      [date],
    );
    const { body } = await finance.get('/reports');
    const rows = body.split('<tr>').filter((row) => row.includes('activity of '));
    const told = rows.map((row) => [
      /activity of [\d-]+ \(xlsx\)/.exec(row)?.[0],
      /Write again<span class="unseen"> ([^<]*)</.exec(row)?.[1],
    ]);
    expect(told).toEqual([
      [`activity of ${date} (xlsx)`, `activity of ${date}`],
      [`activity of ${month} (xlsx)`, `activity of ${month}`],
      [`activity of ${month} (xlsx)`, undefined],
    ]);
    expect(textOf(rows[0] ?? '')).toContain(' and 2 more');
  });
});
