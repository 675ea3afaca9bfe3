// What the workbook says of waivers that wait for a second person: each in its line, and their
// money beside that of all breaks.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CellFormulaValue } from 'exceljs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx, rowStarting, sheetOf } from './openXlsx.js';
import { breakRow, runOf, sampleRun } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reports-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('says which waivers wait for a second person, with the money of each currency', async () => {
  const asked = { waiverAskedBy: 'anna', waiverAskedReason: 'paid by bank' };
  const breaks = [breakRow(), breakRow({ orderNo: 'ORD-9', stake: '7.00', ...asked })];
  const data = runOf(sampleRun({ breaks }));
  const { path } = await writeReconciliation(join(folder, 'night.xlsx'), data);
  const sheet = sheetOf(await openXlsx(path), 'Breaks');
  const waits = 'waits for a second person';
  const { number } = rowStarting(sheet, 'Currency');
  expect([2, 3].map((at) => sheet.getCell(number, at).value)).toEqual(['At stake', waits]);
  expect(
    [2, 3].map((at) => (sheet.getCell(number + 1, at).value as CellFormulaValue).result),
  ).toEqual([7.5, 7]);
  const row = rowStarting(sheet, 'A1001', 'ORD-9');
  expect([19, 20].map((at) => row.getCell(at).value)).toEqual([waits, 'anna: paid by bank']);
  for (const { workedOut, stored, cell } of evaluateAll(sheet.workbook)) {
    if (cell.startsWith('Breaks')) expect(workedOut, cell).toBe(stored);
  }
});
