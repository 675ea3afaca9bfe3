// The nightly workbook as a spreadsheet reads it: sheets, money, formulas, checks that turn red.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CellFormulaValue, Row, Workbook, Worksheet } from 'exceljs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { REACH } from '../../reports/summarySheet.js';
import { BOOK_TIES, DOES_NOT_TIE } from '../../reports/xlsx/page.js';
import { evaluateAll } from './evaluate.js';
import { formulasIn, openXlsx, rowOfSection, rowStarting, sheetOf, unzip } from './openXlsx.js';
import type { RunAtHand } from './sampleRun.js';
import { ABOUT, breakRow, movementRow, runOf, sampleRun, sampleSummary } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reports-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function written(data: RunAtHand = sampleRun()): Promise<string> {
  return (await writeReconciliation(join(folder, 'night.xlsx'), runOf(data))).path;
}

/** The library reads a cached 0 as nothing. */
function resultOf(sheet: Worksheet, row: number, column: number): unknown {
  return (sheet.getCell(row, column).value as CellFormulaValue).result ?? 0;
}

/** What stands in the file is what a spreadsheet makes of the formulas when it works them out. */
function expectStoredValues(workbook: Workbook): void {
  const formulas = evaluateAll(workbook);
  expect(formulas.length).toBeGreaterThan(10);
  for (const { workedOut, stored, cell, formula } of formulas) {
    expect(workedOut, `${cell} =${formula}`).toBe(stored);
  }
}

const SHEETS = [
  ...[
    'Statement',
    'Statement lines',
    'Summary',
    'Since the run before',
    'Breaks',
    'At gateway, not here',
    'Here, not at gateway',
    'State differs',
  ],
  ...['Money moved', 'Waiting for you', 'Coverage', 'About this run'],
];
const STOPPED = 'sending is stopped for all (Kim: =1+1); 3 instructions wait';
const MONEY_SECTION = 'Money confirmed in this run, by account and currency';

