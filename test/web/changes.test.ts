// What changed since the run before, over four real nights: each break stands under one change, the
// sums are those of the listed rows, and they lead from the open money of one night to the next's.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listChanged, sumChanged } from '../../src/breaks/changedStore.js';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import type { BreakAction } from '../../src/core/breaks/breakDecision.js';
import { NOT_APPROVABLE } from '../../src/core/instructions/holdReasons.js';
import { moneyIn } from '../../src/core/text/amounts.js';
import { statement } from '../../src/database/statements.js';
import { closedUntil, holdDays } from '../../src/days/daysStore.js';
import { consoleRun } from '../../src/report/consoleRunsStore.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx, sheetOf } from '../reports/openXlsx.js';
import type { House } from '../support/night.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf } from './consoleHouse.js';

const ACCOUNTS = ['A1001', 'A1002'];
const READER = { accounts: ACCOUNTS, seesAll: true };
const NIGHTS = [4, 3, 2, 1].map(dateOf);
const [, SECOND = '', THIRD = '', LAST = ''] = NIGHTS;
const SHEET = 'Since the run before';
const ALL = { limit: 10_000, offset: 0 };

let console: ConsoleHouse;
let viewer: Visitor;
/** Orders that differ by 5.00 from the second night on; one new in the third, then waived. */
let differing: string[] = [];
let passing = '';

beforeAll(async () => {
  console = await openConsole({ orders: 300, settings: { operations: {} }, before: threeNights });
  viewer = await console.withRole('viewer');
}, 180_000);
afterAll(() => console.end());

async function threeNights(house: House): Promise<void> {
  const night = (daysAgo: number) =>
    house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
  await night(4);
  await house.db.query(
    `update ledger.orders o set amount = amount + 5
     where account_id = 'A1001' and expected = 'captured' and currency = 'EUR' and not exists (
       select from tieout.breaks b
       where b.account_id = o.account_id and b.order_no = o.order_no)`,
  );
  await night(3);
  const { rows } = await house.db.query<{ order_no: string }>(
    `select order_no from tieout.breaks
     where kind = 'amount_mismatch' and account_id = 'A1001' and state = 'open' and amount = 5
       and first_run_id = (select run_id from tieout.runs where business_date = $1)
     order by order_no limit 5`,
    [SECOND],
  );
  differing = rows.map(({ order_no }) => order_no);
  // Waived before it changes: the night opens it again.
  await decide(house, differing[4], { kind: 'waive', reason: 'rounded, too' });
  for (const [at, by] of [7, -2, -5, 0, 1].entries()) {
    await house.db.query(
      `update ledger.orders set amount = amount + $2 where account_id = 'A1001' and order_no = $1`,
      [differing[at], by],
    );
  }
  await decide(house, differing[3], { kind: 'waive', reason: 'rounded at the till' });
  const { rows: others } = await house.db.query<{ order_no: string }>(
    `update ledger.orders set amount = amount + 5 where order_no = (select min(order_no)
       from ledger.orders where account_id = 'A1001' and expected = 'captured' and currency <> 'EUR'
         and order_no not in (select order_no from tieout.breaks)) returning order_no`,
  );
  passing = others[0]?.order_no ?? '';
  await night(2);
  await decide(house, passing, { kind: 'waive', reason: 'a gift card' });
  await night(2);
  await decide(house, differing[3], { kind: 'reopen', reason: 'it was not' });
  await decide(house, differing[0], { kind: 'assign', owner: 'Olga' });
}

