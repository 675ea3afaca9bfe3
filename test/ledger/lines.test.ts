// How files become lines: CSV and NDJSON, with everything that real files do wrong.

import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { csvLines } from '../../src/ledger/lines/csvLines.js';
import type { ReadLine } from '../../src/ledger/lines/inputText.js';
import { MAX_LINE_LENGTH } from '../../src/ledger/lines/inputText.js';
import { ndjsonLines } from '../../src/ledger/lines/ndjsonLines.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-lines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COLUMNS = [
  { name: 'id', nullable: false },
  { name: 'text', nullable: true },
];
const AMOUNT = { name: 'amount', nullable: true };

const MAPPED = { separator: ',', othersToo: true, headerLine: 1, trailer: null };

async function all(lines: AsyncIterable<ReadLine>): Promise<ReadLine[]> {
  const found: ReadLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

function csv(content: string | Buffer): Promise<ReadLine[]> {
  const file = join(folder, 'x.csv');
  writeFileSync(file, content);
  return all(csvLines(file, COLUMNS));
}

function pathOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // closed meanwhile
  }
}

function ndjson(content: string | Buffer): Promise<ReadLine[]> {
  const file = join(folder, 'x.ndjson');
  writeFileSync(file, content);
  return all(ndjsonLines(file, [...COLUMNS, AMOUNT]));
}

const line = (at: number, values: Record<string, string | null>) => ({
  kind: 'line',
  line: at,
  values,
});