describe('the nightly workbook', () => {
  test('says in words what has to be told, such as what stops the sending', async () => {
    const kind = 'not_sent' as const;
    const notices = [{ accountId: 'A1', kind, about: 'sending is stopped', text: STOPPED }];
    const data = sampleRun({ summary: { ...sampleSummary(), notices } });
    const sheet = sheetOf(await openXlsx(await written(data)), 'Summary');
    const told = rowStarting(sheet, 'To be told');
    expect(sheet.getRow(told.number + 1).getCell(1).value).toBe(`A1: ${STOPPED}`);
  });

  test('has its sheets in order, each frozen, landscape, and as wide as can be read', async () => {
    const path = await written();
    const workbook = await openXlsx(path);
    expect(workbook.worksheets.map((sheet) => sheet.name)).toEqual(SHEETS);
    for (const sheet of workbook.worksheets) {
      expect(sheet.views[0]).toMatchObject({ state: 'frozen' });
      const fitToWidth = /^(Breaks|State dif|Waiting|Money m|.+, not .)/.test(sheet.name) ? 2 : 1;
      const fitToHeight = sheet.name === 'About this run' ? 1 : 0;
      const fit = { orientation: 'landscape', fitToWidth, fitToHeight };
      expect(sheet.pageSetup).toMatchObject({ ...fit, printTitlesRow: expect.any(String) });
      expect(sheet.headerFooter.oddFooter).toContain('TEST · 2026-11-19');
    }
    expect(workbook.title).toBe('Reconciliation 2026-11-19');
    expect(workbook.creator).toBe('tieout');
    expect(workbook.created).toEqual(ABOUT.createdAt);
  });

  test.each([
    ['test', 'TEST environment: no real money'],
    ['live', 'LIVE environment: real money'],
  ] as const)(
    'says on the first sheet that it is %s, what happened and how far it reaches',
    async (environment, words) => {
      const summary = { ...sampleSummary(), environment };
      const data = sampleRun({ summary, about: { ...ABOUT, environment } });
      const sheet = sheetOf(await openXlsx(await written(data)), 'Summary');
      expect(sheet.getCell('A2').value).toBe(words);
      expect(sheet.getCell('A3').value).toContain('did not tie out: 2 of 12 orders differ');
      expect(sheet.getCell('A4').value).toContain('checked at 2026-11-20 04:16:02');
      expect(sheet.getCell('A5').value).toBe(REACH);
    },
  );

  test('gives money as numbers, dates as dates of the zone, ids as text', async () => {
    const sheet = sheetOf(await openXlsx(await written()), 'Breaks');
    const row = rowStarting(sheet, 'A1001', 'ORD-1');
    expect(row.getCell(9)).toMatchObject({ value: -0.5, alignment: { horizontal: 'right' } });
    expect(row.getCell(9).numFmt).toContain('#,##0.00');
    expect(row.getCell(12).value).toEqual(new Date('2026-11-18T23:30:00.000Z'));
    expect(row.getCell(12).numFmt).toBe('yyyy-mm-dd hh:mm');
    expect(row.getCell(14).value).toEqual(new Date('2026-11-25T00:00:00.000Z'));
    expect(row.getCell(18).value).toBe('10001');
    expect(row.getCell(18).numFmt).toBe('@');
    const heading = rowStarting(sheet, 'Account', 'Order');
    expect(heading.getCell(12).value).toBe('First seen (Europe/Berlin)');
  });

  test('says kinds, states and reasons in words, the codes being for programs', async () => {
    const states = {
      actual: 'partially_refunded 9.50 EUR',
      sentence: 'the gateway shows in_review',
    };
    const breaks = [breakRow({ kind: 'missing_at_gateway', ...states })];
    const waiting = [
      movementRow({ state: 'held', holdReason: 'partial_capture' }),
      movementRow({ state: 'unknown' }),
    ];
    const workbook = await openXlsx(await written(sampleRun({ breaks, waiting })));
    const broken = rowStarting(sheetOf(workbook, 'Breaks'), 'A1001', 'ORD-1');
    expect([4, 5, 7].map((at) => broken.getCell(at).value)).toEqual([
      'not at the gateway',
      'the gateway shows in review',
      'partially refunded 9.50 EUR',
    ]);
    const reasons = sheetOf(workbook, 'Waiting for you').getColumn('F').values;
    expect(reasons.slice(-2)).toEqual([
      'less than was authorised: not allowed by configuration (partialCapture in the profile)',
      'sent, outcome unknown: a person has to find out',
    ]);
    const summary = sheetOf(workbook, 'Summary');
    expect(
      rowOfSection(
        summary,
        'Open breaks, against the sheet Breaks',
        'A1001',
        'not at the gateway',
      ).getCell(4).formula,
    ).toContain('Breaks');
  });

  test('shows currencies without decimals without them', async () => {
    const sheet = sheetOf(await openXlsx(await written()), 'Money moved');
    expect(rowStarting(sheet, '0010', 'ORD-5').getCell(6).numFmt).not.toContain('.00');
    expect(rowStarting(sheet, 'A1001', 'ORD-2').getCell(6).numFmt).toContain('.00');
    expect(rowStarting(sheet, 'JPY').getCell(2).numFmt).not.toContain('.00');
    const total = rowOfSection(sheetOf(sheet.workbook, 'Summary'), MONEY_SECTION, '0010', 'JPY');
    for (let at = 3; at <= 9; at += 1) expect(total.getCell(at).numFmt).toBe('#,##0');
  });

  test('sets filter arrows over exactly the rows of each table', async () => {
    const entries = await unzip(await written());
    expect(entries.get('xl/worksheets/sheet5.xml')).toContain('<autoFilter ref="A7:X9"/>');
    expect(entries.get('xl/worksheets/sheet9.xml')).toContain('<autoFilter ref="A8:P12"/>');
  });

  test('keeps money of different currencies apart in every total', async () => {
    const sheet = sheetOf(await openXlsx(await written()), 'Money moved');
    const heading = rowStarting(sheet, 'Currency');
    expect([2, 3].map((at) => heading.getCell(at).value)).toEqual(['capture', 'refund']);
    const totals = ['EUR', 'JPY'].map((currency) => {
      const { number } = rowStarting(sheet, currency);
      return [
        resultOf(sheet, number, 2),
        sheet.getCell(number, 3).value && resultOf(sheet, number, 3),
      ];
    });
    expect(totals).toEqual([
      [300.3, 10],
      [5000, null],
    ]);
  });

  test('has columns and rows that show each text and figure whole', async () => {
    const long = 'a sentence that needs more room than its column has. '.repeat(3).trim();
    const orderNo = 'ORDER-2026-1119-00000001';
    const breaks = [breakRow({ orderNo, sentence: long, difference: '-123456789012.34' })];
    const sheet = sheetOf(await openXlsx(await written(sampleRun({ breaks }))), 'Breaks');
    expect(sheet.getColumn(2).width).toBeGreaterThan(orderNo.length);
    expect(sheet.getColumn(9).width).toBeGreaterThan('-123,456,789,012.34'.length);
    const row = rowStarting(sheet, 'A1001', orderNo);
    expect(row.getCell(5).alignment.wrapText).toBe(true);
    const lines = long.length / (sheet.getColumn(5).width ?? 0);
    expect(row.height).toBeGreaterThanOrEqual(Math.floor(lines) * 15);
    const summary = sheetOf(sheet.workbook, 'Summary');
    expect(summary.getCell('A3').alignment.wrapText).toBe(true);
    expect(summary.getCell('M3').master.address).toBe('A3');
  });

  test('keeps no heading in view that would leave no room to scroll', async () => {
    const currencies = [
      'AED',
      'AUD',
      'BGN',
      'BRL',
      'CAD',
      'CHF',
      'CNY',
      'CZK',
      'DKK',
      'GBP',
      'HUF',
    ];
    const moved = currencies.map((currency) => movementRow({ currency }));
    const sheet = sheetOf(await openXlsx(await written(sampleRun({ moved }))), 'Money moved');
    expect(sheet.views[0]).toMatchObject({ xSplit: 2, ySplit: 0 });
    expect(sheet.pageSetup.printTitlesRow).toBe('17:17');
  });

  test('a night without a single row is a whole workbook too', async () => {
    const summary = { ...sampleSummary(), accounts: [], state: 'tied_out' as const };
    const lists = { breaks: [], moved: [], waiting: [], tiesByKind: [], tiesByMoney: [] };
    const empty = { ...lists, currencies: [], lines: [], elsewhere: [], coverage: [] };
    const workbook = await openXlsx(await written(sampleRun({ summary, ...empty })));
    expect(workbook.worksheets.map((sheet) => sheet.name)).toEqual(SHEETS);
    for (const { workedOut, stored } of evaluateAll(workbook)) expect(workedOut).toBe(stored);
  });
});

