// The page of the lines of one item of the statement: for every item of every statement its rows add
// up to the figure on the statement that is shown, also after the night went on; each row leads to
// its order, its break and its instruction, and nobody sees those of another account.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatAmount, parseSum } from '../../src/core/money.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { APPROVE } from '../support/deciding.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

let console: ConsoleHouse;
let viewer: Visitor;
const url = `/nights/${dateOf(1)}/statement`;

beforeAll(async () => {
  console = await openConsole({
    orders: 400,
    // So many differ that they fill more than one page.
    before: async ({ db }) => {
      await db.query(
        `update ledger.orders set amount = amount + 5
         where account_id = 'A1001' and expected = 'captured' and currency = 'EUR'`,
      );
    },
    settings: { operations: { capture: 'approve', cancel: 'auto', refund: 'auto' } },
  });
  viewer = await console.withRole('viewer');
}, 120_000);
afterAll(() => console.end());

interface Item {
  path: string;
  lines: number;
  captured: string;
  refunded: string;
}

const FIGURE = '<td class="figure"[^>]*>([^<]*)</td>';

/** The items of every statement of the page, with the address that each leads to. */
async function itemsOf(visitor: Visitor): Promise<Item[]> {
  const { body } = await visitor.get(url);
  const row = new RegExp(
    `<tr><td><span><a href="([^"]+)">[^<]*</a></span></td>${FIGURE.repeat(3)}`,
    'g',
  );
  return [...body.matchAll(row)].map(([, path = '', lines = '', captured = '', refunded = '']) => ({
    path: path.replaceAll('&amp;', '&'),
    ...{ lines: Number(plain(lines)), captured: plain(captured), refunded: plain(refunded) },
  }));
}

function plain(figure: string): string {
  return figure.replaceAll(/[\s,\u202f\u00a0]/g, '').replace('−', '-');
}

/** All rows of the page and the pages behind it, each as the texts of its cells. */
async function rowsOf(visitor: Visitor, path: string): Promise<{ rows: string[][]; html: string }> {
  const rows: string[][] = [];
  let html = '';
  for (let next: string | undefined = path; next !== undefined; ) {
    const { statusCode, body } = await visitor.get(next);
    expect(statusCode, next).toBe(200);
    const [, listed = ''] = /<tbody>(.*?)<\/tbody>/s.exec(body) ?? [];
    for (const [, row = ''] of listed.matchAll(/<tr>(.*?)<\/tr>/gs)) {
      const cells = [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)];
      rows.push(cells.map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '')));
    }
    html += body;
    next = /<a href="([^"]+)">Next page/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  }
  return { rows, html };
}

const CAPTURED = 6;
const REFUNDED = 9;

function sumOf(rows: readonly string[][], column: number): string {
  const sum = rows.reduce((total, row) => total + (parseSum(plain(row[column] ?? '')) ?? 0n), 0n);
  return formatAmount(sum);
}

/** That each item is the sum of the rows that it leads to. */
async function expectSums(items: readonly Item[]): Promise<void> {
  for (const item of items) {
    const { rows, html } = await rowsOf(viewer, item.path);
    expect({
      path: item.path,
      lines: rows.length,
      captured: sumOf(rows, CAPTURED),
      refunded: sumOf(rows, REFUNDED),
    }).toEqual({ ...item, captured: money(item.captured), refunded: money(item.refunded) });
    expect(html).not.toContain('class="problem"');
  }
}

/** Of a currency without decimals too. */
function money(figure: string): string {
  return formatAmount(parseSum(figure) ?? 0n);
}

it('lists the lines of every item, which add up to its figure', async () => {
  const items = await itemsOf(viewer);
  expect(items.length).toBeGreaterThan(5);
  // More than a page, to its end.
  expect(Math.max(...items.map(({ lines }) => lines))).toBeGreaterThan(100);
  await expectSums(items);
});

it('says when the gateway was looked at, which is not when the workbook was written', async () => {
  const { rows } = await console.app.db.query<{ at: string }>(
    `select to_char(as_of at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as at from tieout.runs`,
  );
  await console.app.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`update tieout.reports set written_at = '2026-12-24T17:00:00Z'`);
  });
  const { body } = await viewer.get(url);
  expect(body).toContain(`checked at ${rows[0]?.at}, written 2026-12-24 17:00.`);
  const [item] = await itemsOf(viewer);
  expect((await viewer.get(item?.path ?? '')).body).toContain(`checked at ${rows[0]?.at}. `);
});

it('leads from each row to the order, and to the break or instruction that explains it', async () => {
  const items = await itemsOf(viewer);
  const pathOf = (item: string) => items.find(({ path }) => path.endsWith(`item=${item}`))?.path;
  const broken = await rowsOf(viewer, pathOf('amount_mismatch') ?? '');
  expect(broken.rows[0]?.[1]).toMatch(/^Break \d+$/);
  const held = await rowsOf(viewer, pathOf('held') ?? '');
  expect(held.rows[0]?.[1]).toMatch(/^Instruction \d+$/);
  for (const [what, { html }] of Object.entries({ breaks: broken, instructions: held })) {
    for (const link of [new RegExp(`"(/${what}/\\d+)"`), /"(\/orders\/A100\d\/[^"]+)"/]) {
      const [, to = 'none'] = link.exec(html) ?? [];
      expect([to, (await viewer.get(to)).statusCode]).toEqual([to, 200]);
    }
  }
  // The owner is today's; the list of all breaks of the kind is another one.
  const id = /"\/breaks\/(\d+)"/.exec(broken.html)?.[1];
  await console.app.db.query(`update tieout.breaks set owner = 'Anna' where break_id = $1`, [id]);
  const owned = await viewer.get(pathOf('amount_mismatch') ?? '');
  expect(owned.body).toContain('>Anna</td>');
  expect(owned.body).toContain('/breaks?account=A1001&amp;kind=amount_mismatch');
});

