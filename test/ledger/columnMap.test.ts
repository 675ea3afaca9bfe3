// A shop's own export through a map: the two examples of docs/maps on exports of their shapes, every
// way in which amounts and times are written, and what is refused before a line is read.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { type ColumnMap, type MappedTable, mapLine } from '../../src/core/mapping/columnMap.js';
import { packageRoot } from '../../src/database/statements.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importOrders } from '../../src/ledger/imports/importOrders.js';
import { importRefunds } from '../../src/ledger/imports/importRefunds.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-map-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(() => db.query('truncate ledger.orders, ledger.refund_requests, tieout.imported_files'));

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ merchantId: 'M1', accountId: 'A1001', signingKey: 'k' }],
};
const here = (...parts: string[]): string => join(packageRoot(), ...parts);
const mapFile = (name: string): string => here('docs', 'maps', `${name}.yaml`);
const mapOf = (name: string): ColumnMap => loadColumnMap(mapFile(name));
const exportOf = (name: string): string => here('test', 'ledger', 'exports', `${name}.csv`);

async function importMapped(file: string, map: ColumnMap): Promise<Record<string, unknown>> {
  return { ...(await importOrders(deps, [file], { check: false, map })) };
}

async function orders(): Promise<string[]> {
  const { rows } = await db.query<Record<string, string>>(
    `select concat_ws(' ', order_no, expected, amount, currency, transaction_id,
       to_char(placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as line
     from ledger.orders order by order_no`,
  );
  return rows.map((row) => row.line ?? '');
}

async function updatedAt(orderNo: string): Promise<string | null> {
  const { rows } = await db.query<{ updated_at: Date | null }>(
    'select updated_at from ledger.orders where order_no = $1',
    [orderNo],
  );
  return rows[0]?.updated_at?.toISOString() ?? null;
}