describe('the figures', () => {
  test('on the sheet Summary are those of the summary, to the cent', async () => {
    const { accounts } = sampleSummary();
    const sheet = sheetOf(await openXlsx(await written()), 'Summary');
    const figures = (row: Row, count: number) =>
      Array.from({ length: count }, (_, at) => {
        const { value, result } = row.getCell(at + 3);
        return Number(typeof value === 'number' ? value : (result ?? 0)).toFixed(2);
      });
    for (const { accountId, state, orders, tie, totals } of accounts) {
      const { ledger, strangers, matched, explained, due, awaited, broken, notCompared } = orders;
      const classes = [ledger, strangers, matched, explained, due, awaited, broken, notCompared];
      const ties = [tie.openBefore, tie.new, tie.reopened, tie.waived, tie.resolved, tie.openAfter];
      const text = (counts: number[]) => counts.map((figure) => figure.toFixed(2));
      const words = state === 'broken' ? 'did not tie out' : state.replaceAll('_', ' ');
      expect(figures(rowStarting(sheet, accountId, words), 8)).toEqual(text(classes));
      expect(figures(rowStarting(sheet, accountId, 'all kinds'), 6)).toEqual(text(ties));
      for (const { currency, captured, cancelled, refunded, net, unknown } of totals) {
        const wanted = [captured, cancelled, refunded, net, unknown];
        const line = rowOfSection(sheet, MONEY_SECTION, accountId, currency);
        expect(figures(line, 5)).toEqual(wanted);
      }
    }
  });
});