it('leads from what moved after the night to the page of the day, which lists it', async () => {
  const { app } = console;
  const { rows } = await app.db.query<{ id: bigint; orderNo: string; amount: string }>(
    `select instruction_id as id, order_no as "orderNo", amount::text from tieout.instructions
     where state = 'held' and operation = 'capture' and account_id = 'A1002'
       and hold_reason <> 'partial_capture'`,
  );
  const ids = rows.map(({ id }) => id);
  const who = { name: 'anna', isClaim: false };
  await decideInstructions(await app.sendDeps(), { ids, decision: APPROVE, who });
  await sendApproved(await app.sendDeps(), ['A1002'], await app.workforce());
  const day = `/days/A1002/${dateOf(1)}`;
  const finance = await console.withRole('finance');
  expect((await finance.get(url)).body).toContain(`<a href="${day}"> Its orders</a>`);
  const { body } = await finance.get(day);
  const listed = body.split('What moved after the night of this day had ended').at(-1);
  expect(rows.length).toBeGreaterThan(0);
  for (const { orderNo, amount } of rows) {
    expect(listed).toMatch(
      new RegExp(`${orderNo}</a></th><td[^>]*>capture</td><td class="figure"[^>]*>${amount}<`),
    );
  }
});

it('lists what the statement says also after the night went on', async () => {
  const before = await itemsOf(viewer);
  const approver = await console.withRole('approver');
  const shown = (await approver.get('/instructions/all/reject')).body;
  const seen = /name="seen" value="([^"]+)"/.exec(shown)?.[1] ?? '';
  const done = await approver.post('/instructions/all/reject', { seen, words: 'goods kept' });
  expect(done.statusCode).toBe(200);
  const { rows } = await console.app.db.query(
    `select from tieout.instructions where state = 'held' and operation = 'capture'`,
  );
  expect(rows).toEqual([]);
  expect(await itemsOf(viewer)).toEqual(before);
  await expectSums(before);
});

it('shows nothing of another account, and no item that the statement has not', async () => {
  const [foreign] = await itemsOf(viewer);
  expect(foreign?.path).toContain('account=A1001');
  const other = await console.withRole('viewer', 'A1002');
  expect((await other.get(foreign?.path ?? '')).statusCode).toBe(404);
  for (const query of ['', '?account=A1001&currency=EUR', '?account=A1001&currency=EUR&item=x']) {
    expect((await viewer.get(`${url}/lines${query}`)).statusCode, query).toBe(404);
  }
});

it('says so where the lines are not those of the statement, or are not kept', async () => {
  const item = (await itemsOf(viewer)).find(({ path }) => path.endsWith('=held'));
  const { db } = console.app;
  await db.query(
    `update tieout.written_lines set gateway_captured = coalesce(gateway_captured, 0) + 1
     where item = 'held'`,
  );
  expect((await viewer.get(item?.path ?? '')).body).toContain('do not come to that: do not sign');
  await db.query('delete from tieout.written_lines');
  const { body } = await viewer.get(item?.path ?? '');
  expect(body).toContain('Its lines are not kept here');
});

it('marks on the lines of a later revision what moved after the night, as its workbook does', async () => {
  const { db } = console.app;
  const run = await findRun(db, dateOf(1));
  // Asked for long before it is written: what counts is what its file has.
  const ids = await queueReports(db, run?.runId ?? 0n, ['reconciliation'], new Date(0));
  for (const id of ids) await writeReport(await console.house.open(), id);
  const { rows: sent } = await db.query<{ order: string; money: string }>(
    `select order_no as order, amount::text as money from tieout.instructions
     where account_id = 'A1002' and operation = 'capture' and state = 'confirmed'
       and order_no in (select order_no from tieout.written_lines where item = 'moved_after')`,
  );
  expect(sent.length).toBeGreaterThan(0);
  const items = (await itemsOf(viewer)).filter(({ path }) => path.endsWith('item=moved_after'));
  const listed = await Promise.all(items.map(({ path }) => rowsOf(viewer, path)));
  const cells = listed.flatMap(({ rows }) => rows);
  for (const { order, money: moved } of sent) {
    const row = cells.find(([first]) => first === order);
    expect(row?.slice(-2).map(plain)).toEqual([moved, '']);
  }
  expect(listed[0]?.html).toContain('Captured after the night');
  const finance = await console.withRole('finance');
  const csv = (await finance.get(items[0]?.path.replace('/lines?', '/lines.csv?') ?? '')).body;
  expect(csv).toContain('moved_captured');
  // Where nothing moved there is no such column.
  const held = (await itemsOf(viewer)).find(({ path }) => path.endsWith('item=amount_mismatch'));
  expect((await viewer.get(held?.path ?? '')).body).not.toContain('after the night');
});
