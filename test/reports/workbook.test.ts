// The house workbook and its file: what may stand in a cell, what happens when the disk refuses,
// how much waits for it.

import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { untilWritten } from '../../reports/outputFile.js';
import type { BookProperties } from '../../reports/xlsx/format/bookParts.js';
import type { Cell } from '../../reports/xlsx/format/cellXml.js';
import { columnLetters } from '../../reports/xlsx/format/cellXml.js';
import { STYLES } from '../../reports/xlsx/styles.js';
import type { Book } from '../../reports/xlsx/workbook.js';
import {
  closeSheet,
  openSheet,
  putRow,
  safeSheetName,
  writeBook,
  writeWorkbook,
} from '../../reports/xlsx/workbook.js';
import { entryDates, openXlsx, sheetOf, unzip } from './openXlsx.js';

const PROPERTIES: BookProperties = {
  title: 'Test',
  environment: 'test',
  businessDate: '2026-11-19',
  createdAt: new Date('2026-11-20T03:20:00.000Z'),
};
const LAYOUT = { widths: [20, 20], frozenRows: 1, frozenColumns: 0, repeatedRows: '1:1' };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-reports-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function textCell(value: string): Cell {
  return { value, style: STYLES.text };
}

function rowsOf(count: number, width = 200) {
  return async (book: Book) => {
    const sheet = await openSheet(book, 'Rows', LAYOUT);
    for (let row = 0; row < count; row += 1) {
      await putRow(sheet, [textCell(`${row}`), textCell(`${row}`.repeat(width).slice(0, width))]);
    }
    await closeSheet(sheet);
  };
}

describe('the file', () => {
  test('is whole, bears the digest that was returned, and leaves nothing beside it', async () => {
    const written = await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, rowsOf(3));
    const bytes = await readFile(written.path);
    expect(written.bytes).toBe(bytes.length);
    expect(written.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(await readdir(folder)).toEqual(['a.xlsx']);
  });

  test('is the same, byte for byte, when the rows are the same', async () => {
    const first = await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, rowsOf(300));
    const second = await writeWorkbook(join(folder, 'b.xlsx'), PROPERTIES, rowsOf(300));
    expect(second.sha256).toBe(first.sha256);
  });

  test('bears one date in all its entries, that of the report and not of the clock', async () => {
    const { path } = await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, rowsOf(3));
    expect(new Set((await entryDates(path)).values())).toEqual(new Set(['2026-11-20 03:20']));
  });

  test('is never written over another one', async () => {
    const path = join(folder, 'a.xlsx');
    await writeFile(path, 'kept');
    await expect(writeWorkbook(path, PROPERTIES, rowsOf(1))).rejects.toMatchObject({
      code: 'EEXIST',
    });
    expect(await readFile(path, 'utf8')).toBe('kept');
  });

  test('has one winner when two write the same name at once', async () => {
    const path = join(folder, 'a.xlsx');
    const both = await Promise.allSettled([
      writeWorkbook(path, PROPERTIES, rowsOf(500)),
      writeWorkbook(path, PROPERTIES, rowsOf(501)),
    ]);
    expect(both.map((end) => end.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await readdir(folder)).toEqual(['a.xlsx']);
  });

  test('in a folder that does not exist is refused', async () => {
    const path = join(folder, 'nowhere', 'a.xlsx');
    await expect(writeWorkbook(path, PROPERTIES, rowsOf(1))).rejects.toMatchObject({
      code: 'ENOENT',
      message: `${path} cannot be written: there is no folder ${join(folder, 'nowhere')}`,
    });
  });

  test('does not appear when its rows end in an error', async () => {
    const broken = async (book: Book) => {
      await rowsOf(5_000)(book);
      throw new Error('the rows broke off');
    };
    const written = writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, broken);
    await expect(written).rejects.toThrow('the rows broke off');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a disk that refuses', () => {
  test.skipIf(!existsSync('/dev/full'))('a full disk rejects and stops the rows', async () => {
    const sink = createWriteStream('/dev/full');
    let isLetGo = false;
    const endless = async (book: Book) => {
      try {
        await rowsOf(10_000_000)(book);
      } finally {
        isLetGo = true;
      }
    };
    const work = () => writeBook(sink, PROPERTIES, endless);
    await expect(untilWritten(sink, work)).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect.poll(() => isLetGo).toBe(true);
  });

  test('a sink that fails while the rows wait rejects, and the rows are let go', async () => {
    let chunks = 0;
    const sink = new Writable({
      write(_chunk, _encoding, done) {
        chunks += 1;
        if (chunks === 20) setImmediate(() => done(new Error('the disk is gone')));
        else done();
      },
    });
    let isLetGo = false;
    const work = () =>
      writeBook(sink, PROPERTIES, async (book) => {
        try {
          await rowsOf(10_000_000)(book);
        } finally {
          isLetGo = true;
        }
      });
    await expect(untilWritten(sink, work)).rejects.toThrow('the disk is gone');
    await expect.poll(() => isLetGo).toBe(true);
  });
});