describe('the tie', () => {
  test('is worked out again by live formulas, one verdict for all of them', async () => {
    const sheet = sheetOf(await openXlsx(await written()), 'Summary');
    const verdict = sheet.getCell('A6').value as CellFormulaValue;
    expect(verdict.result).toBe(BOOK_TIES);
    expect(verdict.formula).toContain("EXACT('Statement'!$A$1:");
    expect(verdict.formula).toMatch(/ABS\('Since the run before'!\w+:\w+\)/);
    expectStoredValues(sheet.workbook);
    const tie = rowStarting(sheet, 'A1001', 'all kinds');
    const row = tie.number;
    expect(tie.getCell(9).formula).toBe(`C${row}+D${row}+E${row}-F${row}-G${row}`);
    expect(resultOf(sheet, row, 9)).toBe(2);
    expect(resultOf(sheet, row, 10)).toBe(0);
  });

  const BREAKERS: [string, (data: RunAtHand) => void][] = [
    ['an order in no class', ({ summary }) => change(summary, (one) => (one.orders.matched -= 1))],
    ['a break lost', ({ summary }) => change(summary, (one) => (one.tie.openAfter += 1))],
    ['a break not listed', (data) => Object.assign(data, { breaks: [breakRow()] })],
    ['a line of the statement lost', (data) => Object.assign(data, { lines: data.lines.slice(1) })],
    [
      'a break that changed unsaid',
      (data) => Object.assign(data, { changes: data.changes.slice(1) }),
    ],
    ['a capture not listed', (data) => Object.assign(data, { moved: data.moved.slice(1) })],
    [
      'money that does not tie',
      (data) =>
        Object.assign(data, {
          tiesByMoney: data.tiesByMoney.map((tie) => ({ ...tie, openAfter: '10.51' })),
        }),
    ],
  ];

  test.each(BREAKERS)('that does not hold is said and turns red: %s', async (_name, breakIt) => {
    const data = sampleRun();
    breakIt(data);
    const path = await written(data);
    const sheet = sheetOf(await openXlsx(path), 'Summary');
    expect((sheet.getCell('A6').value as CellFormulaValue).result).toBe(DOES_NOT_TIE);
    expectStoredValues(sheet.workbook);
    const xml = (await unzip(path)).get('xl/worksheets/sheet3.xml') ?? '';
    expect(xml).toMatch(/<conditionalFormatting sqref="A6"><cfRule type="cellIs"[^>]*notEqual/);
    const checked = [...xml.matchAll(/conditionalFormatting sqref="([A-Z]+\d+:[A-Z]+\d+)"/g)].map(
      (match) => match[1],
    );
    const verdict = sheet.getCell('A6').formula;
    expect(checked.length).toBeGreaterThan(4);
    for (const range of checked) expect(verdict).toContain(`ABS(${range})`);
  });

  function change(
    summary: RunAtHand['summary'],
    apply: (account: RunAtHand['summary']['accounts'][number]) => void,
  ): void {
    const [account] = summary.accounts;
    if (account) apply(account);
  }
});

