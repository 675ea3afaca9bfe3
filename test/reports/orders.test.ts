// The file of all orders: one line each, totals that a reader can work out again, flat memory.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CellFormulaValue } from 'exceljs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeOrders } from '../../reports/orders.js';
import { PARTIAL_PREFIX } from '../../reports/outputFile.js';
import type { OrderRow } from '../../src/core/runs/reporting.js';
import { maskCardNumbers } from '../../src/core/text/masking.js';
import { evaluateAll } from './evaluate.js';
import { openXlsx, rowStarting, sheetOf, unzip } from './openXlsx.js';
import { ABOUT, orderRow } from './sampleRun.js';

const ROOT = resolve(import.meta.dirname, '../..');
const CHUNK = 1_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-orders-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function* chunksOf(count: number, seen: (row: number) => void = () => undefined) {
  for (let first = 0; first < count; first += CHUNK) {
    seen(first);
    yield Array.from({ length: Math.min(CHUNK, count - first) }, (_, index) =>
      orderRow({ orderNo: `ORD-${first + index}`, transactionId: `${10_000_000 + first + index}` }),
    );
  }
}

async function* listed(...rows: OrderRow[]) {
  yield rows;
}

describe('the file of all orders', () => {
  test('has one line for each order, and totals by class and currency', async () => {
    const rows = listed(
      orderRow(),
      orderRow({
        orderNo: 'ORD-2',
        class: 'broken',
        kinds: 'amount_mismatch',
        gatewayAmount: '9.99',
      }),
      orderRow({ orderNo: 'ORD-3', currency: 'JPY', ledgerAmount: '700.00', gatewayAmount: null }),
    );
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const workbook = await openXlsx(path);
    expect(workbook.worksheets.map((sheet) => sheet.name)).toEqual([
      'Orders',
      'Totals',
      'Captured and refunded',
      'About this run',
    ]);
    const totals = sheetOf(workbook, 'Totals');
    const line = rowStarting(totals, 'differs', 'EUR');
    const results = [3, 4, 5, 6].map((at) => (line.getCell(at).value as CellFormulaValue).result);
    expect(results).toEqual([1, 10, 9.99, -0.01]);
    for (const { workedOut, stored } of evaluateAll(workbook)) expect(workedOut).toBe(stored);
    expect(rowStarting(totals, 'matched', 'JPY').getCell(4).formula).toContain('SUMIFS');
  });

  test('sums each amount in its own currency, not in that of the order', async () => {
    const foreign = { ledgerAmount: '5000.00', ledgerCaptured: '5000.00', currency: 'JPY' };
    const shown = { gatewayCurrency: 'GBP', gatewayAmount: '2500.00', gatewayCaptured: '2500.00' };
    const rows = listed(orderRow(), orderRow({ orderNo: 'ORD-2', ...foreign, ...shown }));
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const workbook = await openXlsx(path);
    const results = (name: string, first: string, second: string) =>
      [3, 4, 5, 6].map(
        (at) =>
          (
            rowStarting(sheetOf(workbook, name), first, second).getCell(at)
              .value as CellFormulaValue
          ).result ?? 0,
      );
    expect(results('Totals', 'matched', 'JPY')).toEqual([1, 5000, 0, -5000]);
    expect(results('Totals', 'matched', 'GBP')).toEqual([0, 0, 2500, 2500]);
    expect(results('Captured and refunded', 'A1001', 'JPY')).toEqual([5000, 0, 0, 0]);
    expect(results('Captured and refunded', 'A1001', 'GBP')).toEqual([0, 2500, 0, 0]);
    for (const { workedOut, stored } of evaluateAll(workbook)) expect(workedOut).toBe(stored);
  });

  test('shows a date as the gateway prints it, also where it passes for a card number', async () => {
    const [date, card] = ['20261025065909', '30569309025904'];
    const rows = listed(orderRow({ transactionDate: date }), orderRow({ transactionDate: card }));
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const sheet = sheetOf(await openXlsx(path), 'Orders');
    expect(maskCardNumbers(date)).not.toBe(date);
    expect([4, 5].map((row) => sheet.getCell(row, 17).value)).toEqual([date, '305693****5904']);
  });

  test('adds up live although the gateway shows something that is no amount', async () => {
    const rows = listed(orderRow(), orderRow({ orderNo: 'ORD-2', gatewayAmount: '862.9' }));
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const workbook = await openXlsx(path);
    const total = rowStarting(sheetOf(workbook, 'Totals'), 'matched', 'EUR').getCell(5);
    expect(total.value).toMatchObject({ result: 10 });
    for (const { workedOut, stored } of evaluateAll(workbook)) expect(workedOut).toBe(stored);
  });

  test('shows an amount that is wider than its column smaller, never as ####', async () => {
    async function* inTwoChunks() {
      yield [orderRow()];
      yield [orderRow({ gatewayAmount: '1234567890123.45' })];
    }
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, inTwoChunks());
    const sheet = sheetOf(await openXlsx(path), 'Orders');
    expect([4, 5].map((row) => sheet.getCell(row, 11).alignment.shrinkToFit)).toEqual([
      undefined,
      true,
    ]);
  });

  test('has columns as wide as the first rows ask, a transaction being a UUID', async () => {
    const transactionId = '0194c0de-1111-7222-8333-444455556666';
    const rows = listed(orderRow({ transactionId }));
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const sheet = sheetOf(await openXlsx(path), 'Orders');
    expect(sheet.getColumn(16).width).toBeGreaterThan(transactionId.length);
    expect(sheet.getCell('P4').alignment.wrapText).toBeUndefined();
  });

  test('compares text exactly when an order brings a currency that is none', async () => {
    const rows = listed(orderRow(), orderRow({ currency: '*' }), orderRow({ currency: null }));
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, rows);
    const workbook = await openXlsx(path);
    for (const { workedOut, stored } of evaluateAll(workbook)) expect(workedOut).toBe(stored);
    const totals = sheetOf(workbook, 'Totals');
    const formula = rowStarting(totals, 'matched', '*').getCell(4).formula;
    expect(formula).toContain('EXACT');
    expect(formula).not.toContain('SUMIFS');
  });

  test('goes on in the next sheet when one is full, and loses no row', async () => {
    const options = { rowsPerSheet: 1_003 };
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, chunksOf(2_500), options);
    const workbook = await openXlsx(path);
    const names = ['Orders', 'Orders (2)', 'Orders (3)'];
    const orders = names.flatMap((name) => {
      const sheet = sheetOf(workbook, name);
      expect(sheet.getCell('B3').value).toBe('Order');
      return Array.from(
        { length: sheet.rowCount - 3 },
        (_, row) => sheet.getCell(row + 4, 2).value,
      );
    });
    expect(orders).toEqual(Array.from({ length: 2_500 }, (_, row) => `ORD-${row}`));
    const total = rowStarting(sheetOf(workbook, 'Totals'), 'matched', 'EUR').getCell(4);
    expect((total.value as CellFormulaValue).result).toBe(25_000);
    for (const name of names) expect(total.formula).toContain(`'${name}'!`);
  });

  test('with no orders at all is a whole file', async () => {
    const { path } = await writeOrders(join(folder, 'o.xlsx'), ABOUT, listed());
    expect((await unzip(path)).get('xl/worksheets/sheet1.xml')).toContain('A3:R3');
  });

  test('that breaks off in the middle leaves nothing, and the rows are let go', async () => {
    let isLetGo = false;
    async function* breaking() {
      try {
        yield* chunksOf(5_000);
        throw new Error('the cursor broke');
      } finally {
        isLetGo = true;
      }
    }
    const written = writeOrders(join(folder, 'o.xlsx'), ABOUT, breaking());
    await expect(written).rejects.toThrow('the cursor broke');
    expect(isLetGo).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  test('takes no more memory for five times the rows', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const peak = async (count: number): Promise<number> => {
      let highest = 0;
      const look = (row: number) => {
        if (row % 10_000 !== 0) return;
        collect();
        const { heapUsed, external } = process.memoryUsage();
        highest = Math.max(highest, heapUsed + external);
      };
      await writeOrders(join(folder, `${count}.xlsx`), ABOUT, chunksOf(count, look));
      return highest;
    };
    await peak(10_000);
    const few = await peak(20_000);
    const many = await peak(100_000);
    expect(many / few).toBeLessThan(1.3);
  });
});

