// Rows of a report as files of rows: how a CSV is written is said on the command line, and each row
// of each kind bears, behind all other columns, the environment that it is of.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import { dateOf } from '../support/night.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

let house: SeparateHouse;

beforeAll(async () => {
  const settings = { settlement: { from: dateOf(2) }, operations: { capture: 'approve' } };
  house = await buildSeparateHouse({ orders: 300, seed: 11, settings });
  const night = await tieoutHere(['run', '--date', dateOf(2)], { cwd: house.folder });
  expect(night.code, night.stderr).toBe(3);
}, 120_000);
afterAll(() => house.end());

async function report(kind: string, ...words: string[]): Promise<string> {
  const ended = await tieoutHere(['report', dateOf(2), '--kind', kind, ...words], {
    cwd: house.folder,
  });
  expect(ended.code, ended.stderr).toBe(0);
  return ended.stdout;
}

const KINDS = [
  ...['orders', 'breaks', 'moved', 'waiting', 'coverage', 'activity', 'ageing', 'settlement'],
];

test.each(KINDS)('the rows of %s end with their environment', async (kind) => {
  const [head = '', ...lines] = (await report(kind, '--format', 'csv')).trim().split('\r\n');
  expect(head).toMatch(kind === 'activity' ? /[^_]*,environment$/ : /,states_as_of,environment$/);
  expect(lines.filter((line) => !line.endsWith(',test'))).toEqual([]);
  const said = (await report(kind, '--format', 'ndjson')).trim().split('\n').filter(Boolean);
  expect(said).toHaveLength(lines.length);
  for (const line of said) {
    const row = JSON.parse(line) as Record<string, unknown>;
    expect([Object.keys(row).join(), row.environment]).toEqual([head, 'test']);
  }
  const { rows } = JSON.parse(await report(kind, '--format', 'ndjson', '--json'));
  const keysOf = (row: object): string => Object.keys(row).join();
  expect(rows.map(keysOf)).toEqual(said.map(() => head));
  if (kind === 'breaks' || kind === 'waiting') expect(lines.length).toBeGreaterThan(3);
});

test('a CSV has the mark, the separator and the decimal sign that were asked for', async () => {
  const plain = await report('breaks', '--format', 'csv');
  expect(plain).toMatch(/^account_id,/);
  const amounts = plain.match(/,\d+\.\d\d,/g) ?? [];
  expect(amounts.length).toBeGreaterThan(3);
  const abroad = await report(
    ...(['breaks', '--format', 'csv', '--bom', '--separator', ';', '--decimal', ','] as const),
  );
  expect(abroad).toMatch(/^\ufeffaccount_id;/);
  // A comma is quoted with any separator: a reader that guesses it is misled by none.
  expect(abroad.match(/;"\d+,\d\d";/g)).toHaveLength(amounts.length);
  expect(abroad).not.toMatch(/;\d+\.\d\d;/);
  const tabbed = await report('breaks', '--format', 'csv', '--separator', 'tab', '--out', 'it.csv');
  expect(tabbed.trim()).toBe(join(house.folder, 'it.csv'));
  expect(readFileSync(join(house.folder, 'it.csv'), 'utf8')).toMatch(/^account_id\torder_no\t/);
  expect(await report('breaks', '--format', 'csv', '--decimal', ',')).toMatch(/,"\d+,\d\d",/);
});

test.each([['--bom'], ['--separator', ';'], ['--decimal', ',']])(
  '%s is of CSV alone',
  async (...flag) => {
    const words = ['report', dateOf(2), '--kind', 'breaks', '--format', 'ndjson', ...flag];
    const ended = await tieoutHere(words, { cwd: house.folder });
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain('--bom, --separator and --decimal are of --format csv');
  },
);