describe('hostile and private text', () => {
  const PAYLOAD = '=HYPERLINK("http://evil.example","click")';
  const CARD = '4111111111111111';

  function hostileRun(): RunAtHand {
    const objects = { formula: '1+1', result: 2 } as unknown as string;
    const link = { text: 'x', hyperlink: 'http://evil.example' } as unknown as string;
    return sampleRun({
      breaks: [
        breakRow({ orderNo: PAYLOAD, note: PAYLOAD, owner: '@x', sentence: '+1' }),
        breakRow({ orderNo: objects, note: link, kind: objects, expected: objects }),
        breakRow({
          orderNo: CARD,
          sentence: `order ${CARD} bears a note`,
          note: 'paid with 4111 1111 1111 1111',
          expected: '4111-1111-1111-1111',
        }),
      ],
      moved: [movementRow({ orderNo: PAYLOAD, gatewayMessage: `refused ${CARD}` })],
      waiting: [movementRow({ holdReason: PAYLOAD, gatewayReference: link })],
    });
  }

  test('makes no formula and no link: every formula in the file is one of ours', async () => {
    const entries = await unzip(await written(hostileRun()));
    const sheets = [...entries].filter(([name]) => /^xl\/worksheets\/sheet\d+/.test(name));
    const relations = [...entries].filter(([name]) => name.includes('worksheets/_rels/'));
    expect(relations).toHaveLength(1);
    expect(relations[0]?.[1].match(/Target="[^"]*"/g)).toEqual([
      'Target="../drawings/drawing3.xml"',
    ]);
    expect([...entries.values()].join('')).not.toMatch(/TargetMode|oleObject|externalLink/);
    for (const [, xml] of sheets) {
      expect(xml).not.toContain('<hyperlink');
      for (const formula of formulasIn(xml)) {
        expect(formula).toMatch(/^(IF|SUM|ROUND|SUMPRODUCT|SUBTOTAL|COUNTIFS|[A-Z]+\d+[-+])/);
        expect(formula).not.toContain('HYPERLINK');
      }
    }
    expect(sheets.map(([, xml]) => formulasIn(xml).length)).toEqual([
      // the statement, its lines, the summary, what changed since
      ...[expect.any(Number), 1, expect.any(Number), 19],
      ...[2, 1, 1, 1, 2, 2, 0, 0],
    ]);
  });

  test('stays as it was, as text', async () => {
    const sheet = sheetOf(await openXlsx(await written(hostileRun())), 'Breaks');
    const row = rowStarting(sheet, 'A1001', PAYLOAD);
    expect(row.getCell(17).value).toBe(PAYLOAD);
  });

  test('shows no card number, and alters no order number', async () => {
    const path = await written(hostileRun());
    const sheet = sheetOf(await openXlsx(path), 'Breaks');
    const row = rowStarting(sheet, 'A1001', CARD);
    expect(row.getCell(5).value).toBe(`order ${CARD} bears a note`);
    expect(row.getCell(17).value).toBe('paid with 4111 11** **** 1111');
    expect(row.getCell(6).value).toBe('4111-11**-****-1111');
    const moved = sheetOf(await openXlsx(path), 'Money moved');
    expect(rowStarting(moved, 'A1001', PAYLOAD).getCell(9).value).toBe('rr-2');
    expect(rowStarting(moved, 'A1001', PAYLOAD).getCell(10).value).toBe('refused 411111******1111');
  });
});

describe('money too long for a spreadsheet', () => {
  test('stays exact as text, and so do the sums that it is in', async () => {
    const amount = '99999999999999999.99';
    const data = sampleRun({
      moved: [movementRow({ amount }), movementRow({ amount: '0.01' })],
      tiesByMoney: [],
    });
    const [account] = data.summary.accounts;
    if (account) {
      const [total] = account.totals;
      account.totals = total ? [{ ...total, captured: amount, refunded: '0.01', net: amount }] : [];
    }
    const workbook = await openXlsx(await written(data));
    const moved = sheetOf(workbook, 'Money moved');
    expect(moved.getCell('B5').value).toBe('100000000000000000.00');
    expect(rowStarting(moved, 'A1001', 'ORD-2').getCell(6).value).toBe(amount);
    const line = rowOfSection(sheetOf(workbook, 'Summary'), MONEY_SECTION, 'A1001', 'EUR');
    expect(line.getCell(3).value).toBe(amount);
    expect(line.getCell(6).value).toBe('99999999999999999.98');
    expectStoredValues(workbook);
  });
});
