// The files of real nights against the database they were made from: every total to the cent, every
// formula one of ours, each file recognised again, old ones deleted and no other. They are read by a
// reader that shares no code with what wrote them.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/cli/app.js';
import { periodOf } from '../../src/core/period.js';
import type { ReportFile, RunSummary } from '../../src/core/runs/summary.js';
import { removeOldReports } from '../../src/report/oldReports.js';
import { newestRunOf } from '../../src/report/periodRowsStore.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { verifyWorkbook } from '../../src/verify/verifyWorkbook.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx } from '../reports/openXlsx.js';
import type { PlainBook } from '../reports/plainReader.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

let house: House;
let app: App;
const nights: RunSummary[] = [];

beforeAll(async () => {
  house = await buildHouse({ daysAgo: 3, orders: 300 });
  for (const daysAgo of [3, 2]) {
    const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
    nights.push((await house.run({ date: dateOf(daysAgo) }, at)).summary);
  }
  app = await house.open();
}, 120_000);

afterAll(() => house.end());

function fileOf(kind: string, night = nights[0]): ReportFile {
  const found = night?.reports.find((report) => report.kind === kind);
  if (!found) throw new Error(`the night wrote no ${kind}`);
  return found;
}

async function periodFile(kind: 'activity' | 'ageing', text: string): Promise<ReportFile> {
  const period = periodOf(text);
  const run = period && (await newestRunOf(app.db, period));
  if (!run) throw new Error(`no run in ${text}`);
  const ids = await queueReports(app.db, run.runId, [kind], new Date(), text);
  for (const id of ids) await writeReport(app, id);
  const [found] = await writtenByIds(app.db, ids);
  if (!found) throw new Error(`${kind} of ${text} was not written`);
  return found;
}

/** The lines of a sheet as texts, those without a cell left out. */
function linesOf(book: PlainBook, name: string): string[][] {
  const sheet = book.sheets.find((one) => one.name === name);
  if (!sheet) throw new Error(`no sheet ${name}`);
  return sheet.rows.map((row) => row.map(({ value }) => value));
}

/** The lines of a section of the first sheet, heading excluded, until the next empty one. */
function section(book: PlainBook, sheet: string, title: string): string[][] {
  const all = book.sheets.find((one) => one.name === sheet)?.rows ?? [];
  const at = all.findIndex((row) => row[0]?.value === title);
  const next = all.findIndex(
    (row, index) => index > at + 1 && rowNumber(row) > rowNumber(all[index - 1]) + 1,
  );
  const rows = all
    .slice(at + 2, next === -1 ? undefined : next)
    .map((row) => row.map((c) => c.value));
  // A line of running text fills its other columns with nothing.
  return rows.filter((row) => row[1] !== '');
}

function rowNumber(row: PlainBook['sheets'][number]['rows'][number] | undefined): number {
  return Number(/\d+$/.exec(row?.[0]?.ref ?? '')?.[0] ?? 0);
}

async function rowsOf(sql: string, values: unknown[] = []): Promise<string[][]> {
  const { rows } = await app.db.query<Record<string, unknown>>(sql, values);
  return rows.map((row) => Object.values(row).map((value) => String(value)));
}

const alter = (change: string) =>
  app.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`update tieout.${change}`);
  });

const openAfter = (night = nights[0]) =>
  (night?.accounts ?? []).reduce((sum, { tie }) => sum + tie.openAfter, 0);
const BEFORE = 'workbook of the night before';
const amounts = (line: readonly string[]): string[] => line.map((one) => Number(one).toFixed(2));
const runOf = (night = nights[0]): string => String(night?.businessDate);

