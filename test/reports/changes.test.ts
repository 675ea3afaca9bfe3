// The sheet 'Since the run before' of the nightly workbook: a line for each break that is otherwise
// than then, and live sums that lead from what was open to what is, in money and in number.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CellFormulaValue, Worksheet } from 'exceljs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx, rowStarting, sheetOf, unzip } from './openXlsx.js';
import type { RunAtHand } from './sampleRun.js';
import { ABOUT, breakRow, changeRow, runOf, sampleRun } from './sampleRun.js';

const NAME = 'Since the run before';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-changes-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const path = () => join(folder, 'night.xlsx');

async function workbook(changes: Partial<RunAtHand> = {}) {
  await writeReconciliation(path(), runOf(sampleRun(changes)));
  return openXlsx(path());
}

/** The cells of a line as they are shown. */
function shown(sheet: Worksheet, row: number): unknown[] {
  return Array.from({ length: 12 }, (_, at) => {
    const { value } = sheet.getCell(row, at + 1);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return (value as CellFormulaValue).result ?? 0;
  });
}

test('leads from what was open before to what is open now, in money and in number', async () => {
  const book = await workbook();
  const names = book.worksheets.map(({ name }) => name);
  expect(names.indexOf(NAME)).toBe(names.indexOf('Breaks') - 1);
  const sheet = sheetOf(book, NAME);
  expect(rowStarting(sheet, 'since the night of 2026-11-18, revision 1').number).toBe(4);
  const inMoney = rowStarting(sheet, 'Account', 'Currency', 'Money open before').number;
  expect(shown(sheet, inMoney + 1)).toEqual([
    ...['A1001', 'EUR', 10.1, 10, 0, 0, -0.1, 0, -9.5, 10.5, 10.5, 0],
  ]);
  const inNumber = rowStarting(sheet, 'Account', 'Currency', 'Breaks open before').number;
  expect(shown(sheet, inNumber + 1)).toEqual([...['A1001', 'EUR', 2, 1, 0, 0, 1, 0, 1, 2, 2, 0]]);
  const formulas = evaluateAll(book).filter(({ cell }) => cell.startsWith(`${NAME}!`));
  expect(formulas.length).toBeGreaterThan(18);
  for (const { workedOut, stored, cell } of formulas) expect(workedOut, cell).toBe(stored);
});

test('has a line a break: what it was and is, whose, by whom and why, with its page', async () => {
  const waived = { reason: 'card 4111111111111111', by: 'anna', isClaim: true, owner: 'olga' };
  const book = await workbook({
    about: { ...ABOUT, consoleAddress: 'https://books.example' },
    changes: [
      changeRow({ ...waived, change: 'waived', before: '7.25', after: null, moved: '-7.25' }),
      changeRow({ orderNo: '4111111111111111', change: 'resolved', cause: 'ledger', ageDays: 3 }),
    ],
  });
  const sheet = sheetOf(book, NAME);
  const [line, resolved] = ['ORD-1', '4111111111111111'].map((no) =>
    rowStarting(sheet, 'A1001', no),
  );
  expect(line?.getCell(3).value).toMatchObject({
    formula: 'HYPERLINK("https://books.example/breaks/11","11")',
  });
  expect(line?.values).toMatchObject([
    ...[undefined, 'A1001', 'ORD-1', {}, 'Waived', 'amount mismatch', 'EUR', 7.25],
    ...[undefined, -7.25, 1, 'olga', 'anna (as said on the command line)'],
    ...['card 411111******1111', new Date('2026-11-20T04:16:02.000Z')],
  ]);
  expect(resolved?.getCell(2).value).toBe('4111111111111111');
  expect(resolved?.getCell(13).value).toBe('the ledger changed');
});

test('is red where both do not meet, and never adds two currencies', async () => {
  const book = await workbook({
    breaks: [breakRow(), breakRow({ orderNo: 'Y', currency: 'JPY', stake: '300.00' })],
    openBefore: [
      { accountId: 'A1001', currency: 'EUR', breaks: 1, money: '0.40' },
      { accountId: 'A1001', currency: null, breaks: 1, money: '0.00' },
    ],
    changes: [
      changeRow({ orderNo: 'Y', currency: 'JPY', moved: '300.00' }),
      changeRow({ orderNo: 'N', currency: null, change: 'resolved', before: null, moved: '0.00' }),
    ],
  });
  const sheet = sheetOf(book, NAME);
  const first = rowStarting(sheet, 'Account', 'Currency', 'Money open before').number + 1;
  expect(shown(sheet, first)).toEqual([...['A1001', 'EUR', 0.4, 0, 0, 0, 0, 0, 0, 0.4, 0.5, 0.1]]);
  expect(shown(sheet, first + 1)).toEqual([
    ...['A1001', 'JPY', 0, 300, 0, 0, 0, 0, 0, 300, 300, 0],
  ]);
  expect(sheet.getCell(first + 1, 4).numFmt).toBe('#,##0');
  const counts = rowStarting(sheet, 'Account', 'Currency', 'Breaks open before').number + 1;
  expect([0, 1, 2].map((at) => shown(sheet, counts + at)[11])).toEqual([0, 0, 0]);
  const index = book.worksheets.indexOf(sheet) + 1;
  const xml = (await unzip(path())).get(`xl/worksheets/sheet${index}.xml`);
  expect(xml).toContain(`sqref="L${first}:L${first + 1}"`);
  expect(xml).toContain(`sqref="L${counts}:L${counts + 2}"`);
});

test('names what it counts from, and what the tie of the run counts beside it', async () => {
  const summary = structuredClone(sampleRun().summary);
  for (const [at, { tie }] of summary.accounts.entries()) tie.reopened = at === 0 ? 3 : 0;
  const first = { accountId: 'A1002', businessDate: null, revision: null };
  const sheet = sheetOf(
    await workbook({ summary, comparedWith: [...sampleRun().comparedWith, first] }),
    NAME,
  );
  expect(sheet.getCell('A4').value).toBe(
    'A1001: since the night of 2026-11-18, revision 1; A1002: nothing to compare with: it is the ' +
      'first night, and all that is open is new with it',
  );
  expect(sheet.getCell('A5').value).toMatch(
    /^3 breaks were waived or settled and opened again .*\(3 reopened, 0 of them listed so\)/,
  );
});

test('is there, and empty, where nothing was or is open', async () => {
  const sheet = sheetOf(await workbook({ breaks: [], changes: [], openBefore: [] }), NAME);
  expect(sheet.getCell('B2').result ?? 0).toBe(0);
});