async function decide(house: House, orderNo: string | undefined, action: BreakAction) {
  const { rows } = await house.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks
     where account_id = 'A1001' and order_no = $1 and kind = 'amount_mismatch'`,
    [orderNo],
  );
  const approveAbove = { capture: null, cancel: null, refund: null, review: null, payout: null };
  const config = { operations: { approveAbove } };
  const [row] = await decideBreaks(
    { db: house.db, now: () => new Date(), newId: randomUUID, config },
    { ids: rows.map(({ id }) => id), action, who: { name: 'anna', isClaim: true }, over: null },
  );
  if (row === undefined || row.kind === 'refused') throw new Error('nothing was decided');
}

async function runOf(date: string): Promise<bigint> {
  const run = await consoleRun(console.app.db, READER, date);
  if (run === null) throw new Error(`no run of ${date}`);
  return run.runId;
}

const any = async (date: string) => ({
  runId: await runOf(date),
  accountIds: ACCOUNTS,
  currency: null,
  change: null,
});

const short = (one: { change: string; before: string | null; after: string | null }) =>
  `${one.change} ${one.before} ${one.after}`;

describe('what changed since the run before', () => {
  it('says of each break what it was and what it is, by whom and why', async () => {
    const { db } = console.app;
    const found = await listChanged(db, await any(THIRD), ALL);
    const of = (at: number) => found.filter(({ orderNo }) => orderNo === differing[at]);
    expect(differing).toHaveLength(5);
    expect([0, 1, 2, 3, 4].map((at) => of(at).map(short))).toEqual([
      ['grown 5.00 12.00'],
      ['shrunk 5.00 3.00'],
      ['resolved 5.00 null'],
      ['waived 5.00 null'],
      ['grown 5.00 6.00'],
    ]);
    expect(of(0)[0]).toMatchObject({ moved: '7.00', currency: 'EUR', by: 'tieout' });
    expect(of(2)[0]).toMatchObject({ moved: '-5.00', by: 'tieout', cause: 'ledger' });
    const { body } = await viewer.get(`/nights/${THIRD}/changes?change=grown`);
    expect(body).toContain(`${differing[0]}</a></th>`);
    expect(body.match(/data-name="Owner">[^<]*/g)).toContain('data-name="Owner">Olga');
    expect(of(3)[0]).toMatchObject({ by: 'anna', isClaim: true, reason: 'rounded at the till' });
    const last = await listChanged(db, { ...(await any(LAST)), change: 'reopened' }, ALL);
    expect(last.map((one) => [one.orderNo, short(one), one.by])).toEqual([
      [differing[3], 'reopened null 5.00', 'anna'],
    ]);
  });

  it('lists what came and went between two ends under both', async () => {
    const found = await listChanged(console.app.db, await any(THIRD), ALL);
    const own = found.filter(({ orderNo }) => orderNo === passing);
    expect(own.map(short)).toEqual(['new null 5.00', 'waived 5.00 null']);
    expect(own[1]).toMatchObject({ by: 'anna', reason: 'a gift card' });
  });

  it('leads from the open money of one night to that of the next, by currency', async () => {
    const open = async (date: string) => {
      const values = [[await runOf(date)], null];
      const { db } = console.app;
      const { rows } = await db.query<Line>(statement('report/listedBreaks'), values);
      return sums(rows.map((row) => ({ ...row, money: row.stake ?? '0' })));
    };
    for (const [at, date] of NIGHTS.entries()) {
      const moved = await sumChanged(console.app.db, await runOf(date), ACCOUNTS);
      const before = NIGHTS[at - 1];
      const led = new Map(before === undefined ? [] : await open(before));
      for (const { accountId, currency, moved: money } of moved) {
        add(led, `${accountId} ${currency}`, money);
      }
      expect([...led].filter(([, money]) => money !== 0).sort()).toEqual(
        [...(await open(date))].filter(([, money]) => money !== 0).sort(),
      );
    }
  });

  it('counts and sums what it lists, and has as many new ones as the tie counts', async () => {
    for (const date of NIGHTS) {
      const wanted = await any(date);
      const figures = await sumChanged(console.app.db, wanted.runId, ACCOUNTS);
      const run = await consoleRun(console.app.db, READER, date);
      const listed = figures.filter(({ change }) => change === 'new');
      expect(listed.reduce((sum, { breaks }) => sum + breaks, 0)).toBe(
        run?.summary?.accounts.reduce((sum, { tie }) => sum + tie.new, 0),
      );
      const all = await listChanged(console.app.db, wanted, ALL);
      expect(figures.reduce((sum, { breaks }) => sum + breaks, 0)).toBe(all.length);
      for (const { accountId, currency, change, breaks, moved } of figures) {
        const filter = { ...wanted, accountIds: [accountId], currency: currency ?? '', change };
        const rows = await listChanged(console.app.db, filter, ALL);
        expect(rows).toHaveLength(breaks);
        expect(rows.reduce((sum, row) => sum + cents(row.moved), 0)).toBe(cents(moved));
      }
    }
  });

  it('stands in the workbook of each night, whose sums tie to the breaks it lists', async () => {
    const { app } = console;
    for (const date of NIGHTS) {
      const runId = await runOf(date);
      for (const id of await queueReports(app.db, runId, ['reconciliation'], new Date())) {
        await writeReport(app, id);
      }
      const { rows } = await app.db.query<{ path: string }>(
        `select path from tieout.reports where kind = 'reconciliation' and run_id = $1
         order by revision desc limit 1`,
        [runId],
      );
      const book = await openXlsx(rows[0]?.path ?? '');
      const { value } = sheetOf(book, SHEET).getCell('A4');
      expect(value).toMatch(
        date === NIGHTS[0] ? /^nothing to compare/ : /^since the night of \S+, rev/,
      );
      const cells = evaluateAll(book).filter(({ cell }) => cell.startsWith(`${SHEET}!`));
      const differences = cells.filter(({ formula }) => /^(?:ROUND\()?K\d+-J\d+/.test(formula));
      expect(differences.length).toBeGreaterThan(1);
      for (const { workedOut, stored, cell } of cells) expect(workedOut, cell).toBe(stored);
      expect(differences.map(({ workedOut }) => workedOut)).toEqual(differences.map(() => 0));
      const all = await listChanged(app.db, await any(date), ALL);
      const listed = sheetOf(book, SHEET).getColumn(3).values.slice(1).filter(isBreakNumber);
      expect(listed.map(String)).toEqual(all.map(({ breakId }) => breakId));
    }
  });

  it('says what it counts from, the same on page and sheet; of a first night that there is nothing', async () => {
    const { rows } = await console.app.db.query<{ revision: number }>(
      `select max(p.revision) as revision from tieout.reports p join tieout.runs r using (run_id)
       where r.business_date = $1 and p.kind = 'reconciliation' and p.written_at <= (
         select finished_at from tieout.runs where business_date = $2)`,
      [THIRD, LAST],
    );
    const base = `since the night of ${THIRD}, revision ${rows[0]?.revision}`;
    for (const path of ['/', `/nights/${LAST}`, `/nights/${LAST}/changes`]) {
      expect((await viewer.get(path)).body).toContain(`S${base.slice(1)}.`);
    }
    // Waived and open again in between: the tie counts both, and the list compares two ends.
    const again = '(1 reopened, 0 of them listed so)';
    const third = (await viewer.get(`/nights/${THIRD}`)).body;
    expect(third).toMatch(/1 break was waived or settled and opened again in between/);
    expect(third).toContain(again);
    const runThird = await consoleRun(console.app.db, READER, THIRD);
    expect(runThird?.summary?.accounts.map(({ tie }) => tie.reopened)).toContain(1);
    expect((await viewer.get(`/nights/${LAST}`)).body).not.toContain('of them listed so');
    const { rows: books } = await console.app.db.query<{ path: string }>(
      `select path from tieout.reports where kind = 'reconciliation' and run_id = $1 order by -revision`,
      [await runOf(THIRD)],
    );
    const said = sheetOf(await openXlsx(books[0]?.path ?? ''), SHEET).getCell('A5').value;
    expect(String(said)).toContain(again);
    const first = (await viewer.get(`/nights/${NIGHTS[0]}`)).body;
    expect(first).toContain('Nothing to compare with: it is the first night');
    expect(first).not.toContain('Breaks that changed, by account and currency');
  });

  it('stands on the pages of a night, each figure a link to its rows', async () => {
    const { body } = await viewer.get(`/nights/${THIRD}`);
    const link = /<a href="(\/nights\/[^"]+change=grown)">(\d+)<\/a>/.exec(body);
    const { body: grown } = await viewer.get((link?.[1] ?? '').replaceAll('&amp;', '&'));
    expect(link?.[1]).toContain('account=A1001&amp;currency=EUR&amp;change=grown');
    expect(ordersOn(grown)).toHaveLength(Number(link?.[2]));
    expect(ordersOn(grown)).toContain(differing[0]);
    const { body: waived } = await viewer.get(`/nights/${THIRD}/changes?change=waived`);
    expect(waived).toContain('anna (as said on the command line)');
    expect(waived).toContain('rounded at the till');
    expect((await viewer.get('/')).body).toContain(`/nights/${LAST}/changes?account=A1001`);
  });

  it('stands above what is open now: money by currency and age, and who has it', async () => {
    const { rows } = await console.app.db.query<{ currency: string; amount: string }>(
      `select currency, round(sum(stake), 2)::text as amount from tieout.found_breaks(null, null,
         null, '{open}', null, null, null, null, null, null, null, null, null)
       where currency is not null and stake is not null group by currency order by currency`,
    );
    const { rows: held } = await console.app.db.query<{ currency: string; amount: string }>(
      `select currency, sum(coalesce(refund_amount, amount))::text as amount
       from tieout.instructions
       where state = 'held' and operation <> 'review' and hold_reason <> all ($1)
       group by currency`,
      [NOT_APPROVABLE],
    );
    expect(rows.length).toBeGreaterThan(1);
    expect(held.length).toBeGreaterThan(0);
    const { body } = await viewer.get('/');
    for (const { currency, amount } of rows) {
      expect(body).toContain(
        `<a href="/breaks?currency=${currency}">${moneyIn(amount, currency)}</a>`,
      );
      const link = `<a href="/breaks\\?currency=${currency}&amp;age=[^"]+">([^<]+) ${currency}</a>`;
      const ages = body.matchAll(new RegExp(link, 'g'));
      const sum = [...ages].reduce((all, [, one = '']) => all + Number(one.replaceAll(',', '')), 0);
      expect(sum, currency).toBeCloseTo(Number(amount), 2);
    }
    for (const { currency, amount } of held) expect(body).toContain(moneyIn(amount, currency));
    expect(body).toContain('<a href="/breaks?owner=-">nobody yet</a>');
  });

  it('shows a reader of one account nothing of another', async () => {
    const other = await console.withRole('viewer', 'A1002');
    const { body } = await other.get(`/nights/${THIRD}/changes?account=A1001`);
    expect(body.replace('&quot;A1001&quot; is no account to choose', '')).not.toContain('A1001');
    expect((await other.get('/nights/2001-01-01/changes')).statusCode).toBe(404);
  });
});

