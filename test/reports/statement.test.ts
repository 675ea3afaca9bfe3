// The statement as a spreadsheet reads it: it bridges by live sums over listed lines, and says so
// loudly where it does not.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CellFormulaValue, Row, Workbook, Worksheet } from 'exceljs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import type { BookLine } from '../../src/core/runs/statementBooks.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx, rowStarting, sheetOf, unzip } from './openXlsx.js';
import type { RunAtHand } from './sampleRun.js';
import { ABOUT, runOf, sampleRun, statementLine } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-statement-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function written(data: RunAtHand = sampleRun(), name = 'night'): Promise<string> {
  return (await writeReconciliation(join(folder, `${name}.xlsx`), runOf(data))).path;
}

/** What stands in the file is what a spreadsheet makes of the formulas when it works them out. */
function expectStoredValues(workbook: Workbook): void {
  for (const { workedOut, stored, cell, formula } of evaluateAll(workbook)) {
    expect(workedOut, `${cell} =${formula}`).toBe(stored);
  }
}

describe('the statement that one signs', () => {
  const UNEXPLAINED = 'UNEXPLAINED MONEY: do not sign. See the red cells.';

  /** The cells of a page from its title on, by the first word of their line. */
  function lineOf(sheet: Worksheet, title: string, start: string): Row {
    const first = rowStarting(sheet, title).number;
    for (let row = first; row < first + 40; row += 1) {
      if (String(sheet.getCell(row, 1).value ?? '').startsWith(start)) return sheet.getRow(row);
    }
    throw new Error(`no line ${start} under ${title}`);
  }

  test('leads by items, each a live sum of lines, to what the gateway shows', async () => {
    const moved = { accountId: 'A1001', operation: 'refund', countsOn: '2026-11-24' } as const;
    const movedAfter = [{ ...moved, currency: 'CHF', amount: '5.00', isStated: true }];
    const sheet = sheetOf(await openXlsx(await written(sampleRun({ movedAfter }))), 'Statement');
    // No page is in that currency: it stands once, on the last one of its account.
    const said = sheet.getColumn(1).values.map(String);
    expect(new Set(said.filter((one) => one.includes('5.00 CHF refunded'))).size).toBe(1);
    const title = 'Statement of account A1001 in EUR';
    const held = lineOf(sheet, title, 'Waiting for approval');
    expect([2, 3, 4].map((at) => held.getCell(at).result)).toEqual([1, -190, -20]);
    expect(held.getCell(3).formula).toContain("'Statement lines'!");
    expect(lineOf(sheet, title, 'By the ledger').getCell(3).value).toBe(900);
    expect(lineOf(sheet, title, 'By the gateway, as it shows').getCell(3).value).toBe(699.5);
    const left = lineOf(sheet, title, 'Unexplained').getCell(3);
    expect([left.formula, left.result ?? 0]).toEqual([expect.stringContaining('ROUND('), 0]);
    expectStoredValues(sheet.workbook);
  });

  test('takes one printed page with many items and with books, the boxes beside the figures', async () => {
    const kinds = ['due', 'held', 'kept', 'later', 'awaited', 'notCompared', 'explained'];
    const more = ['not_settled', 'amount_mismatch', 'missing_at_gateway', 'currency_mismatch'];
    const sample = sampleRun();
    const lines = sample.lines.flatMap((one) =>
      [...kinds, ...more].map((item) => ({ ...one, item })),
    );
    const book = ['settled', 'before_books', 'in_transit', 'not_settled', 'booked_otherwise'];
    const books = {
      from: '2026-11-01',
      lines: () => [
        [...book, 'settled_otherwise', 'other_orders', 'no_movement'].map(
          (item): BookLine => ({
            ...{ accountId: 'A1001', currency: 'EUR', item, lines: 1, orderNo: 'ORD-1' },
            ...{ transactionId: '10001', batch: null, since: '2026-11-18', ageDays: 1 },
            ...{ captured: '1.00', refunded: '0.00', breakId: null, owner: null },
          }),
        ),
      ],
    };
    const path = await written({ ...sample, lines, books });
    const xml = (await unzip(path)).get('xl/worksheets/sheet1.xml') ?? '';
    const widths = [...xml.matchAll(/<col [^>]*?width="([\d.]+)"/g)].map(([, w]) => Number(w));
    // As spreadsheets print: A4 across within the margins, 5.25 points to a character of a column.
    const scale = Math.min(1, 784 / (5.25 * widths.reduce((sum, width) => sum + width, 0)));
    const ends = [...xml.matchAll(/<brk id="(\d+)"/g)].map(([, row]) => Number(row));
    const rows = [...xml.matchAll(/<row r="(\d+)"(?: ht="([\d.]+)")?/g)];
    const heights = new Map(rows.map(([, row, ht]) => [Number(row), Number(ht ?? 15)]));
    const last = Math.max(...heights.keys());
    expect(ends).not.toEqual([]);
    expect(scale).toBeGreaterThan(0.6);
    let from = 2;
    for (const end of [...ends, last]) {
      let points = heights.get(1) ?? 15;
      for (let row = from; row <= end; row += 1) points += heights.get(row) ?? 15;
      expect(points * scale, `rows ${from} to ${end}`).toBeLessThan(519);
      from = end + 1;
    }
  });

  test.each([
    ['a line lost', (data: RunAtHand) => Object.assign(data, { lines: data.lines.slice(1) })],
    [
      'other money of the gateway',
      (data: RunAtHand) => {
        const [first] = data.currencies;
        if (first) first.gatewayRefunded = '10.01';
      },
    ],
    [
      'a line that nothing explains',
      (data: RunAtHand) =>
        Object.assign(data, {
          lines: data.lines.map((one) => ({ ...one, item: 'unexplained' })),
        }),
    ],
  ])('says so where it does not bridge: %s', async (_name, breakIt) => {
    const data = sampleRun();
    breakIt(data);
    const path = await written(data);
    const sheet = sheetOf(await openXlsx(path), 'Statement');
    expect((sheet.getCell('A4').value as CellFormulaValue).result).toBe(UNEXPLAINED);
    expectStoredValues(sheet.workbook);
    const xml = (await unzip(path)).get('xl/worksheets/sheet1.xml') ?? '';
    expect(xml).toMatch(/conditionalFormatting sqref="C\d+:D\d+"/);
  });

  test('goes on to what is settled and what is not, down to the closing of the books', async () => {
    const line = (item: string, captured: string, more: Partial<BookLine> = {}): BookLine => ({
      ...{ accountId: 'A1001', currency: 'EUR', item, lines: 1, orderNo: 'ORD-1' },
      ...{ transactionId: '10001', batch: null, since: '2026-11-18', ageDays: 1 },
      ...{ captured, refunded: '0.00', breakId: '11', owner: null, ...more },
    });
    const lines = [
      line('settled', '600.00', { lines: 6, refunded: '44.44', orderNo: null, breakId: null }),
      line('settled', '5000.00', { accountId: '0010', currency: 'JPY', orderNo: null }),
      line('before_books', '9.50', { orderNo: null, breakId: null }),
      line('in_transit', '80.00'),
      line('not_settled', '8.00', { refunded: '6.00' }),
      line('settled_otherwise', '-1.00'),
      // Settled already, while the books have its amount from a later date on.
      line('amount_unknown', '0.00', { refunded: '-40.44' }),
      line('booked_otherwise', '3.00'),
      line('other_orders', '20.00'),
      line('no_movement', '-2.50', { accountId: 'A1001', orderNo: '' }),
      line('no_movement', '-7.00', { currency: 'GBP' }),
    ];
    const books = { from: '2026-11-01', lines: () => [lines] };
    const path = await written(sampleRun({ books }));
    const sheet = sheetOf(await openXlsx(path), 'Statement');
    const title = 'Statement of account A1001 in EUR';
    const shown = (start: string) =>
      [2, 3, 4].map((at) => {
        const { value } = lineOf(sheet, title, start).getCell(at);
        return value instanceof Object && 'formula' in value ? (value.result ?? 0) : value;
      });
    expect(shown('Settled by the acquirer')).toEqual([6, 600, 44.44]);
    expect(shown('From before the books')).toEqual([1, 9.5, 0]);
    expect(shown('Not settled in time')).toEqual([1, 8, 6]);
    expect(shown('Not settled, of orders')).toEqual([1, 20, 0]);
    expect(shown('At the gateway, not settled').slice(1)).toEqual([80 + 8 - 1 + 20 - 2.5, -34.44]);
    const inPart =
      'Refunded in part, its amount not in the books by this date: below 0 what is settled';
    expect(shown(inPart)).toEqual([1, 0, -40.44]);
    const other = 'Statement of account A1001 in GBP';
    expect(lineOf(sheet, other, 'At the gateway, not settled').getCell(3).result).toBe(-7);
    const verdicts = (sheet.getColumn(1).values ?? []).map((value) => JSON.stringify(value));
    expect(verdicts.join()).toContain('one of the sheet Not settled.');
    expect(verdicts.join()).not.toContain('"result":"UNEXPLAINED');
    expectStoredValues(sheet.workbook);

    const short = lines.filter(({ item }) => item !== 'not_settled');
    const red = await written(
      sampleRun({ books: { from: '2026-11-01', lines: () => [short] } }),
      'short',
    );
    const said = sheetOf(await openXlsx(red), 'Statement').getColumn(1).values ?? [];
    expect(JSON.stringify(said)).toContain(`"result":"${UNEXPLAINED}"`);
  }, 30_000);

  test('says what is not settled on the Summary, and turns red where the lines say other', async () => {
    const line = (item: string, captured: string, more: Partial<BookLine> = {}): BookLine => ({
      ...{ accountId: 'A1001', currency: 'EUR', item, lines: 1, orderNo: 'ORD-1' },
      ...{ transactionId: '10001', batch: null, since: '2026-11-18', ageDays: 1 },
      ...{ captured, refunded: '0.00', breakId: null, owner: null, ...more },
    });
    const lines = [
      line('settled', '609.50', { refunded: '4.00', orderNo: null, since: null }),
      line('settled', '5000.00', { accountId: '0010', currency: 'JPY', since: null }),
      line('in_transit', '87.00', { refunded: '5.00' }),
      line('booked_otherwise', '1.00', { since: null }),
      line('counts_later', '2.00', { refunded: '1.00', since: '2026-11-20' }),
      line('other_orders', '20.00', { since: '2026-11-17' }),
    ];
    const workbook = await openXlsx(
      await written(sampleRun({ books: { from: '2026-11-01', lines: () => [lines] } })),
    );
    const sheet = sheetOf(workbook, 'Summary');
    expect(
      rowStarting(
        sheet,
        'Captured less refunded, and not yet settled at the end of 2026-11-19: 102.00 EUR, ' +
          'the oldest since 2026-11-17. Its lines: sheet Not settled.',
      ).number,
    ).toBeLessThan(9);
    expectStoredValues(workbook);
    expect(verdicts(workbook, 'stored')).toEqual(['All checks of this workbook tie']);

    // What is said was read before what is listed.
    let reads = 0;
    const later = () => {
      reads += 1;
      const more = line('other_orders', '7.98', { since: '2026-11-17' });
      return [reads === 1 ? lines : [...lines.slice(0, -1), more]];
    };
    const parted = await openXlsx(
      await written(sampleRun({ books: { from: '2026-11-01', lines: later } }), 'parted'),
    );
    expect(verdicts(parted, 'workedOut')).toEqual(['DOES NOT TIE: see the red cells']);
  }, 30_000);

  /** What the Summary says over all checks. */
  function verdicts(workbook: Workbook, which: 'stored' | 'workedOut'): unknown[] {
    return evaluateAll(workbook)
      .filter(({ cell, formula }) => cell.startsWith('Summary!') && formula.includes('DOES NOT'))
      .map((one) => one[which]);
  }

  test('alters no id that a notice names', async () => {
    const orderNo = '4111111111111111';
    const data = sampleRun();
    data.summary.notices = [
      {
        ...{ accountId: 'A1001', kind: 'new_word', about: 'a new code' },
        ...{ text: `code 7777 at 2026-11-20T03:15Z, such as ${orderNo}`, names: [orderNo] },
      },
    ];
    const sheet = sheetOf(await openXlsx(await written(data)), 'Summary');
    expect(
      rowStarting(sheet, `A1001: code 7777 at 2026-11-20 04:15 Europe/Berlin, such as ${orderNo}`)
        .number,
    ).toBeGreaterThan(1);
  });

  test('says in its boxes who closed and locked the day, else leaves them to be signed', async () => {
    const boxes = async (
      signings: RunAtHand['signings'],
      name: string,
      signedFigures: RunAtHand['signedFigures'] = [],
    ) => {
      const book = await openXlsx(await written(sampleRun({ signings, signedFigures }), name));
      const cells = sheetOf(book, 'Statement').getColumn(1).values as unknown[];
      return cells.filter((value) => /^(Prepared|Reviewed)/.test(String(value))).slice(0, 2);
    };
    const [date, empty] = ['2026-11-19', 'by, date, signature'];
    const line = (box: string) => `${box} ${empty} (${date}, revision 1)`;
    expect(await boxes(new Map(), 'open')).toEqual([line('Prepared'), line('Reviewed')]);
    const closed = {
      ...({ event: 'closed', by: 'anna', isClaim: false } as const),
      ...{ at: '2026-11-20T08:15:00+00:00', revision: 2 },
    };
    const locked = {
      ...closed,
      event: 'locked',
      by: 'Ben',
      isClaim: true,
      revision: null,
    } as const;
    const said = 'Prepared: day closed by anna at 2026-11-20 09:15:00 Europe/Berlin, on revision 2';
    expect(await boxes(new Map([['A1001', [closed]]]), 'closed')).toEqual([said, line('Reviewed')]);
    expect(await boxes(new Map([['A1001', [closed, locked]]]), 'locked')).toEqual([
      said,
      'Reviewed: day locked by Ben (as said on the command line) at 2026-11-20 09:15:00 ' +
        'Europe/Berlin, on no revision',
    ]);
    const other = [{ revision: 2, isKept: true, pages: [] }];
    const otherwise = `${said}, which has OTHER FIGURES than this page`;
    expect((await boxes(new Map([['A1001', [closed]]]), 'other', other))[0]).toBe(otherwise);
  });

  test('says of each line since when it stands, whose it is, and leads to its order', async () => {
    const about = { ...ABOUT, consoleAddress: 'https://tieout.example' };
    const since = new Date('2026-11-13T22:30:00.000Z');
    const long = 'Ä'.repeat(128);
    const lines = [
      statementLine({ owner: 'olga', since, ageDays: 6 }),
      statementLine({
        orderNo: 'W/1',
        item: 'held',
        breakId: null,
        instructionId: '7',
        ageDays: 2,
      }),
      statementLine({ orderNo: long, item: 'awaited', breakId: null, since: null, ageDays: null }),
    ];
    const sheet = sheetOf(
      await openXlsx(await written(sampleRun({ about, lines }))),
      'Statement lines',
    );
    const head = rowStarting(sheet, 'Account', 'Order', 'Break').values as string[];
    const at = (name: string) => head.findIndex((cell) => cell?.startsWith(name));
    const shown = ['ORD-1', 'W/1', long].map((no) => {
      const row = rowStarting(sheet, 'A1001', no);
      return [row.getCell(2).formula, at('Age'), at('Owner')].map((one) =>
        typeof one === 'number' ? row.getCell(one).value : one,
      );
    });
    const link = (no: string, shown: string) =>
      `HYPERLINK("https://tieout.example/orders/A1001/${no}","${shown}")`;
    expect(shown).toEqual([
      [link('ORD-1', 'ORD-1'), 6, 'olga'],
      [link('W%2F1', 'W/1'), 2, null],
      // No spreadsheet opens a file with an address as long as this one's.
      [undefined, null, null],
    ]);
    const when = rowStarting(sheet, 'A1001', 'ORD-1').getCell(at('Since')).value;
    expect(when).toEqual(new Date('2026-11-13T23:30:00.000Z'));
  });

  test('leads from each line to its break, where the address of the console is known', async () => {
    const about = { ...ABOUT, consoleAddress: 'https://tieout.example/console' };
    const workbook = await openXlsx(await written(sampleRun({ about })));
    for (const [name, column] of [
      ['Statement lines', 3],
      ['Breaks', 3],
    ] as const) {
      const cell = rowStarting(sheetOf(workbook, name), 'A1001', 'ORD-1').getCell(column);
      expect(cell.formula).toBe('HYPERLINK("https://tieout.example/console/breaks/11","11")');
    }
    const words =
      'Whether this day can be signed, what speaks against it and who signed it: its page in the ' +
      'console, under Days.';
    const date = sampleRun({ about }).about.businessDate;
    const rows = sheetOf(workbook, 'Statement').getColumn(1).values as { formula?: string }[];
    expect(rows.map((value) => value?.formula)).toContain(
      `HYPERLINK("https://tieout.example/console/days/A1001/${date}","${words}")`,
    );
    const plain = await openXlsx(await written(sampleRun(), 'plain'));
    expect(rowStarting(sheetOf(plain, 'Statement'), words).getCell(1).formula).toBeUndefined();
    expect(rowStarting(sheetOf(plain, 'Breaks'), 'A1001', 'ORD-1').getCell(3).value).toBe('11');
  });
});
