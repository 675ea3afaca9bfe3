// Imports of orders and refund requests on a real database: by key, all lines or none, and the same
// bytes change nothing (docs/CONTRACT.md section 4).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { importOutput, runImport } from '../../src/cli/ledger/import.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importOrders } from '../../src/ledger/imports/importOrders.js';
import { importRefunds } from '../../src/ledger/imports/importRefunds.js';
import type { ImportResult } from '../../src/ledger/imports/importResult.js';
import { formatImport, MAX_PROBLEMS } from '../../src/ledger/imports/importResult.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-import-'));
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
  accounts: [{ merchantId: 'M1', accountId: 'A1', signingKey: 'k' }],
};

const HEADER =
  'account_id,order_no,currency,amount,expected,transaction_id,capture_amount,review_decision,placed_at,updated_at';
const ROW_1 = 'A1,0001,EUR,10.00,captured,T1,9.00,accept,2026-11-19T08:30:00Z,2026-11-19T09:00:00Z';
const ROW_2 = 'A1,0002,JPY,1500.00,authorised,,,,2026-11-19 09:30:00.123+01:00,';
const REFUNDS = 'account_id,refund_id,order_no,refund_amount,reason,requested_by,requested_at';
const REFUND_1 = 'A1,R1,0001,3.00,damaged,Anna,2026-11-19T08:30:00Z';

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

function orders(...lines: string[]): Promise<ImportResult> {
  return importOrders(deps, [file('orders.csv', ...lines)], { check: false });
}

function refunds(...lines: string[]): Promise<ImportResult> {
  return importRefunds(deps, [file('refunds.csv', ...lines)], { check: false });
}

async function rows(table = 'orders'): Promise<Record<string, unknown>[]> {
  return (await db.query(`select * from ledger.${table} order by 1, 2`)).rows;
}

const imported = (inserted: number, updated: number, unchanged: number, skipped: number) => ({
  kind: 'imported',
  check: false,
  inserted,
  updated,
  unchanged,
  skipped,
  warnings: [],
});

/** The same bytes: nothing is read, and it is said. */
const knownAgain = (lines: number, files = 1) => ({
  ...imported(0, 0, lines, 0),
  warnings: Array.from({ length: files }, () => expect.stringContaining('the same bytes')),
});

const refused = (line: number, column: string | null, value: string | null, reason: string) => ({
  kind: 'refused',
  more: false,
  problems: [
    { file: expect.any(String), line, column, value, reason: expect.stringContaining(reason) },
  ],
});