describe('the nightly workbook', () => {
  test('shows the money that the instructions of the run moved, to the cent', async () => {
    const book = await readPlainly(fileOf('reconciliation').path);
    expect(JSON.stringify(book.sheets)).toContain('done or proved between two nights');
    const lines = section(book, 'Summary', 'Money confirmed in this run, by account and currency');
    const wanted = await rowsOf(
      `select account_id, currency,
         coalesce(sum(amount) filter (where operation = 'capture'), 0)::numeric(20, 2) as c,
         coalesce(sum(amount) filter (where operation = 'cancel'), 0)::numeric(20, 2) as x,
         coalesce(sum(refund_amount) filter (where operation = 'refund'), 0)::numeric(20, 2) as r
       from tieout.instructions i join tieout.runs r on r.run_id = i.settled_run_id
       where i.state = 'confirmed' and r.business_date = $1
       group by account_id, currency order by 1, 2`,
      [runOf()],
    );
    const shown = lines
      .map((line) => [...line.slice(0, 2), ...amounts(line.slice(2, 5))])
      .filter((line) => line.slice(2).some((amount) => amount !== '0.00'));
    expect(shown).toEqual(wanted.filter((line) => line.slice(2).some((one) => one !== '0.00')));
    expect(shown.length).toBeGreaterThan(0);
  });

  test('shows the orders of the ledger by account and currency', async () => {
    const book = await readPlainly(fileOf('reconciliation').path);
    const orders = section(book, 'Summary', 'Orders by account and currency');
    const wanted = await rowsOf(
      `select o.account_id, o.currency, count(*)
       from tieout.run_accounts a join tieout.runs r using (run_id)
       join tieout.asked_orders o using (pull_id, account_id)
       where r.business_date = $1 and o.in_ledger group by 1, 2 order by 1, 2`,
      [runOf()],
    );
    const counted = orders
      .map((line) => [line[0], line[1], Number(line[2]) + Number(line[3])])
      .filter(([, , orders]) => orders !== 0);
    expect(counted).toEqual(wanted.map(([account, currency, n]) => [account, currency, Number(n)]));
  });

  test('lists each open break of the night once', async () => {
    const book = await readPlainly(fileOf('reconciliation').path);
    const orders = linesOf(book, 'Breaks').slice(-openAfter());
    const keys = new Set(orders.map((line) => `${line[0]} ${line[1]} ${line[2]}`));
    expect(keys.size).toBe(openAfter());
  });

  test('and every other file holds no formula but ours, each of which comes to what is stored, no link, no object', async () => {
    const files = [
      ...nights.flatMap(({ reports }) => reports),
      await periodFile('activity', dateOf(2).slice(0, 7)),
      await periodFile('ageing', dateOf(2)),
    ];
    const known = /^(IF|SUM|ROUND|SUMPRODUCT|SUBTOTAL|COUNTIFS|[A-Z]+\d+[-+])/;
    let formulas = 0;
    for (const { path } of files) {
      const book = await readPlainly(path);
      for (const { formula } of book.sheets.flatMap(({ rows }) => rows.flat())) {
        if (formula === null) continue;
        formulas += 1;
        expect(formula).toMatch(known);
        expect(formula).not.toMatch(/HYPERLINK|DDE|WEBSERVICE|\[/i);
      }
      expect([...book.parts.values()].join('')).not.toMatch(/<hyperlink|TargetMode|oleObject/);
      const workbook = await openXlsx(path);
      const wrong = evaluateAll(workbook).filter(({ stored, workedOut }) => stored !== workedOut);
      expect([path, wrong]).toEqual([path, []]);
    }
    expect(files).toHaveLength(6);
    expect(formulas).toBeGreaterThan(200);
  }, 60_000);
});

describe('the file of all orders', () => {
  test('comes to the sums of the ledger, class by class', async () => {
    const book = await readPlainly(fileOf('orders').path);
    const lines = linesOf(book, 'Totals')
      .filter((line) => line.length === 6)
      .slice(1)
      .filter(([, , orders]) => Number(orders) > 0);
    const sums = new Map<string, number>();
    for (const [, currency, , ledger] of lines) {
      const key = currency ?? '';
      sums.set(key, (sums.get(key) ?? 0) + Math.round(Number(ledger) * 100));
    }
    const wanted = await rowsOf(
      `select o.currency, (sum(o.amount) * 100)::bigint
       from tieout.run_accounts a join tieout.runs r using (run_id)
       join tieout.asked_orders o using (pull_id, account_id)
       where r.business_date = $1 and o.in_ledger group by 1 order by 1`,
      [runOf()],
    );
    expect([...sums].map(([currency, sum]) => [currency, String(sum)]).sort()).toEqual(wanted);
    expect(linesOf(book, 'Orders').length).toBe(ordersOf() + 3);
  });

  function ordersOf(): number {
    return (nights[0]?.accounts ?? []).reduce(
      (sum, { orders }) => sum + orders.ledger + orders.strangers,
      0,
    );
  }
});

describe('the activity statement', () => {
  test('rolls forward from the first night to the last, and its sums are those of the runs', async () => {
    for (const [index, date] of [dateOf(3), dateOf(2)].entries()) {
      const book = await readPlainly((await periodFile('activity', date)).path);
      expect(linesOf(book, 'Activity').flat()).toContain('All checks on this sheet tie');
      const lines = section(
        book,
        'Activity',
        'Night by night: open breaks in money, and money confirmed',
      );
      const shown = lines.map((line) => [line[0], line[1], ...amounts(line.slice(7, 11))]);
      const wanted = (nights[index]?.accounts ?? []).flatMap(({ accountId, totals }) =>
        totals.map((one) => [
          ...[accountId, one.currency, one.captured, one.cancelled, one.refunded, one.net],
        ]),
      );
      const told = (all: unknown[][]) => all.filter((one) => one.slice(2).some(Number)).map(String);
      expect(told(shown).sort()).toEqual(told(wanted).sort());
      const stakes = await rowsOf(
        `select a.account_id, s.key, s.value::numeric(20, 2)
         from tieout.run_accounts a join tieout.runs r using (run_id), jsonb_each_text(stake_after) s
         where r.business_date = $1 and s.value::numeric <> 0 order by 1, 2`,
        [date],
      );
      const closings = lines
        .map((line) => [line[0], line[1], Number(line[5]).toFixed(2)])
        .filter(([, , closing]) => closing !== '0.00');
      expect(closings.map(String).sort()).toEqual(stakes.map(String).sort());
    }
  }, 60_000);
});

describe('the business days of the statement', () => {
  test('are those of the database, and lead from one to the next', async () => {
    const month = dateOf(2).slice(0, 7);
    const book = await readPlainly((await periodFile('activity', month)).path);
    expect(linesOf(book, 'Activity').flat()).toContain('All checks on this sheet tie');
    const title = 'Business days: opening + captured − refunded + adjustments = closing';
    const lines = section(book, 'Activity', title);
    const shown = lines
      .map((line) => [line[0], line[1], ...amounts(line.slice(4, 6))])
      .filter((line) => line.slice(2).some((amount) => amount !== '0.00'));
    const wanted = await rowsOf(
      `select account_id, currency,
         coalesce(sum(amount) filter (where operation = 'capture'), 0)::numeric(20, 2) as captured,
         coalesce(sum(amount) filter (where operation = 'refund'), 0)::numeric(20, 2) as refunded
       from tieout.day_movements
       where posted_to::text like $1 || '%' and operation in ('capture', 'refund')
       group by 1, 2 order by 1, 2`,
      [month],
    );
    expect(shown.map(String)).toEqual(wanted.map(String));
    expect(shown.length).toBeGreaterThan(3);
    const listed = linesOf(book, 'Business days').slice(2);
    expect(listed.length).toBeGreaterThanOrEqual(shown.length);
  });
});

describe('the ageing of open breaks', () => {
  test('holds the breaks open then, with the money at stake as the night has it', async () => {
    // Each opened with another amount: what it says as it stands is at stake. Done twice, undone.
    const otherwise = `break_events set amount = 90000 - amount where event = 'opened'`;
    await alter(otherwise);
    const book = await readPlainly((await periodFile('ageing', dateOf(2))).path);
    await alter(otherwise);
    expect(linesOf(book, 'Open breaks')).toHaveLength(openAfter(nights[1]) + 2);
    const stakes = await rowsOf(
      `select account_id, currency, sum(stake)::numeric(20, 2) from tieout.break_facts
       where state = 'open' group by 1, 2 having sum(stake) <> 0 order by 1, 2`,
    );
    const lines = section(book, 'Ageing', 'Money at stake in open breaks, by age')
      .filter((line) => line.length > 3 && Number(line.at(-2)) !== 0)
      .map((line) => [line[0], line[1], Number(line.at(-2)).toFixed(2)]);
    expect(lines.map(String).sort()).toEqual(stakes.map(String).sort());
  });
});

describe('the statement of a month', () => {
  test('that a later night makes again is its next revision, and leaves the first alone', async () => {
    const month = dateOf(2).slice(0, 7);
    const written: ReportFile[] = [];
    for (const { businessDate } of nights) {
      const { rows } = await app.db.query<{ id: bigint }>(
        'select run_id as id from tieout.runs where business_date = $1',
        [businessDate],
      );
      const ids = await queueReports(app.db, rows[0]?.id ?? 0n, ['ageing'], new Date(), month);
      for (const id of ids) await writeReport(app, id);
      written.push(...(await writtenByIds(app.db, ids)));
    }
    expect(written[1]?.revision).toBe((written[0]?.revision ?? 0) + 1);
    for (const { path, sha256 } of written) {
      expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(sha256);
    }
  });
});

describe('a workbook on a disk', () => {
  test('is recognised under any name, and its figures are still those of the database', async () => {
    const { path } = fileOf('reconciliation');
    const copy = join(house.folder, 'mailed.xlsx');
    await copyFile(path, copy);
    const found = await verifyWorkbook({ db: app.db }, copy);
    expect(found).toMatchObject({
      kind: 'as_made',
      report: { kind: 'reconciliation', businessDate: runOf(), revision: 1, newestRevision: 1 },
    });
  });

  test('carries digests of its rows, the end of the chain and the night before', async () => {
    const [about] = [
      linesOf(await readPlainly(fileOf('orders', nights[1]).path), 'About this run'),
    ];
    const names = about.map(([name]) => name ?? '').filter((name) => name.startsWith('Manifest: '));
    expect(names.map((name) => name.slice(10)).sort()).toEqual(
      [...['breaks', 'chain', 'figures', 'money moved', 'orders', 'verdicts'], BEFORE].sort(),
    );
    const before = about.find(([name]) => name === `Manifest: ${BEFORE}`)?.[1];
    expect(before).toBe(fileOf('reconciliation', nights[0]).sha256);
    const found = await verifyWorkbook({ db: app.db }, fileOf('orders', nights[1]).path);
    expect(found).toMatchObject({ kind: 'as_made' });
  });

  // Each is its own way back: done twice, everything stands as it was.
  test.each([
    [
      'orders',
      'look_entries',
      'amount = 90000 - amount',
      `order_no = (
       select min(order_no) from tieout.look_entries where amount is not null)`,
    ],
    [
      'breaks',
      'break_events',
      'amount = 90000 - amount',
      `event_id = (select min(e.event_id) from tieout.break_events e
         join tieout.breaks b using (break_id)
         where b.state = 'open' and e.event = 'opened' and e.amount > 0)`,
    ],
    [
      'chain',
      'chain_links',
      'sha256 = reverse(sha256)',
      `(account_id, link_no) in (
         select e.key, e.value::bigint from tieout.reports r,
           jsonb_each_text(substr(r.digests ->> 'chain', 66)::jsonb) e
         where r.kind = 'orders' and r.run_id = (select max(run_id) from tieout.reports))`,
    ],
    [
      BEFORE,
      'reports',
      'sha256 = reverse(sha256)',
      `kind = 'reconciliation' and run_id = (
       select min(run_id) from tieout.reports)`,
    ],
  ])('is told so where somebody altered its %s', async (name, table, change, which) => {
    const { path } = fileOf('orders', nights[1]);
    const otherwise = `${table} set ${change} where ${which}`;
    await alter(otherwise);
    const found = await verifyWorkbook({ db: app.db }, path);
    await alter(otherwise);
    expect(found).toMatchObject({ kind: 'changed_since', differences: [{ name }] });
    expect(await verifyWorkbook({ db: app.db }, path)).toMatchObject({ kind: 'as_made' });
  });

  test('of which one byte was changed is not ours', async () => {
    const copy = join(house.folder, 'changed.xlsx');
    await copyFile(fileOf('orders').path, copy);
    await appendFile(copy, ' ');
    expect(await verifyWorkbook({ db: app.db }, copy)).toMatchObject({ kind: 'not_ours' });
  });

  test('whose night stands otherwise in the database now is told so, by name', async () => {
    await app.db.query(
      `update tieout.runs set summary = jsonb_set(summary, '{asOf}', '"2000-01-01T00:00:00Z"')
       where business_date = $1`,
      [dateOf(2)],
    );
    const found = await verifyWorkbook({ db: app.db }, fileOf('reconciliation', nights[1]).path);
    expect(found).toMatchObject({ kind: 'changed_since', differences: [{ name: 'figures' }] });
  });
});

describe('old reports', () => {
  test('are deleted after keepDays, and nothing that is not the file that was made', async () => {
    const far = new Date(Date.now() + 4_000 * 86_400_000);
    const deps = { db: app.db, config: app.config, now: () => far, log: () => undefined };
    const [kept, gone] = [fileOf('orders').path, fileOf('reconciliation').path];
    await writeFile(kept, 'another file under the name of ours');
    expect(await removeOldReports({ ...deps, now: () => new Date() })).toBe(0);
    expect(await removeOldReports(deps)).toBeGreaterThan(2);
    expect([existsSync(gone), existsSync(kept)]).toEqual([false, true]);
    const findings = await rowsOf(
      'select finding, count(*) from tieout.report_removals group by 1 order by 1',
    );
    expect(findings).toContainEqual(['not_ours', '1']);
    expect(await removeOldReports(deps)).toBe(0);
  });
});