describe('the example maps', () => {
  it('read what Shopify exports: several lines an order, states of two columns', async () => {
    const result = await importMapped(exportOf('shopify'), mapOf('shopify'));
    expect(result).toMatchObject({
      inserted: 5,
      warnings: [
        '1 left out by the map: Financial Status is empty',
        '1 left out by the map: expected is pending + unfulfilled',
      ],
    });
    expect(await orders()).toEqual([
      '1001 captured 44.90 EUR T-1001 2026-11-18T21:41:07Z',
      '1002 authorised 10.00 EUR T-1002 2026-11-19T07:00:00Z',
      '1003 captured 12.00 EUR T-1003 2026-11-19T07:05:00Z',
      '1004 cancelled 12.00 EUR T-1004 2026-11-19T07:06:00Z',
      '1006 captured 20.00 EUR T-1006 2026-11-19T07:15:00Z',
    ]);
    expect(await importMapped(exportOf('shopify'), mapOf('shopify'))).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 5,
    });
  });

  it('read a German WooCommerce: BOM, semicolons, decimal commas, leading zeros', async () => {
    const result = await importMapped(exportOf('woocommerce-german'), mapOf('woocommerce-german'));
    expect(result).toMatchObject({
      inserted: 5,
      warnings: ['1 left out by the map: expected is on-hold'],
    });
    expect(await orders()).toEqual([
      '0000004711 captured 1234.56 EUR W-4711 2026-11-18T22:59:59Z',
      '0000004712 authorised 9.90 EUR W-4712 2026-11-18T23:00:00Z',
      '0000004714 cancelled 19.90 EUR W-4714 2026-11-19T09:31:00Z',
      '0000004715 declined 5.00 EUR W-4715 2026-11-19T09:32:00Z',
      '0000004716 captured 7.50 EUR W-4716 2026-11-19T09:33:00Z',
    ]);
  });

  it('read an ordinary WooCommerce: its own times, 52.0000, thousands, a free order left out', async () => {
    const result = await importMapped(exportOf('woocommerce'), mapOf('woocommerce'));
    expect(result).toMatchObject({
      kind: 'imported',
      inserted: 3,
      warnings: [
        '1 left out by the map: order_total is 0',
        '1 left out by the map: payment_method is bacs',
      ],
    });
    expect(await orders()).toEqual([
      '4711 captured 52.00 USD W-4711 2016-09-06T10:29:00Z',
      '4712 authorised 9.90 USD W-4712 2016-09-07T03:59:59Z',
      '4714 captured 1020.00 USD W-4714 2016-09-06T11:30:00Z',
    ]);
    expect(await updatedAt('4711')).toBe('2016-09-06T10:31:10.000Z');
  });

  it('read the order grid of Magento: month names, AM and PM, times of a shop', async () => {
    const result = await importMapped(exportOf('magento'), mapOf('magento'));
    expect(result).toMatchObject({
      kind: 'imported',
      inserted: 4,
      warnings: ['1 left out by the map: Grand Total (Purchased) is 0.0000'],
    });
    expect(await orders()).toEqual([
      '000000101 authorised 52.00 EUR 2026-11-19T08:12:00Z',
      '000000102 captured 1249.95 EUR 2026-11-19T11:05:09Z',
      '000000103 cancelled 19.90 EUR 2026-11-18T23:30:00Z',
      '000000105 captured 20.00 EUR 2026-11-19T13:00:00Z',
    ]);
    // The grid has no such column: what the ledger has is kept.
    expect(await updatedAt('000000101')).toBe(null);
  });

  it('take updated_at from the latest time that Shopify shows of an order', async () => {
    await importMapped(exportOf('shopify'), mapOf('shopify'));
    expect(await updatedAt('1001')).toBe('2026-11-19T08:12:00.000Z');
    expect(await updatedAt('1004')).toBe('2026-11-19T09:00:00.000Z');
  });

  it.each([
    [
      'shopify-transactions',
      'shopify-refunds',
      [
        '1006/2026-11-20 10:00:00 +0100/5.00 1006 5.00 2026-11-20T09:00:00Z',
        '1006/2026-11-21 10:00:00 +0100/5.00 1006 5.00 2026-11-21T09:00:00Z',
      ],
    ],
    [
      'woocommerce',
      'woocommerce-refunds',
      [
        '4714/2016-09-07 10:00:00/1000.00 4714 1000.00 torn 2016-09-07T14:00:00Z',
        '4714/2016-09-08 10:00:00/20.00 4714 20.00 2016-09-08T14:00:00Z',
      ],
    ],
  ])('take refunds out of %s through %s', async (name, map, refunds) => {
    const options = { check: false, map: loadColumnMap(mapFile(map), 'refunds') };
    expect(await importRefunds(deps, [exportOf(name)], options)).toMatchObject({ inserted: 2 });
    const { rows } = await db.query<{ line: string }>(
      `select concat_ws(' ', refund_id, order_no, refund_amount, reason,
         to_char(requested_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as line
       from ledger.refund_requests order by refund_id`,
    );
    expect(rows.map(({ line }) => line)).toEqual(refunds);
    expect(() => mapOf(map)).toThrow('table: is refunds, this import is orders');
  });

  it('refuse the same file after a spreadsheet took its zeros, and import nothing', async () => {
    const mangled = join(folder, 'mangled.csv');
    writeFileSync(
      mangled,
      'order_number;order_date;status;order_total;order_currency;transaction_id\n' +
        '4711;2026-11-18 23:59:59;completed;9,90;EUR;W-1\n',
    );
    const result = await importMapped(mangled, mapOf('woocommerce-german'));
    expect(result.kind).toBe('refused');
    expect(result.problems).toMatchObject([
      { line: 2, column: 'order_number', value: '4711', reason: expect.stringContaining('shape') },
    ]);
    expect(await orders()).toEqual([]);
  });

  it('say what a file lacks, and which separator it may have', async () => {
    const other = join(folder, 'other.csv');
    writeFileSync(other, 'order_number,order_date\n1,2\n');
    const result = await importMapped(other, mapOf('woocommerce-german'));
    expect(JSON.stringify(result.problems)).toContain('is \\";\\" the separator?');
  });

  it('take order numbers of forty characters and names of any alphabet', async () => {
    const file = join(folder, 'long.csv');
    const number = 'Ä-2026-'.padEnd(40, '7');
    writeFileSync(file, Buffer.from(`No|Total|When\n${number}|1.00|20.11.2026 01:00\n`, 'latin1'));
    const map = loadMap({
      separator: '|',
      encoding: 'windows-1252',
      timezone: 'Europe/Lisbon',
      times: 'dd.MM.yyyy HH:mm',
      columns: {
        account_id: { value: 'A1001' },
        order_no: { from: 'No' },
        currency: { value: 'EUR' },
        amount: { from: 'Total' },
        expected: { value: 'captured' },
        placed_at: { from: 'When' },
      },
    });
    expect(await importMapped(file, map)).toMatchObject({ inserted: 1 });
    expect(await orders()).toEqual([`${number} captured 1.00 EUR 2026-11-20T01:00:00Z`]);
  });
});

