// The nightly workbook goes through its rows twice, since sums and widths stand above them: it holds
// none of them, and is not written where the second time shows others than the first.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeReconciliation } from '../../reports/reconciliation.js';
import { breakRow, runOf, sampleRun } from './sampleRun.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reports-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('the nightly workbook', () => {
  test('holds none of its rows: six times as many take no more memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heldOf = async (count: number): Promise<number> => {
      let highest = 0;
      async function* breaks() {
        for (let at = 0; at < count; at += CHUNK) {
          yield Array.from({ length: CHUNK }, (_, n) => breakRow({ orderNo: `ORD-${at + n}` }));
        }
        collect();
        highest = Math.max(highest, process.memoryUsage().heapUsed);
      }
      await writeReconciliation(join(folder, `${count}.xlsx`), {
        ...runOf(sampleRun()),
        breaks: (kinds) => (kinds === undefined ? breaks() : []),
      });
      return highest;
    };
    const CHUNK = 500;
    const few = await heldOf(2_000);
    // Held, they would be ten megabytes.
    expect((await heldOf(12_000)) - few).toBeLessThan(3_000_000);
  });

  test('is not written of rows that are others the second time', async () => {
    const night = runOf(sampleRun());
    const reads = [sampleRun().moved, sampleRun().moved.slice(1)];
    const moved = () => [reads.shift() ?? []];
    const path = join(folder, 'changed.xlsx');
    const written = writeReconciliation(path, { ...night, moved });
    await expect(written).rejects.toThrow(/rows of the sheet Money moved changed/);
    expect(await readdir(folder)).toEqual([]);
  });
});
