// The statement of a real night: it bridges from the ledger to the gateway with nothing left, in each
// account and currency; and where somebody plants money that no line explains, the workbook and the
// run both say so.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isApprovable } from '../../src/core/instructions/holdReasons.js';
import type { StatementLine } from '../../src/core/runs/statement.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { statementLines } from '../../src/report/statementStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx, sheetOf } from '../reports/openXlsx.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

/** Refunds of other currencies than the one that is named wait. */
const CLOCK = { at: new Date(), timezone: 'UTC' };
const OPERATIONS = {
  ...{ capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' },
  approveAbove: { refund: { PLN: '400.00' } },
};

let house: House;
let summary: RunSummary;
let runId = 0n;

beforeAll(async () => {
  house = await buildHouse({ orders: 300, settings: { operations: OPERATIONS } });
  ({ summary } = await house.run());
  runId = (await findRun(house.db, dateOf(1)))?.runId ?? 0n;
}, 120_000);

afterAll(() => house.end());

async function kept(): Promise<Record<string, string>[]> {
  const { rows } = await house.db.query<Record<string, string>>(
    `select s.account_id, s.currency, s.ledger_captured::text, s.gateway_captured::text,
       s.ledger_refunded::text, s.gateway_refunded::text, s.unexplained_captured::text,
       s.unexplained_refunded::text, jsonb_array_length(s.items)::text as items
     from tieout.statements s join tieout.reports r using (report_id)
     where r.run_id = $1 and r.revision = (
       select max(revision) from tieout.reports n
       where n.run_id = $1 and n.kind = 'reconciliation')
     order by 1, 2`,
    [runId],
  );
  return rows;
}

function bookOf(): string {
  return summary.reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
}

describe('the statement of a night', () => {
  test('leaves nothing unexplained, in any account and currency', async () => {
    const statements = await kept();
    expect(statements.length).toBeGreaterThan(2);
    for (const one of statements) {
      expect([
        one.account_id,
        one.currency,
        one.unexplained_captured,
        one.unexplained_refunded,
      ]).toEqual([one.account_id, one.currency, '0.00', '0.00']);
    }
    expect(statements.some(({ items }) => Number(items) > 4)).toBe(true);
    expect(summary.notices?.some(({ kind }) => kind === 'unexplained') ?? false).toBe(false);
  });

  test('is the first sheet, and its formulas come to what is stored beside them', async () => {
    const book = await openXlsx(bookOf());
    expect(book.worksheets.slice(0, 2).map(({ name }) => name)).toEqual([
      'Statement',
      'Statement lines',
    ]);
    const wrong = evaluateAll(book).filter(({ stored, workedOut }) => stored !== workedOut);
    expect(wrong).toEqual([]);
  });

  test('begins with what the ledger captured, and ends with what the gateway shows', async () => {
    const { rows } = await house.db.query<Record<string, string>>(
      `select o.account_id, o.currency, sum(coalesce(o.capture_amount, o.amount))::text as captured
       from tieout.run_accounts a join tieout.asked_orders o using (pull_id, account_id)
       where a.run_id = $1 and o.expected = 'captured' and o.currency is not null
       group by 1, 2 order by 1, 2`,
      [runId],
    );
    const shown = (await kept()).filter(({ ledger_captured: captured }) => captured !== '0.00');
    expect(
      shown.map(({ account_id, currency, ledger_captured: captured }) => {
        return { account_id, currency, captured };
      }),
    ).toEqual(rows);
  });

  test('ends with all that the gateway took, by whichever transaction of an order', async () => {
    const { rows } = await house.db.query<Record<string, string>>(
      `select account_id, currency, sum(coalesce(part, amount))::text as captured
       from (
         select distinct on (e.account_id, e.order_no, e.transaction_id) e.account_id, e.currency,
           e.amount, (
             select i.amount from tieout.instructions i
             where i.account_id = e.account_id and i.order_no = e.order_no and i.is_part
               and i.operation = 'capture' and i.state = 'confirmed') as part, e.state
         from tieout.pulls p join tieout.look_entries e using (pull_id)
         where p.run_id = $1
         order by e.account_id, e.order_no, e.transaction_id, e.pull_id desc
       ) entry
       where state in ('captured', 'partially_refunded', 'refunded') and amount is not null
       group by 1, 2 order by 1, 2`,
      [runId],
    );
    const doubled = await house.db.query(
      `select from tieout.verdicts where run_id = $1 and 'duplicate_transaction' = any (kinds)`,
      [runId],
    );
    expect(doubled.rows.length).toBeGreaterThan(0);
    const shown = (await kept()).filter(({ gateway_captured: captured }) => captured !== '0.00');
    expect(
      shown.map(({ account_id, currency, gateway_captured: captured }) => {
        return { account_id, currency, captured };
      }),
    ).toEqual(rows);
  });

  test('has a line for a part given back elsewhere, of which nobody says how much', async () => {
    const { rows } = await house.db.query<{ order_no: string }>(
      `select v.order_no from tieout.verdicts v
       where v.run_id = $1 and v.kinds && array['refund_mismatch']`,
      [runId],
    );
    const lines = sheetOf(await openXlsx(bookOf()), 'Statement lines');
    const told = new Set<unknown>();
    lines.eachRow((row) => told.add(row.getCell(2).value));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ order_no: orderNo }) => !told.has(orderNo))).toEqual([]);
  });

  test('says that an approval is waited for of what an approver finds waiting, and of no more', async () => {
    const lines: StatementLine[] = [];
    for await (const some of statementLines(house.db, runId, CLOCK)) lines.push(...some);
    const { rows } = await house.db.query<{ order_no: string; money: string; why: string }>(
      `select order_no, coalesce(refund_amount, amount)::text as money, hold_reason as why
       from tieout.instructions where is_open and state = 'held' and operation <> 'review'`,
    );
    const waiting = new Map(rows.map((row) => [row.order_no, row]));
    const said = lines.filter(({ item }) => item === 'held' || item === 'kept');
    expect(
      said.map(({ orderNo, item, captured, refunded }) => {
        const money = Math.abs(Number(captured)) + Math.abs(Number(refunded));
        return [orderNo, item, money.toFixed(2)];
      }),
    ).toEqual(
      said.map(({ orderNo }) => {
        const one = waiting.get(orderNo);
        return [orderNo, isApprovable(one?.why ?? null) ? 'held' : 'kept', one?.money];
      }),
    );
    const items = new Set(said.map(({ item }) => item));
    expect([...items].sort()).toEqual(['held', 'kept']);
    // a second refund of an order waits for the first, and is said to
    const waits = new Set(said.map(({ orderNo }) => orderNo));
    const later = lines.filter(({ orderNo, item }) => waits.has(orderNo) && item === 'later');
    expect(later.length).toBeGreaterThan(0);
    // of what has no break and no instruction of its own the order is as old as the money
    const { rows: orders } = await house.db.query<{ order_no: string; placed_at: Date }>(
      `select order_no, placed_at from ledger.orders where order_no = any ($1)`,
      [later.map(({ orderNo }) => orderNo)],
    );
    const placed = new Map(orders.map((row) => [row.order_no, row.placed_at]));
    for (const { orderNo, since } of later)
      expect([orderNo, since]).toEqual([orderNo, placed.get(orderNo)]);
    expect(lines.filter(({ since, item }) => since === null && item !== 'not_in_ledger')).toEqual(
      [],
    );
  });

  test('turns red in the workbook when one of its lines says other money', async () => {
    const book = await openXlsx(bookOf());
    const lines = sheetOf(book, 'Statement lines');
    const head = lines.getRow(4).values as unknown[];
    const column = head.indexOf('Captured, gateway − ledger');
    expect(column).toBeGreaterThan(0);
    lines.getRow(5).getCell(column).value = Number(lines.getRow(5).getCell(column).value) + 12.34;
    const changed = evaluateAll(book).filter(
      ({ cell, stored, workedOut }) => cell.startsWith('Statement!') && stored !== workedOut,
    );
    expect(changed.map(({ workedOut }) => workedOut)).toContain(-12.34);
    expect(changed.map(({ workedOut }) => workedOut)).toContain(
      'UNEXPLAINED MONEY: do not sign. See the red cells.',
    );
  });

  test('is told unexplained by workbook and run where what matched holds other money', async () => {
    const { rows } = await house.db.query<{ order_no: string; account_id: string }>(
      `select e.order_no, e.account_id
       from tieout.look_entries e join tieout.run_accounts a
         on a.run_id = $1 and a.account_id = e.account_id and a.pull_id = e.pull_id
       where e.state = 'captured' and not e.is_extra and e.amount = e.amount
         and not exists (select from tieout.verdicts v
           where v.run_id = $1 and v.account_id = e.account_id and v.order_no = e.order_no)
       order by 1 limit 1`,
      [runId],
    );
    const [found] = rows;
    const alter = (by: number): Promise<void> =>
      house.db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(
          `update tieout.look_entries set amount = amount + $3
           where account_id = $1 and order_no = $2`,
          [found?.account_id, found?.order_no, by],
        );
      });
    await alter(5);
    const app = await house.open();
    const ids = await queueReports(house.db, runId, ['reconciliation'], new Date());
    for (const id of ids) await writeReport(app, id);
    const [file] = await writtenByIds(house.db, ids);
    const book = await openXlsx(file?.path ?? '');
    const said = sheetOf(book, 'Statement')
      .getSheetValues()
      .flat()
      .map((cell) =>
        typeof cell === 'object' && cell !== null ? (cell as { result?: unknown }).result : cell,
      );
    expect(said).toContain('UNEXPLAINED MONEY: do not sign. See the red cells.');
    expect((await kept()).filter((one) => one.unexplained_captured !== '0.00')).toMatchObject([
      { account_id: found?.account_id, unexplained_captured: '5.00', unexplained_refunded: '0.00' },
    ]);
    await alter(-5);
  });
});