describe('row 102: a writer that is killed', () => {
  let child: ChildProcess | undefined;

  afterEach(() => {
    child?.kill('SIGKILL');
  });

  test('half way leaves no report, and the next one takes the same name', async () => {
    const program = await compiledEndlessWriter();
    const path = join(folder, 'out', 'o.xlsx');
    child = spawn(process.execPath, [program, path], { stdio: 'inherit' });
    await expect
      .poll(() => partialBytes(join(folder, 'out')), { timeout: 30_000 })
      .toBeGreaterThan(0);
    const ended = new Promise((done) => child?.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    const left = await readdir(join(folder, 'out'));
    expect(left).toHaveLength(1);
    expect(left[0]?.startsWith(PARTIAL_PREFIX)).toBe(true);
    const written = await writeOrders(path, ABOUT, chunksOf(10));
    expect(sheetOf(await openXlsx(written.path), 'Orders').rowCount).toBe(13);
  });

  /** The writer as plain JavaScript, in a process of its own that can be killed. */
  async function compiledEndlessWriter(): Promise<string> {
    const build = join(folder, 'build');
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        rootDir: ROOT,
        outDir: build,
        noEmit: false,
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      files: [join(ROOT, 'reports/orders.ts')],
      include: [],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    expect(compiled.stdout + compiled.stderr).toBe('');
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const program = join(folder, 'endless.js');
    const row = JSON.stringify({ ...orderRow(), placedAt: null });
    await writeFile(
      program,
      `import { mkdirSync } from 'node:fs';
       import { dirname } from 'node:path';
       import { writeOrders } from './build/reports/orders.js';
       const about = ${JSON.stringify(ABOUT)};
       about.asOf = new Date(about.asOf);
       about.createdAt = new Date(about.createdAt);
       async function* endless() {
         for (;;) yield Array.from({ length: 1000 }, () => (${row}));
       }
       mkdirSync(dirname(process.argv[2]));
       await writeOrders(process.argv[2], about, endless());`,
    );
    return program;
  }

  async function partialBytes(out: string): Promise<number> {
    const names = await readdir(out).catch(() => []);
    const partial = names.find((name) => name.startsWith(PARTIAL_PREFIX));
    if (partial === undefined) return 0;
    return stat(join(out, partial, 'o.xlsx')).then(
      ({ size }) => size,
      () => 0,
    );
  }
});