const COLUMNS = {
  account_id: { value: 'A1' },
  order_no: { from: 'No' },
  currency: { value: 'EUR' },
  amount: { from: 'Total' },
  expected: { from: 'State', words: { paid: 'captured', open: 'leave out' } },
  placed_at: { from: 'When' },
};

describe('a line', () => {
  it.each([
    ['.', '', '12.34', '12.34'],
    ['.', '', '12', '12'],
    [',', '', '12,34', '12.34'],
    [',', '.', '1.234,56', '1234.56'],
    [',', '.', '1234,56', '1234.56'],
    ['.', ',', '12,345,678.90', '12345678.90'],
    ['.', "'", "1'234.50", '1234.50'],
    [',', ' ', '1 234,50', '1234.50'],
    [',', ' ', '1\u00a0234,50', '1234.50'],
    [',', ' ', '12\u202f345\u202f678,90', '12345678.90'],
    ['.', '', '52.0000', '52.00'],
    ['.', '', '52.5000', '52.50'],
    ['.', '', '52.5001', '52.5001'],
    [',', '.', '12.34', null],
    [',', '.', '1.23,45', null],
    [',', '.', '1234.567,00', null],
    ['.', '', '12,34', null],
    ['.', '', '-1.00', null],
    ['.', '', '1.2.3', null],
    ['.', '', '1e3', null],
    ['.', '', '12.', null],
    [',', '.', ',50', null],
  ] as const)('with "%s" and "%s" has the amount %s as %s', (decimal, thousands, given, amount) => {
    const map = loadMap({ decimal, thousands, columns: COLUMNS });
    const mapped = mapLine(map, { No: '1', Total: given, State: 'paid', When: 'x' });
    if (amount === null) {
      expect(mapped).toMatchObject({ kind: 'problem', problem: { column: 'Total', value: given } });
    } else expect(mapped).toMatchObject({ kind: 'line', values: { amount } });
  });

  it.each([
    ['Europe/Berlin', 'dd.MM.yyyy HH:mm', '1.7.2026 08:00', '2026-07-01T08:00:00+02:00'],
    ['Europe/Berlin', 'dd.MM.yyyy', '01.12.2026', '2026-12-01T00:00:00+01:00'],
    ['America/New_York', 'MM/dd/yyyy HH:mm:ss', '7/4/2026 23:59:59', '2026-07-04T23:59:59-04:00'],
    ['Asia/Kolkata', 'yyyy-MM-dd HH:mm', '2026-01-01 05:30', '2026-01-01T05:30:00+05:30'],
    ['UTC', 'yyyy-MM-dd HH:mm:ss Z', '2026-01-01 05:30:00 -0800', '2026-01-01T05:30:00-0800'],
    ['America/New_York', 'M/d/yyyy H:mm:ss', '9/6/2016 6:29:00', '2016-09-06T06:29:00-04:00'],
    ['America/New_York', 'M/d/yyyy H:mm:ss', '9/6/2016  6:29:00', '2016-09-06T06:29:00-04:00'],
    ['UTC', 'MMM d, yyyy h:mm:ss a', 'Nov 19, 2026 12:00:01 AM', '2026-11-19T00:00:01+00:00'],
    ['UTC', 'MMM d, yyyy h:mm:ss a', 'Nov 9, 2026 12:00:01\u202fp.m.', '2026-11-09T12:00:01+00:00'],
    ['UTC', 'MMM d, yyyy h:mm:ss a', 'Nov 9, 2026 13:00:01 PM', null],
    [
      'Europe/Berlin',
      "d. MMMM yyyy 'um' HH:mm",
      '3. März 2026 um 08:05',
      '2026-03-03T08:05:00+01:00',
    ],
    ['UTC', 'd MMM yyyy', '3 Foo 2026', null],
    ['UTC', 'iso', '2026-01-01T05:30:00Z', '2026-01-01T05:30:00Z'],
    // The hour that comes twice is the first one; the one that clocks leave out is no time.
    ['Europe/Berlin', 'yyyy-MM-dd HH:mm', '2026-10-25 02:30', '2026-10-25T02:30:00+02:00'],
    ['Europe/Berlin', 'yyyy-MM-dd HH:mm', '2026-03-29 02:30', null],
    ['Europe/Berlin', 'yyyy-MM-dd HH:mm', '2026-02-30 02:30', null],
    ['Europe/Berlin', 'yyyy-MM-dd HH:mm', '20.11.2026 02:30', null],
  ])('in %s and %s has the time %s as %s', (timezone, times, given, time) => {
    const map = loadMap({ timezone, times, columns: COLUMNS });
    const mapped = mapLine(map, { No: '1', Total: '1', State: 'paid', When: given });
    if (time === null) expect(mapped).toMatchObject({ problem: { column: 'When', value: given } });
    else expect(mapped).toMatchObject({ kind: 'line', values: { placed_at: time } });
  });

  it('is refused for a word that the map does not know, and left out where it says so', () => {
    const map = loadMap({ columns: COLUMNS });
    const line = { No: '1', Total: '1', When: 'x' };
    expect(mapLine(map, { ...line, State: 'open' })).toEqual({
      kind: 'left_out',
      why: 'expected is open',
    });
    const rest = loadMap(states({ paid: 'captured', '*': 'leave out' }));
    expect(mapLine(rest, { ...line, State: 'odd' })).toMatchObject({ kind: 'left_out' });
    expect(mapLine(map, { ...line, State: 'Paid' })).toMatchObject({
      problem: { column: 'State', value: 'Paid', reason: 'has no word in the map for expected' },
    });
  });
});