describe('what may stand in a cell', () => {
  const PAYLOADS = [
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '=HYPERLINK("http://evil.example","x")',
    "=cmd|' /C calc'!A0",
    '<f>1+1</f>',
    ']]><f>1</f>',
    '&lt;f&gt;',
  ];

  test.each(PAYLOADS)('%j stays text', async (payload) => {
    const written = await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, async (book) => {
      const sheet = await openSheet(book, 'Rows', LAYOUT);
      await putRow(sheet, [textCell(payload)]);
      await closeSheet(sheet);
    });
    const cell = sheetOf(await openXlsx(written.path), 'Rows').getCell('A1');
    expect(typeof cell.value).toBe('string');
    const xml = (await unzip(written.path)).get('xl/worksheets/sheet1.xml') ?? '';
    expect(xml).not.toMatch(/<f[ >]|<hyperlink/);
  });

  test.each([Number.NaN, Number.NEGATIVE_INFINITY, new Date(Number.NaN)])(
    '%s is refused and no file is left',
    async (value) => {
      const written = writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, async (book) => {
        const sheet = await openSheet(book, 'Rows', LAYOUT);
        await putRow(sheet, [{ value, style: STYLES.count }]);
      });
      await expect(written).rejects.toThrow(RangeError);
      expect(await readdir(folder)).toEqual([]);
    },
  );
});

describe('sheet names', () => {
  test.each([
    ['a/b\\c:d?e*f[g]h', 'a b c d e f g h'],
    ["'quoted'", 'quoted'],
    ['', 'Sheet'],
    ['History', 'Sheet'],
    ['x'.repeat(40), 'x'.repeat(31)],
    ['breaks', 'breaks (2)'],
    [`${'y'.repeat(31)}z`, `${'y'.repeat(27)} (2)`],
  ])('%j becomes %j', (wanted, name) => {
    expect(safeSheetName(wanted, new Set(['breaks', 'y'.repeat(31)]))).toBe(name);
  });

  test.each([
    [1, 'A'],
    [26, 'Z'],
    [27, 'AA'],
    [703, 'AAA'],
  ])('column %i is %s', (number, letters) => {
    expect(columnLetters(number)).toBe(letters);
  });
});

describe('a sheet', () => {
  test('keeps little of its rows', async () => {
    let highest = 0;
    await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, async (book) => {
      const sheet = await openSheet(book, 'Rows', LAYOUT);
      for (let row = 0; row < 20_000; row += 1) {
        await putRow(sheet, [textCell(`${row}`), textCell('x'.repeat(300))]);
        highest = Math.max(highest, sheet.xml.length);
      }
      await closeSheet(sheet);
    });
    expect(highest).toBeGreaterThan(0);
    expect(highest).toBeLessThan(100_000);
  });

  test('is the only one that is open', async () => {
    const written = writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, async (book) => {
      await openSheet(book, 'One', LAYOUT);
      await openSheet(book, 'Two', LAYOUT);
    });
    await expect(written).rejects.toThrow('sheet1.xml is still open');
  });

  test('has one style for one style object, however many cells bear it', async () => {
    const written = await writeWorkbook(join(folder, 'a.xlsx'), PROPERTIES, rowsOf(1_000));
    const styles = (await unzip(written.path)).get('xl/styles.xml') ?? '';
    expect(styles).toMatch(/<cellXfs count="2">/);
  });
});