/** In the column that has what was open before above the lines. */
function isBreakNumber(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

type Line = { account_id: string } & Record<'currency' | 'stake', string | null>;

const cents = (money: string) => Math.round(Number(money) * 100);

function add(to: Map<string, number>, key: string, money: string): void {
  to.set(key, (to.get(key) ?? 0) + cents(money));
}

function sums(rows: readonly (Line & { money: string })[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) add(found, `${row.account_id} ${row.currency}`, row.money);
  return found;
}

function ordersOn(body: string): string[] {
  return [...body.matchAll(/<th scope="row"><a href="\/orders\/A\d+\/([^"]+)"/g)].map(
    ([, orderNo = '']) => decodeURIComponent(orderNo),
  );
}

it('closes the open days before a day only as they were shown with it', async () => {
  const { db } = console.house;
  const finance = await console.withRole('finance');
  const path = `/days/A1001/${THIRD}`;
  const fieldOf = (body: string, name: string) =>
    new RegExp(`name="${name}" value="([0-9a-f]{64})"`).exec(body)?.[1] ?? '';
  // Money that moves between the two days leaves the figures of the third as they are.
  const moved = `insert into tieout.day_sums (account_id, currency, operation, is_late, posted_to,
      movements, amount)
    select 'A1001', 'EUR', 'capture', false, d.posted_to::date, 0, d.amount
    from (values ($1, 1.00), ($2, -1.00)) as d (posted_to, amount)
    on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = day_sums.amount + excluded.amount`;
  const move = () =>
    db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(moved, [NIGHTS[0], SECOND]);
    });
  await move();
  // More than one press closes are not offered: the first are closed on a page of their own.
  const behind = (text: string) =>
    db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(text);
    });
  await behind(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     select r.business_date - n, array[r.business_date - n], r.starts_at, r.ends_at, 'tied_out',
       'test', '{}', '', 'planted', now(), now(), '{}'
     from tieout.runs r, generate_series(1, 33) as n where r.business_date = '${NIGHTS[0]}'`,
  );
  await behind(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of)
     select run_id, 'A1001', business_date, 'M1', 'tied_out', now() from tieout.runs
     where version = 'planted'`,
  );
  const many = (await finance.get(path)).body;
  expect(many).toContain(' and 4 more<');
  expect(many).toMatch(/close those up to \d{4}-\d\d-\d\d first<\/a>/);
  expect(many).not.toContain('name="earlier"');
  await behind(
    `delete from tieout.run_accounts using tieout.runs r
     where r.run_id = run_accounts.run_id and r.version = 'planted'`,
  );
  await behind(`delete from tieout.runs where version = 'planted'`);
  const { body } = await finance.get(path);
  for (const date of [NIGHTS[0], SECOND]) expect(body).toContain(`href="/days/A1001/${date}"`);
  const shown = { seen: fieldOf(body, 'seen'), earlier: fieldOf(body, 'earlier') };
  const press = (given: Record<string, string>) =>
    finance.post('/days/close', { account: 'A1001', date: THIRD, words: 'month end', ...given });
  await move();
  const late = await refusalOf(finance, await press(shown));
  expect(late).toContain('What was shown has changed since: nothing was signed.');
  const again = (await finance.get(path)).body;
  expect(again).toContain('>2.00<');
  expect(fieldOf(again, 'seen')).toBe(shown.seen);
  const now = { seen: shown.seen, earlier: fieldOf(again, 'earlier') };
  // Figures that move while the press waits for its turn are not closed on either.
  const raced = await db.transaction(async (tx) => {
    await holdDays(tx, 'A1001');
    const pressed = press(now);
    await vi.waitFor(
      async () => {
        const { rows } = await db.query(
          `select from pg_locks where locktype = 'advisory' and not granted`,
        );
        expect(rows).toHaveLength(1);
      },
      { timeout: 30_000 },
    );
    await tx.query('set local session_replication_role = replica');
    await tx.query(moved, [NIGHTS[0], SECOND]);
    return { pressed };
  });
  const refusal = await refusalOf(finance, await raced.pressed);
  expect(refusal).toContain('What was shown has changed since: nothing was signed.');
  expect(await closedUntil(db, 'A1001')).toBe(null);
  const last = (await finance.get(path)).body;
  const done = await press({ seen: fieldOf(last, 'seen'), earlier: fieldOf(last, 'earlier') });
  expect(done.body).toMatch(new RegExp([NIGHTS[0], SECOND, THIRD].join(' on revision [^;]*; ')));
});
