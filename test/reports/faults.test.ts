// What reports have to survive, fault by fault: texts that want to be formulas, more than a sheet or
// a cell holds, a disk that is full in the middle, card numbers in any text. The killed writer is in
// orders.test.ts.

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { XMLValidator } from 'fast-xml-parser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeActivity } from '../../reports/activity.js';
import { BREAKS, ORDERS } from '../../reports/columns.js';
import { delimitedText } from '../../reports/delimited.js';
import { writeOrders } from '../../reports/orders.js';
import { untilWritten } from '../../reports/outputFile.js';
import { writeAgeing } from '../../reports/periodReports.js';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { CELL_TEXT_MAX, CUT_MARK, wallClock } from '../../reports/xlsx/cells.js';
import { writeTable } from '../../reports/xlsx/table.js';
import { writeBook } from '../../reports/xlsx/workbook.js';
import type { ActivityRow, OrderRow } from '../../src/core/runs/reporting.js';
import { readPlainly } from './plainReader.js';
import {
  ABOUT,
  breakRow,
  currencyRow,
  dayRow,
  movementRow,
  orderRow,
  runOf,
  sampleRun,
} from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-faults-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const MONTH = { name: '2026-11', from: '2026-11-01', to: '2026-11-30' };
const PAYLOADS = [
  ...['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', '\u0000=1', '＝1+1'],
  ...['=HYPERLINK("http://evil.example","x")', "=cmd|' /C calc'!A0", '<f>1+1</f>', ']]><f>1</f>'],
  ...['=WEBSERVICE("http://evil.example")', '"><c:f>1+1</c:f>', '&lt;f&gt;', '</v><f>1</f><v>'],
];
const OURS = /^(IF|SUM|ROUND|SUMPRODUCT|SUBTOTAL|COUNTIFS|SUMIFS|[A-Z]+\d+[-+])/;

function activityRow(changes: Partial<ActivityRow> = {}): ActivityRow {
  const none = { cancelled: '0.00', refunded: '0.00', unknown: '0.00' };
  return {
    ...{ businessDate: '2026-11-19', accountId: 'A1001', currency: 'EUR', openBefore: '1.00' },
    ...{ change: '2.00', openAfter: '3.00', captured: '10.00', net: '10.00', ...none },
    ...changes,
  };
}

async function* listed(...rows: OrderRow[]) {
  yield rows;
}

/** Every kind of workbook with this text wherever a text from outside can stand. */
async function allWorkbooks(text: string): Promise<string[]> {
  const everywhere = { accountId: text, orderNo: text, currency: text, transactionId: text };
  const aBreak = breakRow({ ...everywhere, note: text, owner: text, sentence: text, kind: text });
  const aMovement = movementRow({
    ...{ ...everywhere, gatewayMessage: text, gatewayReference: text, refundId: text },
    ...{ holdReason: text, operation: text, amount: text, state: 'unknown' },
  });
  const night = sampleRun({
    ...{ breaks: [aBreak], moved: [aMovement], waiting: [aMovement] },
    currencies: [currencyRow({ accountId: text, currency: text })],
    coverage: [[{ accountId: text, orderNo: text, page: 1, how: text, reason: text }]],
  });
  const order = orderRow({
    ...{ ...everywhere, class: text, kinds: text, expected: text, gatewayState: text },
    ...{ paymentStatus: text, transactionDate: text, gatewayAmount: text },
  });
  const path = (name: string): string => join(folder, `${name}.xlsx`);
  const period = { period: MONTH, about: ABOUT };
  const written = [
    await writeReconciliation(path('night'), runOf(night)),
    await writeOrders(path('orders'), ABOUT, listed(order)),
    await writeActivity(path('activity'), {
      ...{ ...period, rows: [activityRow({ ...everywhere })] },
      days: [dayRow({ ...everywhere })],
    }),
    await writeAgeing(path('ageing'), { ...period, rows: [{ ...aBreak, stake: text }] }),
  ];
  return written.map((one) => one.path);
}

test('every range that a report names is one of cells, and what it lets choose has a column', async () => {
  for (const path of await allWorkbooks('x')) {
    for (const [name, xml] of (await readPlainly(path)).parts) {
      if (!name.startsWith('xl/worksheets/')) continue;
      const ranges = [...xml.matchAll(/ (?:sqref|ref)="([^"]*)"/g)].flatMap(([, ref = '']) =>
        ref.split(' '),
      );
      for (const range of ranges) {
        expect(range, `${path} ${name}`).toMatch(/^\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?$/);
      }
    }
  }
});