describe('import orders', () => {
  it('inserts every column as it stands in the file', async () => {
    expect(await orders(HEADER, ROW_1, ROW_2)).toEqual(imported(2, 0, 0, 0));
    expect(await rows()).toEqual([
      {
        account_id: 'A1',
        order_no: '0001',
        currency: 'EUR',
        amount: '10.00',
        expected: 'captured',
        transaction_id: 'T1',
        capture_amount: '9.00',
        review_decision: 'accept',
        placed_at: new Date('2026-11-19T08:30:00Z'),
        updated_at: new Date('2026-11-19T09:00:00Z'),
      },
      {
        account_id: 'A1',
        order_no: '0002',
        currency: 'JPY',
        amount: '1500.00',
        expected: 'authorised',
        transaction_id: null,
        capture_amount: null,
        review_decision: null,
        placed_at: new Date('2026-11-19T08:30:00.123Z'),
        updated_at: null,
      },
    ]);
  });

  it('changes nothing when the same bytes come again', async () => {
    await orders(HEADER, ROW_1, ROW_2);
    const stamps = 'select xmin::text, ctid::text from ledger.orders order by order_no';
    const before = await db.query(stamps);
    expect(await orders(HEADER, ROW_1, ROW_2)).toEqual(knownAgain(2));
    // The same lines in other bytes change nothing either.
    expect(await orders(HEADER, ROW_2, ROW_1)).toEqual(imported(0, 0, 2, 0));
    expect((await db.query(stamps)).rows).toEqual(before.rows);
  });

  it('updates by key, skips what is older, and counts each', async () => {
    await orders(HEADER, ROW_1, ROW_2);
    const newer = ROW_2.replace('authorised', 'cancelled');
    const older = ROW_1.replace('captured', 'cancelled').replace('T09:00', 'T08:59');
    const other = ROW_1.replace('0001', '0003');
    expect(await orders(HEADER, older, newer, other)).toEqual(imported(1, 1, 0, 1));
    expect((await rows()).map((row) => row.expected)).toEqual([
      'captured',
      'cancelled',
      'captured',
    ]);
  });

  it('takes a change that bears the same time, but none that has lost its time', async () => {
    await orders(HEADER, ROW_1);
    expect(await orders(HEADER, ROW_1.replace('10.00', '11.00'))).toEqual(imported(0, 1, 0, 0));
    const timeless = ROW_1.replace('10.00', '12.00').replace('2026-11-19T09:00:00Z', '');
    expect(await orders(HEADER, timeless)).toEqual(refused(2, 'updated_at', null, 'steps back'));
    expect(await rows()).toMatchObject([{ amount: '11.00', updated_at: expect.any(Date) }]);
  });

  it('empties a value that is empty and keeps one whose column is absent', async () => {
    await orders(HEADER, ROW_1);
    const short = 'account_id,order_no,currency,amount,expected,placed_at,review_decision';
    await orders(short, 'A1,0001,EUR,10.00,captured,2026-11-19T08:30:00Z,');
    expect(await rows()).toMatchObject([
      { transaction_id: 'T1', capture_amount: '9.00', review_decision: null },
    ]);
  });

  it('keeps orders of equal number of two accounts apart, and says when one is unknown', async () => {
    const result = await orders(HEADER, ROW_1, ROW_1.replace('A1', 'A9'));
    expect(result).toMatchObject({ inserted: 2, warnings: [expect.stringContaining('A9')] });
  });

  it('keeps an order number of forty digits and its leading zeros', async () => {
    const orderNo = `00${'1234567890'.repeat(4).slice(2)}`;
    await orders(HEADER, ROW_1.replace('0001', orderNo));
    expect(await rows()).toMatchObject([{ order_no: orderNo }]);
  });

  it('reads NDJSON by the ending of the name, several files as one', async () => {
    const line = {
      account_id: 'A1',
      order_no: '7',
      currency: 'EUR',
      amount: '1.00',
      expected: 'captured',
      placed_at: '2026-11-19T08:30:00Z',
    };
    const files = [file('a.csv', HEADER, ROW_1), file('b.ndjson', JSON.stringify(line))];
    expect(await importOrders(deps, files, { check: false })).toEqual(imported(2, 0, 0, 0));
    expect(await importOrders(deps, files, { check: false })).toEqual(knownAgain(2, 2));
  });

  it.each([
    ['a third decimal', ROW_2.replace('1500.00', '1500.001'), 3, 'amount', '1500.001', 'two dec'],
    ['a broken yen', ROW_2.replace('1500.00', '1500.50'), 3, 'amount', '1500.50', 'end in .00'],
    ['three decimals', ROW_2.replace('JPY', 'KWD'), 3, 'currency', 'KWD', 'profile'],
    ['a value too few', 'A1,0002', 3, null, null, 'has 2 values'],
    ['the key of line 2', ROW_1, 3, 'order_no', '0001', 'already in line 2'],
  ])(
    'refuses %s with its line, and takes no line at all',
    async (_, bad, line, column, value, reason) => {
      expect(await orders(HEADER, ROW_1, bad)).toEqual(refused(line, column, value, reason));
      expect(await rows()).toEqual([]);
    },
  );

  it('takes none of thousands of lines when the last one is bad', async () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => ROW_2.replace('0002', `N${n}`));
    expect(await orders(HEADER, ...lines, 'A1')).toEqual(
      refused(5_002, null, null, 'has 1 values'),
    );
    expect(await rows()).toEqual([]);
  });

  it('takes none when its connection dies on the way, and all when it is run again', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => ROW_2.replace('0002', `N${n}`));
    const path = file('orders.csv', HEADER, ...lines);
    const own = await freshDatabase();
    try {
      const run = importOrders({ ...deps, db: own.db }, [path], { check: false });
      const ended = run.then(
        () => 'imported',
        () => 'failed',
      );
      const kill = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and query like '%import_line%'`;
      for (let killed = 0; killed === 0; ) killed = (await own.db.query(kill)).rowCount;
      expect(await ended).toBe('failed');
      expect((await own.db.query('select 1 from ledger.orders')).rowCount).toBe(0);
      const again = await importOrders({ ...deps, db: own.db }, [path], { check: false });
      expect(again).toEqual(imported(20_000, 0, 0, 0));
    } finally {
      await own.drop();
    }
  });

  it('names both files where a key is in two of them', async () => {
    const files = [file('a.csv', HEADER, ROW_1), file('b.csv', HEADER, ROW_2, ROW_1)];
    const result = await importOrders(deps, files, { check: false });
    expect(result).toEqual(refused(3, 'order_no', '0001', `line 2 of ${files[0]}`));
    expect(await rows()).toEqual([]);
  });

  it('refuses an amount below the capture amount that the line leaves as it is', async () => {
    await orders(HEADER, ROW_1);
    const short = 'account_id,order_no,currency,amount,expected,placed_at';
    expect(await orders(short, 'A1,0001,EUR,8.00,captured,2026-11-19T08:30:00Z')).toEqual(
      refused(2, 'capture_amount', '9.00', 'above the new amount'),
    );
    expect(await rows()).toMatchObject([{ amount: '10.00' }]);
  });

  it(`stops after ${MAX_PROBLEMS} refused lines`, async () => {
    const bad = Array.from({ length: 50 }, (_, n) => ROW_2.replace('0002', ` ${n}`));
    const result = await orders(HEADER, ...bad);
    expect(result).toMatchObject({ kind: 'refused', more: true });
    expect(formatImport(result).split('\n')).toHaveLength(MAX_PROBLEMS + 2);
  });

  it('writes nothing under --check and gives the same counts', async () => {
    await orders(HEADER, ROW_1);
    const files = [file('orders.csv', HEADER, ROW_1, ROW_2)];
    const checked = await importOrders(deps, files, { check: true });
    expect(checked).toEqual({ ...imported(1, 0, 1, 0), check: true });
    expect(await rows()).toHaveLength(1);
    expect(await importOrders(deps, files, { check: false })).toEqual(imported(1, 0, 1, 0));
  });

  it('says what it did in words', async () => {
    expect(formatImport(await orders(HEADER, ROW_1))).toBe(
      'inserted 1, updated 0, unchanged 0, skipped 0',
    );
    const bad = formatImport(await orders(HEADER, ROW_1.replace('10.00', '1.005')));
    expect(bad).toContain('orders.csv line 2: amount "1.005": has more than two decimals');
  });

  it('refuses a file of another ending, one that is not there and one given twice', async () => {
    const run = (...files: string[]) => importOrders(deps, files, { check: false });
    const good = file('good.csv', HEADER, ROW_1);
    await expect(run(file('x.txt', HEADER))).rejects.toMatchObject({ exitCode: 2 });
    await expect(run(join(folder, 'none.csv'))).rejects.toThrow(/none\.csv.*no such file/);
    await expect(run(good, good)).rejects.toThrow(/twice/);
    await expect(run()).rejects.toThrow(/no file/);
    await expect(run(folder)).rejects.toThrow(/is no file/);
    expect(await rows()).toEqual([]);
  });

  it('keeps its counts true when two imports run at once', async () => {
    const lines = Array.from({ length: 200 }, (_, n) => ROW_2.replace('0002', `N${n}`));
    // One ends with an empty line: of the same bytes the later one might say that it knows them.
    const files = [file('one.csv', HEADER, ...lines), file('two.csv', HEADER, ...lines, '')];
    const results = await Promise.all(
      files.map((path) => importOrders(deps, [path], { check: false })),
    );
    expect(results).toContainEqual(imported(200, 0, 0, 0));
    expect(results).toContainEqual(imported(0, 0, 200, 0));
  });

  it('leaves a view of the merchant alone', async () => {
    const own = await freshDatabase();
    try {
      await own.db.query(
        `alter table ledger.orders rename to orders_of_shop;
         create view ledger.orders as select * from ledger.orders_of_shop`,
      );
      const files = [file('orders.csv', HEADER, ROW_1)];
      const run = importOrders({ ...deps, db: own.db }, files, { check: false });
      await expect(run).rejects.toThrow(/ledger\.orders is a view/);
    } finally {
      await own.drop();
    }
  });
});

describe('import refunds', () => {
  beforeEach(() => orders(HEADER, ROW_1, ROW_2));

  it('inserts, updates what may change, and leaves the rest', async () => {
    expect(await refunds(REFUNDS, REFUND_1)).toEqual(imported(1, 0, 0, 0));
    expect(await refunds(REFUNDS, REFUND_1)).toEqual(knownAgain(1));
    expect(await refunds(REFUNDS, REFUND_1.replace('Anna', 'Bert'))).toEqual(imported(0, 1, 0, 0));
    expect(await rows('refund_requests')).toEqual([
      {
        account_id: 'A1',
        refund_id: 'R1',
        order_no: '0001',
        refund_amount: '3.00',
        reason: 'damaged',
        requested_by: 'Bert',
        requested_at: new Date('2026-11-19T08:30:00Z'),
      },
    ]);
  });

  it('never changes the amount or the order of a refund', async () => {
    await refunds(REFUNDS, REFUND_1);
    const more = 'A1,R2,0001,1.00,,,2026-11-19T08:30:00Z';
    expect(await refunds(REFUNDS, more, REFUND_1.replace('3.00', '4.00'))).toEqual(
      refused(3, 'refund_amount', '4.00', 'never changes: the ledger has 3.00'),
    );
    expect(await refunds(REFUNDS, REFUND_1.replace('0001', '0002'))).toEqual(
      refused(2, 'order_no', '0002', 'never changes: the ledger has 0001'),
    );
    expect(await rows('refund_requests')).toHaveLength(1);
  });

  it('refuses cents of a currency that has none', async () => {
    expect(
      await refunds(REFUNDS, REFUND_1.replace('0001', '0002').replace('3.00', '3.50')),
    ).toEqual(refused(2, 'refund_amount', '3.50', 'JPY has no decimals'));
  });

  it('refuses hundredths of a currency that has one decimal', async () => {
    const tenths = { ...deps, profile: { ...deps.profile, currencies: { EUR: 1 } } };
    const of = (amount: string) =>
      importRefunds(tenths, [file('refunds.csv', REFUNDS, REFUND_1.replace('3.00', amount))], {
        check: false,
      });
    expect(await of('3.55')).toEqual(
      refused(2, 'refund_amount', '3.55', 'EUR has one decimal: must end in 0'),
    );
    expect(await of('3.50')).toEqual(imported(1, 0, 0, 0));
  });

  it('takes a request whose order is not there yet, and says so', async () => {
    expect(await refunds(REFUNDS, REFUND_1.replace('0001', '0009'))).toMatchObject({
      inserted: 1,
      warnings: [expect.stringContaining('does not have yet')],
    });
  });

  it('refuses a refund given twice, naming both lines, and hides a card number', async () => {
    expect(await refunds(REFUNDS, REFUND_1, REFUND_1)).toEqual(
      refused(3, 'refund_id', 'R1', 'already in line 2'),
    );
    const card = await refunds(REFUNDS, REFUND_1.replace('damaged', '4111111111111111\u0007'));
    expect(JSON.stringify(card)).toContain('411111');
    expect(JSON.stringify(card)).not.toContain('4111111111111111');
  });
});

describe('the command', () => {
  it('prints counts, or one JSON document, and fails when lines were refused', async () => {
    const gateway = {
      baseUrl: 'sandbox',
      profile: deps.profile,
      profileFile: null,
      profileText: '',
      proxy: null,
    };
    const config = { accounts: [], gateway };
    const run = (...lines: string[]) =>
      runImport(db, config, 'orders', [file('c.csv', HEADER, ...lines)], { check: false });
    const good = await run(ROW_1);
    expect(importOutput(good, false)).toEqual({
      stdout: 'inserted 1, updated 0, unchanged 0, skipped 0\n',
      stderr: expect.stringContaining('warning: 1 of an account'),
      exitCode: 0,
    });
    expect(JSON.parse(importOutput(good, true).stdout)).toMatchObject({ inserted: 1 });
    const bad = await run('A1');
    expect(importOutput(bad, false)).toMatchObject({ stdout: '', exitCode: 1 });
    expect(JSON.parse(importOutput(bad, true).stdout)).toMatchObject({ kind: 'refused' });
  });
});
