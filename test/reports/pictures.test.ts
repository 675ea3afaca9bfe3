// The pictures of the first sheet show what its cells show, refer to nothing else, and are parts
// that the file lists; the lists of finance hold what they say.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx } from './openXlsx.js';
import type { PlainBook, PlainCell } from './plainReader.js';
import { readPlainly } from './plainReader.js';
import type { RunAtHand } from './sampleRun.js';
import { breakRow, currencyRow, movementRow, runOf, sampleRun } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-pictures-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function written(data: RunAtHand): Promise<PlainBook> {
  const { path } = await writeReconciliation(join(folder, 'night.xlsx'), runOf(data));
  return readPlainly(path);
}

function cellsOf(book: PlainBook, name: string): Map<string, PlainCell> {
  const sheet = book.sheets.find((one) => one.name === name);
  return new Map((sheet?.rows ?? []).flat().map((cell) => [cell.ref, cell]));
}

/** The cells of a reference such as 'Summary'!$C$8:$C$12, in order. */
function referred(book: PlainBook, ref: string): string[] {
  const [, sheet, column = '', first, until = column, last = first] =
    /^'([^']+)'!\$([A-Z])\$(\d+)(?::\$([A-Z])\$(\d+))?$/.exec(ref) ?? [];
  const cells = cellsOf(book, sheet ?? '');
  const values: string[] = [];
  for (let row = Number(first); row <= Number(last); row += 1) {
    for (let code = column.charCodeAt(0); code <= until.charCodeAt(0); code += 1) {
      values.push(cells.get(`${String.fromCharCode(code)}${row}`)?.value ?? 'no such cell');
    }
  }
  return values;
}

function linesOf(book: PlainBook, name: string): string[][] {
  const sheet = book.sheets.find((one) => one.name === name);
  return (sheet?.rows ?? []).map((row) => row.map(({ value }) => value));
}

const AGED = [0, 1, 2, 8, 30, 31, 91, 400].map((ageDays) =>
  breakRow({ orderNo: `ORD-${ageDays}`, ageDays }),
);

describe('the pictures', () => {
  test('bear the values of the cells that they refer to', async () => {
    const breaks = [...AGED, breakRow({ orderNo: 'ORD-Y', currency: 'JPY', stake: '700.00' })];
    const nights = [
      { businessDate: '2026-11-18', open: 3 },
      { businessDate: '2026-11-19', open: 9 },
    ];
    const book = await written(sampleRun({ breaks, nights }));
    const charts = [...book.parts].filter(([name]) => name.startsWith('xl/charts/'));
    expect(charts).toHaveLength(6);
    expect(charts.every(([, xml]) => !xml.includes('percentStacked'))).toBe(true);
    let references = 0;
    for (const [, xml] of charts) {
      for (const [, ref, cache] of xml.matchAll(
        /<c:f>([^<]*)<\/c:f>(.*?)<\/c:(?:str|num)Cache>/g,
      )) {
        const shown = [...(cache ?? '').matchAll(/<c:v>([^<]*)<\/c:v>/g)].map((match) => match[1]);
        const there = referred(book, (ref ?? '').replaceAll('&apos;', "'"));
        expect(there.map((value) => value.replace(/\.0+$/, ''))).toEqual(
          shown.map((value) => (value ?? '').replace(/\.0+$/, '')),
        );
        references += 1;
      }
    }
    expect(references).toBe(6 * 3);
  });

  test('count each open break in one age', async () => {
    const book = await written(sampleRun({ breaks: AGED }));
    const lines = linesOf(book, 'Summary');
    const first = lines.findIndex(([age]) => age === 'up to 1 day');
    expect(lines.slice(first, first + 5).map((line) => line.at(-1))).toEqual([
      ...['2', '1', '2', '1', '2'],
    ]);
  });

  test('add up what is at stake by age, each currency by itself, over the sheet of breaks', async () => {
    const yen = breakRow({ orderNo: 'ORD-Y', currency: 'JPY', stake: '700.00', ageDays: 9 });
    const { path } = await writeReconciliation(
      join(folder, 'aged.xlsx'),
      runOf(sampleRun({ breaks: [...AGED, yen] })),
    );
    const book = await readPlainly(path);
    const lines = linesOf(book, 'Summary');
    const first = lines.findIndex(([title]) => title?.startsWith('Money at stake in open breaks'));
    expect(lines.slice(first + 2, first + 4)).toEqual([
      ['EUR', '', '1', '0.5', '1', '0.5', '1', '4'],
      ['JPY', '', '0', '0', '700', '0', '0', '700'],
    ]);
    const wrong = evaluateAll(await openXlsx(path)).filter(
      ({ stored, workedOut }) => stored !== workedOut,
    );
    expect(wrong).toEqual([]);
  });

  test('are drawn of the currencies that matter most, and the others are counted', async () => {
    const names = ['AED', 'AUD', 'BRL', 'CAD', 'CHF', 'CZK', 'DKK', 'EUR', 'GBP', 'HUF', 'INR'];
    const all = [...names, 'JPY', 'NOK', 'USD'];
    const many = { matched: 0, explained: 0, due: 9, awaited: 0, broken: 9, notCompared: 0 };
    const currencies = all.map((currency) =>
      currencyRow({ currency, ...(currency === 'USD' ? { classes: many } : {}) }),
    );
    const breaks = all.map((currency) => breakRow({ orderNo: `ORD-${currency}`, currency }));
    const book = await written(sampleRun({ breaks, currencies }));
    const charts = [...book.parts].filter(([name]) => name.startsWith('xl/charts/'));
    expect(charts.filter(([, xml]) => xml.includes('USD: money'))).toHaveLength(2);
    const lines = linesOf(book, 'Summary').map((line) => line.join(' '));
    expect(lines.filter((line) => / more: see /.test(line))).toEqual([
      '2 more: see Orders by account and currency',
      '2 more: see the sheet Breaks',
    ]);
  });

  test('say how much of a currency is not matched, never nothing where there is something', async () => {
    const money = (matched: string, broken: string) => ({
      ...{ matched, broken, explained: '0.00', due: '0.00', awaited: '0.00', notCompared: '0.00' },
    });
    const currencies = [
      currencyRow({ currency: 'EUR', money: money('900.00', '100.00') }),
      currencyRow({ currency: 'CHF', money: money('9999999.00', '0.01') }),
      currencyRow({ currency: 'PLN', money: money('10.00', '0.00') }),
    ];
    const lines = linesOf(await written(sampleRun({ currencies })), 'Summary');
    const labels = lines.map((line) => line[1]).filter((label) => label?.includes('%'));
    expect(labels).toEqual(['10.0 %', 'under 0.1 %', '0 %']);
  });

  test('are listed parts of the file, and nobody else can write into them', async () => {
    const currency = '"><c:f>1+1</c:f>&';
    const currencies = [currencyRow({ currency })];
    const book = await written(sampleRun({ currencies }));
    const list = book.parts.get('[Content_Types].xml') ?? '';
    const drawn = [...book.parts.keys()].filter((name) => /^xl\/(charts|drawings)\/\w/.test(name));
    for (const name of drawn.filter((one) => !one.includes('_rels'))) {
      expect(list).toContain(`PartName="/${name}"`);
    }
    expect([...book.parts.values()].join('')).not.toContain('<c:f>1+1');
  });
});

