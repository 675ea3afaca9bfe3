// Rows 93 and 96 to 99 of the list of faults, by their numbers: what a ledger and its files may bring
// and must not pass. Neighbours: import.test.ts and lines.test.ts have each case by itself.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importOrders } from '../../src/ledger/imports/importOrders.js';
import type { ImportResult } from '../../src/ledger/imports/importResult.js';
import { startTieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { freshDatabase } from '../support/database.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-matrix-'));
const fresh = await freshDatabase();
const { db } = fresh;
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});
beforeEach(() => db.query('truncate ledger.orders, tieout.imported_files'));

const deps = {
  db,
  profile: sandboxProfile(),
  accounts: [{ merchantId: 'M1', accountId: 'A1', signingKey: 'k' }],
};
const HEADER = 'account_id,order_no,currency,amount,expected,placed_at';
const GOOD = 'A1,0001,EUR,10.00,captured,2026-11-19T08:30:00Z';

function importBytes(bytes: string | Buffer, name = 'orders.csv'): Promise<ImportResult> {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return importOrders(deps, [file], { check: false });
}

async function expectRefused(bytes: string | Buffer, line: number): Promise<void> {
  const result = await importBytes(bytes);
  const problems = expect.arrayContaining([expect.objectContaining({ line })]);
  expect(result).toMatchObject({ kind: 'refused', problems });
  const { rows } = await db.query<{ count: bigint }>('select count(*) as count from ledger.orders');
  expect(rows[0]?.count).toBe(0n);
}

const order = (change: Record<string, string>): string => {
  const names = HEADER.split(',');
  const values = GOOD.split(',');
  return names.map((name, at) => change[name] ?? values[at]).join(',');
};

describe('row 93: what a ledger row must not hold', () => {
  it.each([
    ['a negative amount', { amount: '-1.00' }],
    ['no amount', { amount: '' }],
    ['NaN', { amount: 'NaN' }],
    ['float dust', { amount: '19.989999' }],
    ['a third decimal', { amount: '1.000' }],
    ['an overlong amount', { amount: `${'9'.repeat(19)}.00` }],
    ['an overlong number', { order_no: 'x'.repeat(129) }],
    ['a letter of another alphabet', { order_no: 'SO-\u0410bc' }],
    ['an invisible character', { order_no: 'SO\u200b1' }],
  ])('%s is refused at its line', (_name, change) =>
    expectRefused(`${HEADER}\n${GOOD}\n${order({ order_no: '0002', ...change })}\n`, 3),
  );

  it('a row twice is refused, and leading zeros are kept', async () => {
    await expectRefused(`${HEADER}\n${GOOD}\n${GOOD}\n`, 3);
    await importBytes(`${HEADER}\n${GOOD}\n${order({ order_no: '001' })}\n`);
    const { rows } = await db.query('select order_no from ledger.orders order by 1');
    expect(rows).toEqual([{ order_no: '0001' }, { order_no: '001' }]);
  });
});

describe('row 96: files that are no CSV of ours are refused whole, with the line', () => {
  it.each([
    ['UTF-16', Buffer.from(`\ufeff${HEADER}\n${GOOD}\n`, 'utf16le'), 1],
    ['semicolons', `${HEADER}\n${GOOD}\n`.replaceAll(',', ';'), 1],
    ['an unclosed quote', `${HEADER}\n${GOOD}\nA1,"0002,EUR\n`, 3],
    ['a bare CR as line break', `${HEADER}\r${GOOD}\r`, 1],
    ['a NUL', `${HEADER}\n${order({ order_no: '00\u000001' })}\n`, 2],
    ['a hundred thousand columns', `${HEADER}${',x'.repeat(100_000)}\n${GOOD}\n`, 1],
    ['a column twice', `${HEADER},amount\n${GOOD},1.00\n`, 1],
    ['no header', `${GOOD}\n`, 1],
  ])('%s', (_name, bytes, line) => expectRefused(bytes, line));

  it('a byte order mark alone is no reason', async () => {
    expect(await importBytes(`\ufeff${HEADER}\n${GOOD}\n`)).toMatchObject({ inserted: 1 });
  });
});

describe('row 97: what a spreadsheet did to numbers is refused', () => {
  it.each([
    ['1.23E+15', { order_no: '1.23E+15' }],
    ['1,23E+15', { order_no: '"1,23E+15"' }],
    ['a date as time', { placed_at: '19.11.2026' }],
    ['a time without a zone', { placed_at: '2026-11-19 08:30' }],
  ])('%s', (_name, change) => expectRefused(`${HEADER}\n${order(change)}\n`, 2));
});

describe('row 98: the same file twice', () => {
  it('changes nothing, under whatever name', async () => {
    const bytes = `${HEADER}\n${GOOD}\n`;
    expect(await importBytes(bytes)).toMatchObject({ inserted: 1, unchanged: 0 });
    expect(await importBytes(bytes)).toMatchObject({ inserted: 0, updated: 0, unchanged: 1 });
    expect(await importBytes(bytes, 'renamed.csv')).toMatchObject({ updated: 0, unchanged: 1 });
  });
});

describe('row 99: a crash in the middle of an import', () => {
  let house: SeparateHouse;
  beforeAll(async () => {
    house = await buildSeparateHouse({ orders: 0, seed: 1 });
  });
  afterAll(() => house.end());

  it('leaves nothing behind, and all of it when it is run again', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => order({ order_no: `N${n}` }));
    const file = join(folder, 'many.csv');
    writeFileSync(file, `${HEADER}\n${lines.join('\n')}\n`);
    const killed = startTieout(['import', 'orders', file], { cwd: house.folder });
    const staging = `select from pg_stat_activity
      where query like '%into import_line%' and pid <> pg_backend_pid()
        and datname = current_database()`;
    while ((await house.db.query(staging)).rows.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    killed.signal('SIGKILL');
    expect((await killed.ended).code).toBeNull();
    const count = 'select count(*) as count from ledger.orders';
    expect((await house.db.query(count)).rows).toEqual([{ count: 0n }]);
    const again = await tieoutHere(['import', 'orders', file], { cwd: house.folder });
    expect(again.code, again.stderr).toBe(0);
    expect((await house.db.query(count)).rows).toEqual([{ count: 60_000n }]);
  });
});
