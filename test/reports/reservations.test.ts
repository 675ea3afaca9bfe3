// The sheet of reservations in the nightly workbook: there only where somebody said how long they
// hold, one line each with its money, live sums by how they stand, and ids that nothing alters.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import type { ReservationRow } from '../../src/core/runs/reporting.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx, rowStarting, sheetOf } from './openXlsx.js';
import { runOf, sampleRun } from './sampleRun.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reservations-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const row = (changes: Partial<ReservationRow> = {}): ReservationRow => ({
  accountId: 'A1001',
  orderNo: '4111111111111111',
  transactionId: '5555555555554444',
  currency: 'EUR',
  amount: '10.00',
  standing: 'at_risk',
  hoursLeft: 18,
  lapsesAt: new Date('2026-11-20T21:00:00Z'),
  since: new Date('2026-11-13T21:00:00Z'),
  wanted: 'capture',
  obstacle: 'capture waiting for approval: the operation needs approval',
  owner: 'anna',
  ...changes,
});

async function workbook(rows: readonly ReservationRow[]) {
  const reservations = () => [rows];
  const path = join(folder, 'night.xlsx');
  await writeReconciliation(path, runOf(sampleRun({ reservations })));
  return openXlsx(path);
}

test('stands before the sheet of what was asked, with live sums by how they stand', async () => {
  const lapsed = row({ orderNo: 'ORD-2', standing: 'lapsed', hoursLeft: -3, amount: '2.50' });
  const undated = { standing: 'undated', hoursLeft: null, lapsesAt: null, since: null };
  const book = await workbook([
    lapsed,
    row(),
    row({ orderNo: 'ORD-3', currency: 'JPY', ...undated }),
  ]);
  const names = book.worksheets.map(({ name }) => name);
  expect(names.indexOf('Reservations')).toBe(names.indexOf('Coverage') - 1);
  const sheet = sheetOf(book, 'Reservations');
  expect(String(sheet.getCell('A1').value)).toContain('lapses unless somebody takes it');
  const line = rowStarting(sheet, 'A1001', '4111111111111111');
  expect(line.values).toEqual([
    undefined,
    ...['A1001', '4111111111111111', 18, 'at risk', new Date('2026-11-20T22:00:00Z'), 'EUR', 10],
    ...['capture', 'capture waiting for approval: the operation needs approval', 'anna'],
    ...[new Date('2026-11-13T22:00:00Z'), '5555555555554444'],
  ]);
  expect(rowStarting(sheet, 'A1001', 'ORD-3').getCell(5).value).toBeNull();
  const heads = rowStarting(sheet, 'Currency').values;
  expect(heads).toEqual([undefined, 'Currency', 'at risk', 'lapsed', 'undated']);
  const formulas = evaluateAll(book).filter(({ cell }) => cell.startsWith('Reservations!'));
  expect(formulas).toHaveLength(4);
  for (const { workedOut, stored, cell } of formulas) expect(workedOut, cell).toBe(stored);
});

test('is there, and empty, where nothing lapses', async () => {
  const sheet = sheetOf(await workbook([]), 'Reservations');
  expect(sheet.getCell('A2').value).toBe('Lines shown');
  expect(sheet.getCell('B2').result ?? 0).toBe(0);
});

test('is not there where nobody said how long reservations hold', async () => {
  const path = join(folder, 'night.xlsx');
  await writeReconciliation(path, runOf(sampleRun()));
  const names = (await openXlsx(path)).worksheets.map(({ name }) => name);
  expect(names).not.toContain('Reservations');
});