describe('row 100: a text that wants to be a formula, in any field of any report', () => {
  test.each(PAYLOADS)('%j stays text', async (payload) => {
    for (const path of await allWorkbooks(payload)) {
      const { sheets, parts } = await readPlainly(path);
      for (const { formula } of sheets.flatMap(({ rows }) => rows.flat())) {
        if (formula !== null) expect(formula).toMatch(OURS);
        expect(formula ?? '').not.toMatch(/HYPERLINK|WEBSERVICE|cmd/);
      }
      const drawn = [...parts].filter(([name]) => name.startsWith('xl/charts/'));
      for (const [, xml] of drawn) expect(xml).not.toContain('<c:f>1+1');
      expect([...parts.values()].join('')).not.toMatch(/<hyperlink|TargetMode|oleObject/);
    }
  });

  test.each(PAYLOADS)('%j bears an apostrophe in CSV where it would run', async (payload) => {
    const rows = [[breakRow({ note: payload, orderNo: payload })]];
    let text = '';
    for await (const piece of delimitedText('csv', BREAKS, rows)) text += piece;
    const [, line = ''] = text.split('\r\n');
    expect(line).not.toMatch(/(^|,)"?[\s]*[=+\-@＝](?![\d.]+(,|$))/);
  });
});

describe('row 101: more than a sheet or a cell holds', () => {
  test('goes on in the next sheet; long text is cut with a mark; XML stays XML', async () => {
    const long = 'ä&<'.repeat(CELL_TEXT_MAX);
    const odd = 'a\u0000b\ud800c\ufffed\u001fe';
    const rows = Array.from({ length: 25 }, (_, at) =>
      orderRow({ orderNo: `O-${at}`, kinds: at === 3 ? long : odd }),
    );
    const path = join(folder, 'o.xlsx');
    await writeOrders(path, ABOUT, listed(...rows), { rowsPerSheet: 13 });
    const { sheets, parts } = await readPlainly(path);
    expect(sheets.map(({ name }) => name).slice(0, 3)).toEqual([
      ...['Orders', 'Orders (2)', 'Orders (3)'],
    ]);
    const cells = sheets.slice(0, 3).flatMap((sheet) => sheet.rows.flat());
    expect(cells.filter(({ value }) => /^O-\d+$/.test(value))).toHaveLength(25);
    const cut = cells.find(({ value }) => value.endsWith(CUT_MARK));
    expect(cut?.value.replaceAll('&amp;', '&').replaceAll('&lt;', '<')).toHaveLength(CELL_TEXT_MAX);
    expect(cells.some(({ value }) => value === 'abcde')).toBe(true);
    for (const [name, xml] of parts)
      expect([name, XMLValidator.validate(xml)]).toEqual([name, true]);
  });

  test('letters of any language come back as they were', async () => {
    const names = ['Größe Straße', 'œuvre déjà', 'Łódź Żółć', 'שלום עולם', 'مرحبا', '中文 😀'];
    const rows = names.map((name, at) => orderRow({ orderNo: `${at} ${name}`, kinds: name }));
    const path = join(folder, 'o.xlsx');
    await writeOrders(path, ABOUT, listed(...rows));
    const { sheets } = await readPlainly(path);
    const values = new Set((sheets[0]?.rows ?? []).flat().map(({ value }) => value));
    for (const [at, name] of names.entries()) {
      expect([values.has(name), values.has(`${at} ${name}`)]).toEqual([true, true]);
    }
  });
});

describe('row 102: a disk that is full in the middle', () => {
  test.each([1, 20_000, 200_000])(
    'rejects after %i bytes, and the rows are let go',
    async (room) => {
      let [taken, begun, held] = [0, 0, 0];
      const sink = new Writable({
        write(chunk: Buffer, _encoding, done) {
          taken += chunk.length;
          const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
          done(taken > room ? full : null);
        },
      });
      async function* endless() {
        begun += 1;
        held += 1;
        try {
          for (let row = 0; ; row += 1) yield [orderRow({ orderNo: `${row} ${Math.random()}` })];
        } finally {
          held -= 1;
        }
      }
      const properties = { title: 'x', environment: 'test' as const, businessDate: '2026-11-19' };
      const work = () =>
        writeBook(sink, { ...properties, createdAt: new Date(0) }, async (book) => {
          const timezone = 'UTC';
          const spec = { name: 'O', table: ORDERS, top: [], timezone, clock: wallClock(timezone) };
          await writeTable(book, spec, endless());
        });
      await expect(untilWritten(sink, work)).rejects.toMatchObject({ code: 'ENOSPC' });
      await expect.poll(() => held).toBe(0);
      // Where not even the first bytes find room, no row is asked for.
      expect(begun).toBe(room > 1 ? 1 : 0);
    },
  );

  test('leaves no file, and the next try makes it', async () => {
    const path = join(folder, 'o.xlsx');
    async function* breaking() {
      yield [orderRow()];
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    }
    await expect(writeOrders(path, ABOUT, breaking())).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await readdir(folder)).toEqual([]);
    await writeOrders(path, ABOUT, listed(orderRow()));
    expect(existsSync(path)).toBe(true);
  });
});

describe('row 103: card numbers in any text', () => {
  test('of five hundred none is shown whole, in no workbook and in no CSV', async () => {
    const cards = Array.from({ length: 500 }, (_, at) =>
      withCheckDigit(`4${String(at * 7_919_113 + 10 ** 13)}`),
    );
    const breaks = cards.map((card, at) => {
      const spaced = card.replace(/(\d{4})(?=\d)/g, '$1 ');
      return breakRow({
        orderNo: `O-${at}`,
        note: `card ${card}`,
        owner: spaced,
        sentence: spaced,
      });
    });
    const waiting = cards.map((card) => movementRow({ gatewayMessage: `refused ${card}` }));
    const { path } = await writeReconciliation(
      join(folder, 'n.xlsx'),
      runOf(sampleRun({ breaks, waiting, moved: waiting })),
    );
    const { parts } = await readPlainly(path);
    const all = [...parts.values()].join('').replace(/[ \u00a0-]/g, '');
    let csv = '';
    for await (const piece of delimitedText('csv', BREAKS, [breaks])) csv += piece;
    const shown = cards.filter(
      (card) => all.includes(card) || csv.replaceAll(' ', '').includes(card),
    );
    expect(shown).toEqual([]);
  });

  /** Fifteen digits and the sixteenth that makes them pass for a card number. */
  function withCheckDigit(digits: string): string {
    const sum = [...digits].reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
    return `${digits}${(10 - (sum % 10)) % 10}`;
  }
});