describe('the lists of finance', () => {
  test('hold the orders of their kinds, with the amount of the side that has it', async () => {
    const breaks = [
      breakRow({ orderNo: 'N1', kind: 'missing_in_ledger', ledgerAmount: null }),
      breakRow({ orderNo: 'T1', kind: 'missing_at_gateway', gatewayAmount: null }),
      breakRow({ orderNo: 'S1', kind: 'state_mismatch' }),
      breakRow({ orderNo: 'R1', kind: 'refund_mismatch' }),
      breakRow({ orderNo: 'A1', kind: 'amount_mismatch' }),
    ];
    const book = await written(sampleRun({ breaks }));
    const orders = (name: string) => linesOf(book, name).map((line) => line[1] ?? '');
    const found = (name: string) => orders(name).filter((order) => /^[A-Z]1$/.test(order));
    expect(found('At gateway, not here')).toEqual(['N1']);
    expect(found('Here, not at gateway')).toEqual(['T1']);
    expect(found('State differs')).toEqual(['S1', 'R1']);
    expect(found('Breaks')).toEqual(['N1', 'T1', 'S1', 'R1', 'A1']);
    expect(linesOf(book, 'At gateway, not here').find(([, order]) => order === 'N1')?.[3]).toBe(
      '9.50',
    );
    expect(linesOf(book, 'Here, not at gateway').find(([, order]) => order === 'T1')?.[3]).toBe(
      '10.00',
    );
  });

  test('say what to look for in the portal, and who does what where', async () => {
    const waiting = [
      movementRow({ state: 'unknown', operation: 'refund', refundId: 'R7', amount: '10.00' }),
      movementRow({ state: 'held', holdReason: 'approval' }),
      movementRow({ state: 'held', holdReason: 'partial_capture' }),
    ];
    const lines = linesOf(await written(sampleRun({ waiting })), 'Waiting for you');
    const all = lines.map((line) => line.join(' | ')).join('\n');
    expect(all).toContain('look for transaction 10002: is there a refund of 10.00 EUR');
    expect(all).toContain('[tieout 7]');
    expect(all).toContain(
      'on the console whether it happened, and where that is seen (instruction 7)',
    );
    expect(all).toContain('approve or reject it: here by Decision and Reason');
    expect(all).toContain(
      'nothing frees it but partialCapture in the profile, which an operator changes; or reject',
    );
    // The sums above the lines do not add what nobody can approve to what waits for approval.
    const sums = lines.filter(([first]) => first === 'EUR').map(([, state]) => state);
    expect(sums.sort()).toEqual(['held by a setting', 'unknown', 'waiting for approval']);
  });

  test('name each order that was not plainly answered', async () => {
    const lines = linesOf(await written(sampleRun()), 'Coverage');
    expect(lines.at(-1)).toEqual(['A1001', 'ORD-8', '3', 'not answered', '500']);
  });
});
