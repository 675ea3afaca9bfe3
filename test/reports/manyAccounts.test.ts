// The workbook of a merchant with very many accounts: what a spreadsheet takes of one cell and one
// sheet is bounded, and a book past it is called damaged by Excel and cannot bring decisions back.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filledRows } from '../../reports/decisions/decisionRows.js';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { unzip } from './openXlsx.js';
import { currencyRow, runOf, sampleRun } from './sampleRun.js';

const ACCOUNTS = 1_100;
/** What Excel takes of one formula, and of one sheet's ends of pages. */
const FORMULA_MAX = 8_192;
const PAGE_ENDS_MAX = 1_026;

let folder: string;
let path: string;
let parts: Map<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-many-'));
  const accounts = Array.from({ length: ACCOUNTS }, (_, at) => `A${10_000 + at}`);
  const { summary, openBefore, tiesByKind, tiesByMoney, ...night } = sampleRun();
  const ofEach = <R extends object>(rows: readonly R[]) =>
    accounts.flatMap((accountId) => rows.slice(0, 1).map((row) => ({ ...row, accountId })));
  const data = {
    ...night,
    ...{ openBefore: ofEach(openBefore), tiesByKind: ofEach(tiesByKind) },
    tiesByMoney: ofEach(tiesByMoney),
    summary: { ...summary, accounts: ofEach(summary.accounts) },
    currencies: accounts.map((accountId) => currencyRow({ accountId })),
  };
  ({ path } = await writeReconciliation(join(folder, 'night.xlsx'), runOf(data)));
  parts = await unzip(path);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const sheets = () => [...parts].filter(([name]) => name.startsWith('xl/worksheets/sheet'));

test('has no formula that a spreadsheet cannot hold, and no more ends of pages than it takes', () => {
  const formulas = sheets().flatMap(([, xml]) => xml.match(/(?<=<f>)[^<]*/g) ?? []);
  expect(formulas.length).toBeGreaterThan(ACCOUNTS);
  expect(formulas.filter((one) => one.length > FORMULA_MAX).map((one) => one.slice(0, 80))).toEqual(
    [],
  );
  const ends = sheets().map(([, xml]) => xml.split('<brk ').length - 1);
  expect(Math.max(...ends)).toBe(PAGE_ENDS_MAX);
});

test('still says over all of them that an account is not explained', () => {
  const [, statement = ''] = sheets()[0] ?? [];
  expect(statement.split('UNEXPLAINED MONEY').length).toBeGreaterThan(ACCOUNTS);
  const verdict = [...parts.values()].find((xml) => xml.includes('All checks of this workbook'));
  const cell = /<f>(IF\([^<]*All checks of this workbook tie[^<]*)<\/f><v>([^<]*)</.exec(
    verdict ?? '',
  );
  expect(cell?.[1]).toContain("EXACT('Statement'!$A$1:");
  expect(cell?.[2]).toContain('DOES NOT TIE');
});

test('comes back with decisions', async () => {
  expect(await filledRows(await readFile(path), 'f'.repeat(64))).toEqual([]);
});
