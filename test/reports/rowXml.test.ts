// The short way to a row's XML is the same as the long one, for plain values and for hostile ones.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Table } from '../../reports/column.js';
import { BREAKS_SHEET, ORDERS, WAITING_SHEET } from '../../reports/columns.js';
import { wallClock } from '../../reports/xlsx/cells.js';
import { columnCell } from '../../reports/xlsx/columnCell.js';
import { rowHeight } from '../../reports/xlsx/columnWidths.js';
import { cellXml, columnLetters } from '../../reports/xlsx/format/cellXml.js';
import type { CellStyle } from '../../reports/xlsx/format/styleSheet.js';
import { rowXml } from '../../reports/xlsx/rowXml.js';
import { STYLES } from '../../reports/xlsx/styles.js';
import { breakRow, movementRow, orderRow } from './sampleRun.js';

const CLOCK = wallClock('Europe/Berlin');
const LOOKS: readonly CellStyle[] = Object.values(STYLES);
const styleOf = (style: CellStyle): number => LOOKS.indexOf(style);

const HOSTILE = [
  ...[
    '=1+1',
    '<f>1</f>',
    'a & b',
    ' spaces ',
    'line\nbreak',
    '\t',
    '\u0000x',
    '_x0041_',
    'a_b',
    '',
  ],
  ...['4111111111111111', '4111 1111 1111 1111', '20261025065909', 'Łódź', 'שלום', '😀', '\ud800'],
  ...['x'.repeat(90), 'word '.repeat(40), '12.30', '-0.50', '0.00', '99999999999999999.99', '7'],
  ...['1234567890123.45', 'not_compared', 'notCompared', '10.5', '-', '\ufffe'],
];
const anyText = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 60 }));
const maybeText = fc.option(anyText, { nil: null });
const amount = fc.oneof(
  maybeText,
  fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }).map((cents) => (cents / 100).toFixed(2)),
);
const currency = fc.option(fc.constantFrom('EUR', 'JPY', 'KWD', '*'), { nil: null });
const instant = fc.option(
  fc.date({ noInvalidDate: true, min: new Date('1971-01-01'), max: new Date('2999-01-01') }),
  {
    nil: null,
  },
);

function theLongWay<R>(table: Table<R>, widths: readonly number[], row: R, number: number): string {
  const cells = table.columns.map((column, at) =>
    columnCell(column, row, table.keep(row), CLOCK, widths[at] ?? 0),
  );
  const inside = cells.map((cell, at) => {
    const xml = cellXml(cell, styleOf);
    return xml === '' ? '' : `<c r="${columnLetters(at + 1)}${number}${xml}`;
  });
  const height = rowHeight(cells, widths);
  const tall = height === null ? '' : ` ht="${height}" customHeight="1"`;
  return `<row r="${number}"${tall}>${inside.join('')}</row>`;
}

function expectBothWays<R>(table: Table<R>, rows: readonly R[]): void {
  const widths = table.columns.map(({ width }) => width);
  const xmlOf = rowXml({ table, widths, clock: CLOCK, styleOf });
  // Twice: the second time many texts are known already.
  for (const row of [...rows, ...rows]) {
    expect(shortened(xmlOf(row, 17))).toBe(shortened(theLongWay(table, widths, row, 17)));
  }
}

/** 12.30 and 12.3 are one number; text keeps its zeros. */
function shortened(xml: string): string {
  return xml.replace(/(s="\d+"><v>)([^<]*)/g, (_, open, figure) => open + Number(figure));
}

describe('the XML of a row', () => {
  test('is that of its cells, whatever an order holds', () => {
    const order = fc.record({
      ...{ accountId: anyText, orderNo: anyText, class: anyText, kinds: anyText },
      ...{ expected: maybeText, gatewayState: maybeText, paymentStatus: maybeText, currency },
      ...{ ledgerAmount: amount, gatewayAmount: amount, transactionId: maybeText },
      ...{ transactionDate: maybeText, placedAt: instant, gatewayCurrency: currency },
      ...{ ledgerCaptured: amount, gatewayCaptured: amount },
      ...{ ledgerRefunded: amount, gatewayRefunded: amount },
    });
    fc.assert(
      fc.property(fc.array(order, { maxLength: 5 }), (rows) => expectBothWays(ORDERS, rows)),
      { numRuns: 300 },
    );
  });

  test('is that of its cells on the sheets of breaks and of what waits', () => {
    const texts = HOSTILE.flatMap((text) => [text, null]);
    expectBothWays(
      BREAKS_SHEET,
      texts.map((text) => breakRow({ note: text, sentence: text ?? '', difference: text })),
    );
    expectBothWays(
      WAITING_SHEET,
      texts.map((text) => movementRow({ holdReason: text, amount: text, gatewayMessage: text })),
    );
  });

  test('shows wall time to the second', () => {
    const xmlOf = rowXml({ table: ORDERS, widths: [], clock: CLOCK, styleOf });
    const [, serial] = /<v>(\d+\.\d+)<\/v><\/c><\/row>/.exec(xmlOf(orderRow(), 4)) ?? [];
    const at = Math.round((Number(serial) - 25_569) * 86_400) * 1000;
    expect(new Date(at).toISOString()).toBe('2026-11-19T12:00:00.000Z');
  });

  test.each([1, 999, 1_000, 1_001, 12_005, 100_000, 1_048_576])(
    'stands under number %i',
    (number) => {
      const xml = rowXml({ table: ORDERS, widths: [], clock: CLOCK, styleOf })(orderRow(), number);
      expect(xml).toMatch(new RegExp(`^<row r="${number}"[^>]*><c r="A${number}" `));
    },
  );

  test('writes the part of the day in nine decimals, whatever the second', () => {
    const xmlOf = rowXml({ table: ORDERS, widths: [], clock: wallClock('UTC'), styleOf });
    const midnight = Date.UTC(2026, 10, 19);
    const wrong: string[] = [];
    for (let second = 0; second < 86_400; second += 41) {
      const row = orderRow({ placedAt: new Date(midnight + second * 1000) });
      const expected = `<v>46345${(second / 86_400).toFixed(9).slice(1)}</v></c></row>`;
      if (!xmlOf(row, 4).endsWith(expected)) wrong.push(expected);
    }
    expect(wrong).toEqual([]);
  });
});
