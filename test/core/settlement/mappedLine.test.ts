// What acquirers' files need of a map: a word for the sign, minor units, values that only the name of
// the file has.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadColumnMap } from '../../../src/config/mapFile.js';
import { type ColumnMap, mapLine } from '../../../src/core/mapping/columnMap.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-mapped-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** JSON is YAML too. */
function loadMap(content: Record<string, unknown>): ColumnMap {
  const file = join(folder, 'map.yaml');
  writeFileSync(file, JSON.stringify(content));
  return loadColumnMap(file, 'settlement');
}

describe("a settlement line's amount", () => {
  const BARE = {
    ...{ account_id: { value: 'A1' }, batch: { value: '1' }, type: { value: 'captured' } },
    ...{ booked_at: { from: 'When' }, currency: { from: 'Cur' } },
  };
  const mapped = (change: object, given: Record<string, string>) =>
    mapLine(
      loadMap({ table: 'settlement', ...change }),
      { When: 'x', Cur: 'EUR', ...given },
      'payout_134_20261119.csv',
    );
  const sign = { from: 'S', words: { C: 'in', D: 'out' } };

  it.each([
    ['C', '12.00', '12.00'],
    ['D', '12.00', '-12.00'],
    ['D', '-12.00', 'which has a sign of its own'],
    ['X', '12.00', 'has no word in the map for the sign'],
    ['', '12.00', 'has no word in the map for the sign'],
  ])('with the word "%s" beside %s is %s', (word, amount, expected) => {
    for (const net of [
      { from: 'N', sign },
      { sum: ['N', 'Rest'], sign },
    ]) {
      const line = mapped({ columns: { ...BARE, net } }, { S: word, N: amount, Rest: '' });
      if (line.kind === 'line') expect(line.values.net).toBe(expected);
      else {
        const reason = expect.stringContaining(expected);
        expect(line).toMatchObject({
          kind: 'problem',
          problem: { column: 'S', value: word, reason },
        });
      }
    }
  });

  it.each([
    ['EUR', true, '1234', '12.34'],
    ['EUR', true, '-5', '-0.05'],
    ['EUR', true, '0', '0.00'],
    ['JPY', true, '1234', '1234.00'],
    ['KWD', true, '1230', '1.23'],
    ['KWD', true, '1234', '1.234'],
    ['ISK', true, '1200', '1200.00'],
    ['ISK', { ISK: 2 }, '1200', '12.00'],
    ['EUR', true, '12.34', null],
    ['EUR', false, '1234', '1234'],
    ['???', true, '1234', '1234'],
  ])('in %s, minor units %s: %s is %s', (Cur, minorUnits, N, expected) => {
    const line = mapped({ minorUnits, columns: { ...BARE, net: { from: 'N' } } }, { Cur, N });
    if (expected !== null) expect(line).toMatchObject({ values: { net: expected } });
    else {
      const reason = expect.stringContaining('no whole number of minor units');
      expect(line).toMatchObject({ problem: { column: 'N', value: N, reason } });
    }
  });

  it('in minor units is of the currency that it is in: net in what is settled', () => {
    const columns = {
      ...{ ...BARE, amount: { from: 'A' }, settle_currency: { from: 'To' } },
      ...{ net: { credit: 'C', debit: 'D' }, fee: { sum: ['F', 'G'] } },
    };
    const given = { Cur: 'JPY', A: '500', To: 'EUR', C: '310', D: '', F: '7', G: '3' };
    const values = { amount: '500.00', net: '3.10', fee: '0.10' };
    expect(mapped({ minorUnits: true, columns }, given)).toMatchObject({ values });
  });

  it.each([
    ['batch', '_(\\d+)_', 'iso', '134'],
    ['booked_at', '(\\d{8})\\.csv$', 'yyyyMMdd', '2026-11-19T00:00:00+00:00'],
    ['batch', '^settlement_(\\d+)', 'iso', null],
    ['booked_at', '_(\\d+)_', 'yyyyMMdd', null],
  ])('has its %s from the name of the file: %s', (name, fileName, times, value) => {
    const columns = {
      ...BARE,
      net: { from: 'N' },
      booked_at: { from: 'When' },
      [name]: { fileName },
    };
    const line = mapped({ times, columns }, { N: '1', When: '20261119' });
    if (value !== null) expect(line).toMatchObject({ values: { [name]: value } });
    else expect(line).toMatchObject({ kind: 'problem', problem: { column: name } });
  });
});
