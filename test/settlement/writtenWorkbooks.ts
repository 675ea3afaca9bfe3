// The nightly workbook of a house where settlement is kept: written once more, and what its Summary
// says is not settled. Neighbour: night.test.ts.

import type { Workbook } from 'exceljs';
import { addAmounts } from '../../src/core/money.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { openXlsx, sheetOf } from '../reports/openXlsx.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';

/** What the first lines of the Summary say of a currency. */
export const NOT_YET_SETTLED =
  /not yet settled[^:]*: (-?[\d,]+(?:\.\d\d)?) ([A-Z]{3}), the oldest since \d{4}-\d\d-\d\d/;

export async function newestWorkbook(house: House, date: string): Promise<string> {
  const { rows } = await house.db.query<{ path: string }>(
    `select path from tieout.reports join tieout.runs using (run_id)
     where kind = 'reconciliation' and business_date = $1 order by revision desc limit 1`,
    [date],
  );
  return rows[0]?.path ?? '';
}

/** What the Summary of the newest workbook says is not settled, by currency; nothing where 0.00. */
export async function saidNotSettled(house: House, date: string): Promise<Map<string, string>> {
  const book = await readPlainly(await newestWorkbook(house, date));
  const summary = book.sheets.find(({ name }) => name === 'Summary');
  const said = summary?.rows.flat().map(({ value }) => NOT_YET_SETTLED.exec(value)) ?? [];
  return new Map(
    said.flatMap((found) => {
      if (found === null) return [];
      const [, amount = '', currency = ''] = found;
      const plain = Number(amount.replaceAll(',', '')).toFixed(2);
      return plain === '0.00' ? [] : [[currency, plain] as const];
    }),
  );
}

/** The workbook of a night as it is written now. */
export async function writtenOnceMore(house: House, date: string): Promise<void> {
  const app = await house.open();
  const run = await findRun(app.db, date);
  const ids = await queueReports(app.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  for (const id of ids) await writeReport(app, id);
}

/** The workbook of a date, written while a refund of ours of that date counts on another one. */
export async function withLateRefund(
  house: House,
  date: string,
  on: string,
): Promise<{ orderNo: string; book: Workbook }> {
  const { db } = house;
  const { rows } = await db.query<Record<'movement_id' | 'order_no', string>>(
    `select movement_id::text, order_no from tieout.movements
     where business_date = $1 and kind = 'refunded' and made = 'here'
     order by movement_id limit 1`,
    [date],
  );
  const [late] = rows;
  if (late === undefined) throw new Error(`no refund of ours on ${date}`);
  const counts = (day: string): Promise<void> =>
    db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query('update tieout.movements set business_date = $2 where movement_id = $1', [
        late.movement_id,
        day,
      ]);
    });
  await counts(on);
  await writtenOnceMore(house, date);
  await counts(date);
  return { orderNo: late.order_no, book: await openXlsx(await newestWorkbook(house, date)) };
}

/** Closings added up by currency, without those that come to nothing. */
export function byCurrency(
  rows: readonly { currency: string; closing: string }[],
): Map<string, string> {
  const sums = new Map<string, string>();
  for (const { currency, closing } of rows) {
    sums.set(currency, addAmounts(sums.get(currency) ?? '0.00', closing));
  }
  return new Map([...sums].filter(([, sum]) => sum !== '0.00'));
}

/** The lines of an order on the sheet Not settled, their cells by the number of the column. */
export function linesNotSettled(book: Workbook, orderNo: string): unknown[][] {
  const lines: unknown[][] = [];
  sheetOf(book, 'Not settled').eachRow((row) => {
    if (row.getCell(2).value === orderNo) lines.push(row.values as unknown[]);
  });
  return lines;
}