describe('a CSV file', () => {
  it.each([
    ['with a byte order mark', '\ufeffid,text\n1,a\n', [line(2, { id: '1', text: 'a' })]],
    ['with CRLF', 'id,text\r\n1,a\r\n2,b\r\n', [2, 3].map((n) => line(n, row(n)))],
    ['without a last line break', 'id,text\n1,a', [line(2, { id: '1', text: 'a' })]],
    ['with its columns in another order', 'text,id\na,1\n', [line(2, { id: '1', text: 'a' })]],
    ['without a nullable column', 'id\n1\n', [line(2, { id: '1' })]],
    [
      'with empty values',
      'id,text\n1,\n2,""\n',
      [line(2, { id: '1', text: null }), line(3, { id: '2', text: null })],
    ],
    ['with quotes', 'id,text\n"1","a ""b"", c"\n', [line(2, { id: '1', text: 'a "b", c' })]],
    ['with a quoted header', '"id","text"\n1,a\n', [line(2, { id: '1', text: 'a' })]],
    ['with empty lines', 'id,text\n\n1,a\n\n', [line(3, { id: '1', text: 'a' })]],
    ['with leading zeros', 'id\n007\n', [line(2, { id: '007' })]],
    [
      'with a break in a value',
      'id,text\n1,"a\nb"\n2,b\n',
      [line(2, { id: '1', text: 'a\nb' }), line(4, { id: '2', text: 'b' })],
    ],
    ['with a bare CR in a value', 'id\n1\r2\n3\n', [line(2, { id: '1\r2' }), line(3, { id: '3' })]],
    [
      'with CRLF in a value',
      'id\r\n"1\r\n2"\r\n3\r\n',
      [line(2, { id: '1\r\n2' }), line(4, { id: '3' })],
    ],
    ['of a header alone', 'id,text\n', []],
  ])('%s is read', async (_, content, lines) => {
    expect(await csv(content)).toEqual(lines);
  });

  it.each([
    ['an unclosed quote', 'id,text\n1,a\n2,"b\n', 3, 'never closed'],
    ['text after a quote', 'id,text\n1,"a"b\n', 2, 'after a closing quote'],
    ['a stray quote', 'id,text\n1,a"b\n', 2, 'not in quotes'],
    ['a value too many', 'id,text\n1,a,b\n', 2, 'has 3 values'],
    ['a value too few', 'id,text\n1\n', 2, 'has 1 values'],
    ['nothing at all', '', 1, 'empty'],
    ['UTF-16', Buffer.from('\ufeffid,text\n1,a\n', 'utf16le'), 1, 'is UTF-16 text'],
    ['UTF-16 without its mark', Buffer.from('id,text\n1,a\n', 'utf16le'), 1, 'utf-16le'],
    [
      'UTF-16 the other way round',
      Buffer.from('\ufeffid,text\n1,a\n', 'utf16le').swap16(),
      ...([1, 'utf-16be'] as const),
    ],
    ['an archive', gzipSync('id,text\n1,a\n'), 1, 'is compressed (gzip): unpack it'],
    ['a workbook or ZIP', Buffer.from('PK\u0003\u0004\u0014\u0000', 'latin1'), 1, 'a ZIP archive'],
    ['an xz archive', Buffer.from('\xfd7zXZ\0', 'latin1'), 1, 'is compressed (xz)'],
    ['a 7z archive', Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1'), 1, 'is compressed (7z)'],
    ['a document', Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1'), 1, 'is a PDF'],
    ['a page', '\n<!DOCTYPE html><html>log in</html>\n', 1, 'is a web page'],
    ['Latin-1', Buffer.from('id,text\n1,\u00fc\n', 'latin1'), 2, 'save the file as UTF-8'],
    [
      'a stray quote before much else',
      `id,text\n1,a\n2,a"b\n${'3,c\n'.repeat(100_000)}`,
      3,
      'quotes',
    ],
  ])('with %s is refused at its line', async (_, content, at, reason) => {
    const found = (await csv(content)).filter(({ kind }) => kind === 'problem');
    expect(found).toEqual([
      { kind: 'problem', line: at, problem: expect.stringContaining(reason) },
    ]);
  });

  it.each([
    ['an endless line', `id,text\n1,${'x'.repeat(MAX_LINE_LENGTH + 1)}\n`, 'text'],
    ['a megabyte of digits', `id,text\n${'9'.repeat(1_000_000)},a\n`, 'id'],
  ])('with %s is refused with its column', async (_, content, column) => {
    expect(await csv(content)).toMatchObject([
      {
        ...{ kind: 'problem', line: 2 },
        problem: {
          column,
          value: null,
          reason: `makes the line longer than ${MAX_LINE_LENGTH} characters`,
        },
      },
    ]);
  });

  it.each([
    ['a column twice', 'id,id\n1,2\n', 'id', 'twice'],
    ['an unknown column', 'id,txt\n1,2\n', 'txt', 'no column'],
    ['capital letters', 'ID\n1\n', 'ID', 'no column'],
    ['a missing column', 'text\na\n', 'id', 'missing'],
    ['semicolons', 'id;text\n1;a\n', 'id;text', 'comma'],
    ['no header', '1,a\n2,b\n', '1', 'no column'],
  ])('whose header has %s is refused', async (_, content, column, reason) => {
    const [found] = await csv(content);
    const problem = {
      ...{ column, value: null, isHeader: true },
      reason: expect.stringContaining(reason),
    };
    expect(found).toEqual({ kind: 'problem', line: 1, problem });
  });

  it('whose header has no column of ours is told which there are, and how another file is read', async () => {
    const found = await csv('Order Number,Total\n17,1.00\n');
    const problem = expect.stringMatching(/^may name id, \[text\]; .*--map \(docs\/IMPORT\.md\)$/);
    expect(found.at(-1)).toEqual({ kind: 'problem', line: 1, problem });
  });
});

describe('a CSV file that a map reads with the wrong separator', () => {
  it.each([
    ['plain', 'id;text\n1;a\n', ';'],
    ['with quotes', 'id;"text"\n1;"a"\n', ';'],
    ['with tabs', 'id\ttext\tmore\n1\ta\tb\n', '\t'],
  ])('%s is refused with the one that it has', async (_, content, separator) => {
    const file = join(folder, 'x.csv');
    writeFileSync(file, content);
    const needed = COLUMNS.map(({ name }) => ({ name, nullable: false }));
    const shape = { ...MAPPED, encoding: 'utf-8' };
    const sign = JSON.stringify(separator);
    const problem = `its columns are separated by ${sign}, the map says ",": separator: ${sign}`;
    expect(await all(csvLines(file, needed, shape))).toEqual([
      { kind: 'problem', line: 1, problem },
    ]);
  });
});

describe('a CSV file that a map reads', () => {
  const needed = ['id', 'text', 'day'].map((name) => ({ name, nullable: false }));
  const read = (content: string | Buffer, encoding = 'utf-8') => {
    const file = join(folder, 'mapped.csv');
    writeFileSync(file, content);
    return all(csvLines(file, needed, { ...MAPPED, encoding }));
  };

  it('and that has a line without end is refused with the column in which it is', async () => {
    const content = `id,text,day\n1,a,b\n2,${'x'.repeat(1_000_000)},c\n`;
    expect(await read(content)).toMatchObject([
      line(2, { id: '1', text: 'a', day: 'b' }),
      {
        ...{ kind: 'problem', line: 3 },
        problem: { column: 'text', reason: expect.stringContaining('longer than 65536') },
      },
    ]);
  });

  it.skipIf(process.platform !== 'linux')(
    'leaves no file open where its reading stops',
    async () => {
      const openFiles = () =>
        readdirSync('/proc/self/fd').filter((fd) =>
          pathOf(`/proc/self/fd/${fd}`).startsWith(folder),
        );
      for (const rest of ['', `${'x,y\n'.repeat(200_000)}`]) {
        expect((await csv(`other,columns\n${rest}`)).map(({ kind }) => kind)).toContain('problem');
        await expect.poll(openFiles).toEqual([]);
      }
    },
  );

  it('reads the same, by the same line numbers, wherever the first quote stands', async () => {
    const rows = Array.from({ length: 250 }, (_, at) => `${at},t${at},\u00fc`);
    const rest = '7,"a\r\nb",c\r\n\r\n8,d,e\r\n';
    for (const end of ['\n', '\r\n']) {
      const plain = `id,text,day${end}${rows.join(end)}${end}`;
      const late = await read(plain + rest);
      expect(await read(`"id",text,day${plain.slice(11)}${rest}`)).toEqual(late);
      expect(late.slice(-3)).toEqual([
        line(251, { id: '249', text: 't249', day: '\u00fc' }),
        line(252, { id: '7', text: 'a\r\nb', day: 'c' }),
        line(255, { id: '8', text: 'd', day: 'e' }),
      ]);
      const [problem] = (await read(`${plain}1,a"b,c\n`)).slice(-1);
      expect(problem).toMatchObject({ kind: 'problem', line: 252 });
    }
  });

  it.each([
    ['utf-16le', Buffer.from('\ufeffid,text,day\n1,\u00fc,c\n', 'utf16le')],
    ['utf-16be', Buffer.from('\ufeffid,text,day\n1,\u00fc,c\n', 'utf16le').swap16()],
    ['utf-16le', Buffer.from('\u042f,id,text,day\nx,1,\u00fc,c\n', 'utf16le')],
  ])('in %s is read where the map says it', async (encoding, content) => {
    expect(await read(content, encoding)).toEqual([line(2, { id: '1', text: '\u00fc', day: 'c' })]);
  });

  it('in UTF-8 under a map of UTF-16 is refused with that', async () => {
    expect(await read('id,text,day\n1,a,b\n', 'utf-16le')).toEqual([
      {
        kind: 'problem',
        line: 1,
        problem: 'is not utf-16le text, which the map says it is (encoding)',
      },
    ]);
  });
});

describe('an NDJSON file', () => {
  it('has one object a line; absent and null differ, empty is null', async () => {
    const content = '\ufeff{"id":"007","text":null}\r\n\n{"id":"a:\\"b","text":""}\n{"id":"ü"}';
    expect(await ndjson(content)).toEqual([
      line(1, { id: '007', text: null }),
      line(3, { id: 'a:"b', text: null }),
      line(4, { id: 'ü' }),
    ]);
  });

  it('is read whole where a line crosses the pieces of the file', async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => ({ id: `${n}ü` }));
    const found = await ndjson(rows.map((values) => JSON.stringify(values)).join('\n'));
    expect(found).toEqual(rows.map((values, n) => line(n + 1, values)));
  });

  it.each([
    ['broken JSON', '{"id":"1"', 1, 'not valid JSON'],
    ['a list', '[1]', 1, 'no JSON object'],
    ['a key twice', '{"id":"1"}\n{"id":"1","id":"2"}', 2, 'twice'],
    ['an endless line', `{"id":"${'x'.repeat(MAX_LINE_LENGTH)}"}`, 1, 'longer'],
    ['nothing at all', '', 1, 'empty'],
    ['Latin-1', Buffer.from('{"id":"\u00fc"}', 'latin1'), 1, 'UTF-8'],
  ])('with %s is refused at its line', async (_, content, at, reason) => {
    const found = (await ndjson(content)).filter(({ kind }) => kind === 'problem');
    expect(found).toEqual([
      { kind: 'problem', line: at, problem: expect.stringContaining(reason) },
    ]);
  });

  it.each(['12.30', '12.3', '7', '0.30000000000000004', '99999999999999999.99', '1e3'])(
    'has the number %s of an amount as the digits that stand there, and no float',
    async (written) => {
      const text = `{"id":"1:2","amount": ${written} ,"text":null}\n`;
      expect(await ndjson(text)).toEqual([line(1, { id: '1:2', amount: written, text: null })]);
    },
  );

  it.each([
    ['a number', '{"id":12.5}', 'id', '12.5', 'in quotes'],
    ['a truth for an amount', '{"amount":true}', 'amount', 'true', 'in quotes'],
    ['an unknown key', '{"id":"1","x":"2"}', 'x', '2', 'no column'],
    ['a nested value', '{"id":{"a":1}}', 'id', '{"a":1}', 'in quotes'],
    ['a key of the prototype', '{"__proto__":"1"}', '__proto__', '1', 'no column'],
  ])('with %s is refused, naming column and value', async (_, content, column, value, reason) => {
    const problem = { column, value, reason: expect.stringContaining(reason) };
    expect(await ndjson(content)).toEqual([{ kind: 'problem', line: 1, problem }]);
  });
});

function row(at: number): { id: string; text: string } {
  return at === 2 ? { id: '1', text: 'a' } : { id: '2', text: 'b' };
}
