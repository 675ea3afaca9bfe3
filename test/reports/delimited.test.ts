// CSV and NDJSON read back as what was written, and give a spreadsheet nothing to run.

import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { statesAsOf } from '../../reports/column.js';
import { BREAKS, INSTRUCTIONS, ORDERS } from '../../reports/columns.js';
import type { CsvOptions } from '../../reports/delimited.js';
import { delimitedText, writeDelimited } from '../../reports/delimited.js';
import type { BreakRow } from '../../src/core/runs/reporting.js';
import { breakRow, movementRow, orderRow } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reports-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function textOf(
  format: 'csv' | 'ndjson',
  rows: readonly BreakRow[],
  options?: CsvOptions,
): Promise<string> {
  let text = '';
  for await (const piece of delimitedText(format, BREAKS, [rows], options)) text += piece;
  return text;
}

function records(text: string): Record<string, string>[] {
  return parse(text, { columns: true, bom: true });
}

describe('CSV', () => {
  test('reads back as what was written, whatever the text holds', async () => {
    const note = 'said "no", then\nyes; ümlaut, 名 ';
    const [record] = records(await textOf('csv', [breakRow({ note })]));
    expect(record).toMatchObject({
      account_id: 'A1001',
      order_no: 'ORD-1',
      difference: '-0.50',
      first_seen: '2026-11-18T22:30:00.000Z',
      age_days: '1',
      owner: '',
      note,
    });
    expect(Object.keys(record ?? {})).toEqual(BREAKS.columns.map((column) => column.key));
  });

  test.each(['=1+1', '+1', '-1', '@x', '\t=1', ' =1', '＝1', '\n=1'])(
    'disarms a text that begins like a formula: %j',
    async (payload) => {
      const rows = [breakRow({ orderNo: payload, note: payload })];
      const [record] = records(await textOf('csv', rows));
      expect(record?.note).toBe(`'${payload}`);
      expect(record?.order_no).toBe(`'${payload}`);
      const [bare] = records(await textOf('csv', rows, { isAsKept: true }));
      expect(bare?.order_no).toBe(payload);
    },
  );

  test('takes the signs that a spreadsheet of another language reads', async () => {
    const options = { separator: ';', decimalSign: ',' } as const;
    const text = await textOf('csv', [breakRow({ note: 'one; two, three' })], options);
    const [record] = parse(text, { columns: true, delimiter: ';' }) as Record<string, string>[];
    expect(record).toMatchObject({ difference: '-0,50', note: 'one; two, three' });
    expect(Object.keys(record ?? {})).toEqual(BREAKS.columns.map((column) => column.key));
    expect(record?.first_seen).toBe('2026-11-18T22:30:00.000Z');
  });

  test('has the decimals of each currency, save for programs that want them as kept', async () => {
    const of = (currency: string, stake: string) => breakRow({ currency, stake });
    const rows = [of('JPY', '23400.00'), of('KWD', '-12.34'), of('EUR', '7.50'), of('JPY', '0.50')];
    const stakes = async (options?: CsvOptions) =>
      records(await textOf('csv', rows, options)).map(({ stake }) => stake);
    expect(await stakes()).toEqual(['23400', '-12.340', '7.50', '0.50']);
    expect(await stakes({ decimalSign: ',' })).toEqual(['23400', '-12,340', '7,50', '0,50']);
    expect(await stakes({ isAsKept: true })).toEqual(['23400.00', '-12.34', '7.50', '0.50']);
    expect(await textOf('ndjson', rows)).toContain('"stake":"23400.00"');
  });

  test('has the fee of a payout in the decimals of its own currency', async () => {
    const fee = (currency: string, payoutFee: string, feeCurrency: string) =>
      movementRow({ currency, payoutFee, feeCurrency });
    const rows = [fee('JPY', '1.00', 'USD'), fee('EUR', '0.05', 'KWD'), fee('KWD', '2.50', 'EUR')];
    let text = '';
    for await (const piece of delimitedText('csv', INSTRUCTIONS, [rows])) text += piece;
    expect(records(text).map((row) => row.payout_fee)).toEqual(['1.00', '0.050', '2.50']);
  });

  test('says in each row as of when its states are', async () => {
    let text = '';
    const table = statesAsOf(BREAKS, 'night of 2026-11-19');
    for await (const piece of delimitedText('csv', table, [[breakRow()]])) text += piece;
    const [record = {}] = records(text);
    expect(Object.keys(record).at(-1)).toBe('states_as_of');
    expect(record.states_as_of).toBe('night of 2026-11-19');
  });

  test('begins with the mark that Excel looks for only when it is asked to', async () => {
    expect((await textOf('csv', [], { byteOrderMark: true })).startsWith('\ufeffaccount_id,')).toBe(
      true,
    );
    expect((await textOf('csv', [])).startsWith('account_id,')).toBe(true);
    expect((await textOf('csv', [])).endsWith('\r\n')).toBe(true);
  });
});

describe('NDJSON', () => {
  test('is one object a line with amounts as text and absent values as null', async () => {
    const text = await textOf('ndjson', [breakRow({ note: '=1+1' }), breakRow()]);
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      difference: '-0.50',
      age_days: 1,
      owner: null,
      note: '=1+1',
      first_seen: '2026-11-18T22:30:00.000Z',
    });
  });
});

test.each(['csv', 'ndjson'] as const)(
  '%s shows no card number, save as an order number',
  async (format) => {
    const text = await textOf(format, [
      breakRow({ orderNo: '4111111111111111', note: '5500005555555559' }),
    ]);
    expect(text).toContain('4111111111111111');
    expect(text).toContain('550000******5559');
  },
);

test('a file of each table is whole and bears its digest', async () => {
  const files = [
    await writeDelimited(join(folder, 'm.csv'), 'csv', INSTRUCTIONS, [[movementRow()]]),
    await writeDelimited(join(folder, 'o.ndjson'), 'ndjson', ORDERS, [[orderRow()], [orderRow()]]),
  ];
  for (const { path, sha256, bytes } of files) {
    const content = await readFile(path);
    expect(content.length).toBe(bytes);
    expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
  }
  expect((await readdir(folder)).sort()).toEqual(['m.csv', 'o.ndjson']);
});

test('a file whose rows break off does not appear', async () => {
  async function* breaking() {
    yield [orderRow()];
    throw new Error('the cursor broke');
  }
  const written = writeDelimited(join(folder, 'o.csv'), 'csv', ORDERS, breaking());
  await expect(written).rejects.toThrow('the cursor broke');
  expect(await readdir(folder)).toEqual([]);
});
