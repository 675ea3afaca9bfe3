// A hostile file that claims to be a workbook is refused by a limit that has a name, or is no
// workbook; nothing outside of it is read. Neighbour: decisionRows.test.ts has what is well meant.

import { readFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filledRows } from '../../../reports/decisions/decisionRows.js';
import { UsageError } from '../../../src/core/errors.js';
import { sheetPartOf } from '../../support/workbookEdits.js';
import type { FilledWorkbook } from './filledWorkbook.js';
import { noteAll, SECRET, writeWorkbookToFill } from './filledWorkbook.js';

let workbook: FilledWorkbook;

beforeAll(async () => {
  workbook = await writeWorkbookToFill();
});
afterAll(() => workbook.remove());

const back: FilledWorkbook['back'] = (edit) => workbook.back(edit);

describe('a hostile file', () => {
  const refused = async (work: Promise<unknown>, words: RegExp): Promise<void> => {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(words);
  };

  test.each<[string, (xml: string) => string, RegExp]>([
    [
      'a document type',
      (xml) =>
        xml.replace(
          '<worksheet',
          '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet',
        ),
      /document type/,
    ],
    ['an entity', (xml) => xml.replace('>note<', '>&e;<'), /entity of its own/],
    [
      'a cell that is too long',
      (xml) => xml.replace('>note<', `>${'x'.repeat(40_000)}<`),
      /more than 32767 characters/,
    ],
    [
      'a tag without end',
      (xml) => xml.replace('</worksheet>', `<a b="${'y'.repeat(700_000)}`),
      /too long|no XML/,
    ],
    [
      'a tag that is too long',
      (xml) => xml.replace('</sheetData>', `<row ${'y'.repeat(100_000)}/></sheetData>`),
      /too long/,
    ],
    [
      'an attribute without quotes',
      (xml) => xml.replace('</sheetData>', '<row r=9/></sheetData>'),
      /no XML/,
    ],
    ['too deep', (xml) => xml.replace('<sheetData>', `${'<a>'.repeat(70)}<sheetData>`), /no XML/],
    ['cut off', (xml) => xml.slice(0, -40), /no XML/],
    ['tags that cross', (xml) => xml.replace('</sheetData>', '</worksheet>'), /no XML/],
    ['a column too far', (xml) => xml.replace(/<c r="Q9"/, '<c r="ZZZ9"'), /too many cells/],
    ['no number', (xml) => xml.replace('<v>-0.50</v>', '<v>NaN!</v>'), /number that is none/],
    [
      'a text that is not there',
      (xml) => xml.replace(' t="str"><v>A1001', ' t="s"><v>7'),
      /text that is not there/,
    ],
    ['another encoding', (xml) => xml.replace('UTF-8', 'UTF-16'), /not in UTF-8/],
  ])('%s', async (_what, change, words) => {
    const work = back((parts) => {
      noteAll(parts);
      const part = sheetPartOf(parts, 'Breaks');
      parts.set(part, change(parts.get(part) ?? ''));
    });
    await refused(work, words);
  });

  test('long names without a value cost no more than their length', async () => {
    const began = performance.now();
    const tag = `<row ${'y'.repeat(60_000)}/>`;
    const rows = await back((parts) => {
      noteAll(parts);
      const part = sheetPartOf(parts, 'Breaks');
      parts.set(part, (parts.get(part) ?? '').replace('</sheetData>', `${tag.repeat(10)}$&`));
    });
    expect(rows.length).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('a sheet that lies outside, or is not there', async () => {
    const target = (to: string) =>
      back((parts) => {
        const rels = 'xl/_rels/workbook.xml.rels';
        parts.set(rels, (parts.get(rels) ?? '').replace(/Target="worksheets\/sheet2.xml"/, to));
      });
    await refused(target('Target="../../../etc/passwd"'), /is not in the file/);
    const outside = await target('Target="http://evil.example/x" TargetMode="External"');
    expect(outside).toEqual([]);
  });

  test('no archive, half of one, one without sheets', async () => {
    const bytes = await readFile(workbook.path);
    await refused(filledRows(Buffer.from('PK'), SECRET), /no workbook/);
    await refused(filledRows(Buffer.alloc(100_000), SECRET), /no workbook/);
    await refused(filledRows(bytes.subarray(bytes.length / 2), SECRET), /broken/);
    const flipped = Buffer.from(bytes);
    flipped.fill(0xff, 200, 4_000);
    await refused(filledRows(flipped, SECRET), /broken/);
    await refused(
      back((parts) => parts.delete('xl/workbook.xml')),
      /no workbook/,
    );
    await refused(
      back((parts) => parts.delete('_rels/.rels')),
      /no workbook/,
    );
  });

  test.each([
    ['rows', '<row r="1"><c r="A1"><v>1</v></c></row>', /more than 1048576 rows/],
    ['cells', '<c r="A1"><v>1</v></c>', /too many cells/],
    ['comments', `<!-- ${'x'.repeat(4_000)} -->`, /inflates to more than 384 MiB/],
  ])(
    '%s without end are stopped by their limit, and memory stays flat',
    async (_what, piece, words) => {
      const bytes = bomb(piece);
      expect(bytes.length).toBeLessThan(4 * 1024 * 1024);
      const before = process.memoryUsage().rss;
      await refused(filledRows(bytes, SECRET), words);
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    },
  );

  test('one that is too large, has too many parts, or one of them twice', async () => {
    await refused(filledRows(Buffer.alloc(64 * 1024 * 1024 + 1), SECRET), /larger than 64 MiB/);
    const many = Array.from({ length: 2_001 }, (_, at) => [`p${at}`, Buffer.from('x')] as const);
    await refused(filledRows(archiveOf(many), SECRET), /more than 2000 parts/);
    const twice = [
      ['a', Buffer.from('x')],
      ['a', Buffer.from('y')],
    ] as const;
    await refused(filledRows(archiveOf(twice), SECRET), /a part twice/);
  });

  test('another workbook of ours has no decisions in it', async () => {
    const work = back((parts) => {
      for (const name of ['Breaks', 'Waiting for you']) {
        const part = sheetPartOf(parts, name);
        parts.set(part, (parts.get(part) ?? '').replace('>Row (written by tieout)<', '>Row<'));
      }
    });
    await refused(work, /in which decisions can be made/);
  });
});

/** A workbook whose only relation is to rows without end. */
function bomb(inside: string): Buffer {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relation = (type: string, target: string) =>
    `<Relationships><Relationship Id="r" Type="${office}/${type}" Target="${target}"/></Relationships>`;
  const piece = Buffer.from(inside.repeat(Math.ceil(1_048_576 / inside.length)));
  const rows = Buffer.concat([Buffer.from('<worksheet><sheetData>'), ...Array(400).fill(piece)]);
  return archiveOf([
    ['_rels/.rels', Buffer.from(relation('officeDocument', 'w.xml'))],
    ['w.xml', Buffer.from('<workbook xmlns:r="x"><sheet name="S" r:id="r"/></workbook>')],
    ['_rels/w.xml.rels', Buffer.from(relation('worksheet', 's.xml'))],
    ['s.xml', rows],
  ]);
}

function archiveOf(files: readonly (readonly [string, Buffer])[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const local = Buffer.alloc(30 + name.length);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    entry.write(name, 46);
    locals.push(local, packed);
    entries.push(entry);
    offset += local.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