describe('words of several columns', () => {
  const wordOf = (words: Record<string, string>, ...parts: string[]) => {
    const from = ['One', 'Two', 'Three'];
    const map = loadMap({ columns: { ...COLUMNS, expected: { from, words } } });
    const line = { No: '1', Total: '1', When: 'x', One: parts[0], Two: parts[1], Three: parts[2] };
    const mapped = mapLine(map, line as Record<string, string>);
    return mapped.kind === 'line' ? mapped.values.expected : mapped.kind;
  };

  it.each([
    ['paid + *', 'captured'],
    ['paid + * + *', 'captured'],
    ['paid + sent + *', 'captured'],
    ['*', 'captured'],
    ['* + * + *', 'captured'],
    ['open + *', 'problem'],
  ])('one * stands for all the last parts: %s', (key, word) => {
    expect(wordOf({ [key]: 'captured' }, 'paid', 'sent', 'late')).toBe(word);
  });

  it('the word that names more of them counts', () => {
    const words = { '*': 'leave out', 'paid + *': 'authorised', 'paid + sent + *': 'captured' };
    expect(wordOf(words, 'paid', 'sent', '')).toBe('captured');
    expect(wordOf(words, 'paid', '', '')).toBe('authorised');
    expect(wordOf(words, 'x', '', '')).toBe('left_out');
  });
});

describe('lines that are none of the gateway', () => {
  it('are left out by their words, or taken by them', () => {
    const line = { No: '1', Total: '1', State: 'paid', When: 'x' };
    const left = loadMap({ leaveOutWhen: { Total: ['0.00', ''] }, columns: COLUMNS });
    expect(mapLine(left, line)).toMatchObject({ kind: 'line' });
    const free = { kind: 'left_out', why: 'Total is 0.00' };
    expect(mapLine(left, { ...line, Total: '0.00' })).toEqual(free);
    expect(mapLine(left, { ...line, Total: null })).toMatchObject({ why: 'Total is empty' });
    const only = loadMap({ onlyWhen: { State: ['paid'] }, columns: COLUMNS });
    expect(mapLine(only, line)).toMatchObject({ kind: 'line' });
    expect(mapLine(only, { ...line, State: 'odd' })).toMatchObject({ kind: 'left_out' });
  });
});

describe('a map is refused', () => {
  it.each([
    ['an unknown key', { seperator: ';' }, 'seperator: unknown key'],
    ['an unknown column', { columns: { ...COLUMNS, total: { from: 'x' } } }, 'columns.total'],
    ['a missing column', { columns: { order_no: { from: 'x' } } }, 'columns.account_id: must be'],
    ['a state that there is not', states({ paid: 'payed' }), 'payed is none of'],
    ['a zone that there is not', { timezone: 'Europe/Bärlin' }, 'timezone'],
    ['a time of a column that is none', order({ latest: ['No'] }), 'columns.order_no: is no time'],
    ['a shape without a year', { times: 'dd.MM. HH:mm' }, 'times'],
    ['one mark for both', { decimal: ',', thousands: ',' }, 'thousands'],
    ['a name of a file without a group', order({ fileName: 'x' }), 'columns.order_no'],
    [
      'a sign of what is no amount',
      order({ from: 'No', sign: { from: 'S', words: { C: 'in' } } }),
      'columns.order_no: is no',
    ],
    [
      'a sign that is none',
      order({ from: 'No', sign: { from: 'S', words: { C: 'up' } } }),
      'columns',
    ],
    ['a trailer without a beginning', { trailer: { lines: 2 } }, 'trailer.starts'],
    ['a pattern that is none', order({ from: 'No', pattern: '(' }), 'columns.order_no'],
  ])('with %s', (_name, change, words) => {
    expect(() => loadMap({ columns: COLUMNS, ...change })).toThrow(words);
  });

  it('with minor units of no currency', () => {
    const given = Object.fromEntries(
      ['account_id', 'batch', 'type', 'booked_at', 'net'].map((name) => [name, { from: name }]),
    );
    const change = { table: 'settlement', minorUnits: true, columns: given };
    expect(() => loadMap(change, 'settlement')).toThrow('minorUnits: hang on the currency');
  });

  it('with a word given once quoted and once not', () => {
    const file = join(folder, 'twice.yaml');
    writeFileSync(file, 'table: orders\nonlyWhen:\n  Type: { "1": in, 1: out }\n');
    expect(() => loadColumnMap(file)).toThrow('twice.yaml: 1: is given twice');
  });

  it('that is not there', () => {
    expect(() => loadColumnMap(join(folder, 'nowhere.yaml'))).toThrow('nowhere.yaml');
  });
});

function states(words: Record<string, string>) {
  return { columns: { ...COLUMNS, expected: { from: 'State', words } } };
}

function order(source: Record<string, unknown>) {
  return { columns: { ...COLUMNS, order_no: source } };
}

/** JSON is YAML too. */
function loadMap(content: Record<string, unknown>, table?: MappedTable): ColumnMap {
  const file = join(folder, 'map.yaml');
  writeFileSync(file, JSON.stringify(content));
  return loadColumnMap(file, table);
}
