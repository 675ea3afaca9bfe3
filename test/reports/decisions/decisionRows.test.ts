// The way back from a workbook: what other programs do to a file does not read as altered, what
// somebody altered does. Neighbour: hostileFiles.test.ts.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BREAKS_SHEET, WAITING_SHEET } from '../../../reports/columns.js';
import { ROW_HEADING, sealedColumns } from '../../../reports/decisions/decisionColumns.js';
import { filledRows } from '../../../reports/decisions/decisionRows.js';
import { entryText, openArchive } from '../../../reports/xlsx/read/archive.js';
import { bookParts, sharedTexts } from '../../../reports/xlsx/read/bookParts.js';
import { scanRows } from '../../../reports/xlsx/read/sheetRows.js';
import type { EnteredRow } from '../../../src/core/decisions/wantedDecision.js';
import { BREAK_WORDS, INSTRUCTION_WORDS } from '../../../src/core/decisions/wantedDecision.js';
import { ROOT } from '../../support/sourceFiles.js';
import type { Parts } from '../../support/workbookEdits.js';
import { boundRows, edited, editRow, fill, sheetPartOf } from '../../support/workbookEdits.js';
import { openXlsx, sheetOf, unzip } from '../openXlsx.js';
import type { FilledWorkbook } from './filledWorkbook.js';
import { noteAll, SECRET, writeWorkbookToFill } from './filledWorkbook.js';

const FIXTURES = join(ROOT, 'test', 'fixtures', 'decisions');

let workbook: FilledWorkbook;

const bound = (id: string) => ({ of: 'break' as const, id, last: '5', seen: 'a'.repeat(64) });

beforeAll(async () => {
  workbook = await writeWorkbookToFill();
});
afterAll(() => workbook.remove());

const back: FilledWorkbook['back'] = (edit) => workbook.back(edit);

const wholes = (rows: readonly EnteredRow[]) =>
  rows.map(({ carried }) => [carried?.binding.id, carried?.isWhole]);

const ALL = ['1', '2', '3'].map((id) => [id, true]);

describe('the sheets', () => {
  test('are protected without a password but for the three columns, with words to choose from', async () => {
    const book = await openXlsx(workbook.path);
    for (const [name, words] of [
      ['Breaks', 'waive,assign,note'],
      ['Waiting for you', 'approve,reject'],
    ] as const) {
      const sheet = sheetOf(book, name);
      const heading = Array.from({ length: 30 }, (_, at) => sheet.getRow(at + 1)).find(
        (row) => row.getCell(1).value === 'Account',
      );
      const texts = (heading?.values ?? []) as unknown[];
      const [decision, hidden] = [texts.indexOf('Decision'), texts.length - 1];
      expect(texts.slice(decision, decision + 3)).toEqual(['Decision', 'Reason', 'To whom']);
      const row = sheet.getRow((heading?.number ?? 0) + 1);
      const unlocked = texts.flatMap((_, at) =>
        at > 0 && row.getCell(at).protection?.locked === false ? [at] : [],
      );
      expect(unlocked).toEqual([decision, decision + 1, decision + 2]);
      expect(sheet.getColumn(hidden).hidden).toBe(true);
      expect(row.getCell(decision).dataValidation).toMatchObject({ formulae: [`"${words}"`] });
      const xml = (await readXml(sheetPart(name))) ?? '';
      expect(xml).toMatch(/<sheetProtection sheet="1"/);
      expect(xml).not.toMatch(/<sheetProtection[^>]*(password|hash)/i);
    }
  });

  test('are read with the headings that they were written with, or not at all', async () => {
    const renamed = (name: string) => (parts: Parts) => {
      const part = sheetPart(name);
      const xml = parts.get(part) ?? '';
      expect(xml).toContain('>Decision<');
      parts.set(part, xml.replaceAll('>Decision<', '>Entscheidung<'));
    };
    for (const name of ['Breaks', 'Waiting for you']) {
      await expect(back(renamed(name))).rejects.toThrow(
        `the sheet ${name} has no row with the headings Decision and`,
      );
    }
    const without = (parts: Parts) => {
      const book = parts.get('xl/workbook.xml') ?? '';
      parts.set('xl/workbook.xml', book.replace(/<sheet [^>]*name="Breaks"[^>]*>/, ''));
    };
    await expect(back(without)).rejects.toThrow('the workbook has no sheet Breaks: fill a copy');
  });

  test('have nothing to fill in a row that nobody can decide about', async () => {
    const parts = await unzip(workbook.path);
    expect([...boundRows(parts, 'Waiting for you').keys()]).toEqual(['7']);
  });
});

/** The row of a sheet in which the columns are named, read as the program does. */
async function headingsOf(file: string, name: string): Promise<string[]> {
  const archive = openArchive(await readFile(file));
  const { sheets, sharedTexts: shared } = await bookParts(archive);
  const part = sheets.find((sheet) => sheet.name === name)?.part ?? '';
  const rows: string[][] = [];
  const text = entryText(archive, part);
  if (text === null) throw new Error(`no sheet ${name} in ${file}`);
  await scanRows(text, await sharedTexts(archive, shared), (_, cells) => {
    rows.push([...cells.values()].map(({ value }) => String(value)));
  });
  return rows.find((texts) => texts.includes(ROW_HEADING)) ?? [];
}

async function readXml(part: string): Promise<string | undefined> {
  return (await unzip(workbook.path)).get(part);
}
const sheetPart = (name: string): string => `xl/worksheets/sheet${name === 'Breaks' ? 5 : 10}.xml`;

// decide/savedElsewhere.test.ts takes the same files to a database of their night.
describe.each(['libreoffice', 'openpyxl'])('the workbook saved by %s', (program) => {
  const file = join(FIXTURES, `${program}.xlsx`);

  test('has no row that reads as altered, and one of each decision', async () => {
    const rows = await filledRows(await readFile(file), SECRET);
    for (const row of rows) {
      expect(row, `row ${row.row}`).toMatchObject({ carried: { isWhole: true } });
    }
    const words = rows.map(({ decision }) => (decision?.kind === 'words' ? decision.text : ''));
    expect([...new Set(words)].sort()).toEqual([...BREAK_WORDS, ...INSTRUCTION_WORDS].sort());
  });

  test.each([
    ['Breaks', sealedColumns(BREAKS_SHEET)],
    ['Waiting for you', sealedColumns(WAITING_SHEET)],
  ] as const)(
    'has each column of %s; else scripts/renew-decisions.mjs makes it anew',
    async (name, columns) => {
      const headings = await headingsOf(file, name);
      const missing = columns.filter(
        ({ heading, kind }) =>
          !headings.some((one) =>
            kind === 'instant' ? one.startsWith(`${heading} (`) : one === heading,
          ),
      );
      expect(missing).toEqual([]);
    },
  );

  test('has links for numbers of breaks, and dates without a time of day', async () => {
    const parts = await unzip(file);
    const xml = parts.get(sheetPartOf(parts, 'Breaks')) ?? '';
    expect(xml.match(/<f[^>]*>HYPERLINK\(/g)).toHaveLength(5);
    // A number of whole days, or a date in words.
    const due = { libreoffice: '<v>46351</v>', openpyxl: 't="d"><v>2026-11-25</v>' };
    expect(xml).toContain(due[program as keyof typeof due]);
  });
});

describe('a workbook that another program saved', () => {
  test('finds what was filled, and nothing else', async () => {
    const rows = await back((parts) => {
      fill(parts, 'Breaks', '2', { decision: 'waive', reason: 'a <b> & "c"' });
      fill(parts, 'Waiting for you', '7', { decision: 'approve' });
    });
    expect(rows).toMatchObject([
      {
        sheet: 'Breaks',
        decision: { text: 'waive' },
        reason: { text: 'a <b> & "c"' },
        toWhom: null,
        carried: { binding: bound('2'), isWhole: true },
      },
      { sheet: 'Waiting for you', carried: { binding: { of: 'instruction', id: '7' } } },
    ]);
  });

  const SHARED =
    '<Relationship Id="rId99" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/' +
    'sharedStrings" Target="/xl/shared.xml"/></Relationships>';

  test.each<[string, (xml: string, parts: Parts) => string]>([
    [
      'texts shared, some with runs and a pronunciation',
      (xml, parts) => {
        const texts: string[] = [];
        const out = xml.replace(/ t="str"><v>([^<]*)<\/v>/g, (_, text: string) => {
          texts.push(
            texts.length % 2
              ? `<si><t xml:space="preserve">${text}</t></si>`
              : `<si><r><t>${text.slice(0, 2)}</t></r><r><t xml:space="preserve">${text.slice(2)}</t></r><rPh sb="0" eb="1"><t>x</t></rPh></si>`,
          );
          return ` t="s"><v>${texts.length - 1}</v>`;
        });
        parts.set('xl/shared.xml', `<sst>${texts.join('')}</sst>`);
        const rels = 'xl/_rels/workbook.xml.rels';
        parts.set(rels, (parts.get(rels) ?? '').replace('</Relationships>', SHARED));
        return out;
      },
    ],
    [
      'texts in the cells',
      (xml) => xml.replace(/ t="str"><v>([^<]*)<\/v>/g, ' t="inlineStr"><is><t>$1</t></is>'),
    ],
    ['numbers written otherwise', (xml) => xml.replaceAll('<v>-0.50</v>', '<v>-5.0E-1</v>')],
    ['ids as numbers', (xml) => xml.replace(/ t="str"><v>(10001)<\/v>/g, '><v>$1</v>')],
    ['dates with other decimals', (xml) => xml.replaceAll('46344.979166667', '46344.9791666652')],
    [
      'dates in words',
      (xml) => xml.replaceAll('><v>46344.979166667', ' t="d"><v>2026-11-18T23:30:00'),
    ],
    [
      'dates without a time of day in words',
      (xml) => {
        const due = '><v>46351.000000000';
        expect(xml).toContain(due);
        return xml.replaceAll(due, ' t="d"><v>2026-11-25');
      },
    ],
    [
      'blanks as cells, or left out',
      (xml) =>
        xml
          .replace(/<c r="S\d+" s="\d+"\/>/g, '')
          .replace(/<\/row>/g, '<c r="Z1" t="str"><v></v></c></row>'),
    ],
    ['a prefix before every name', (xml) => xml.replace(/<(\/?)([a-zA-Z])/g, '<$1x:$2')],
    [
      'no places',
      (xml) =>
        xml
          .replace(/<row r="\d+"/g, (row) => (row.includes('r="1"') ? row : row))
          .replace(/<row r="(\d+)" /g, '<row r="$1"  '),
    ],
    [
      'lines, comments and sections between',
      (xml) =>
        xml
          .replaceAll('<row ', '\r\n<!-- a > b --><row ')
          .replaceAll('<v>note</v>', '<v><![CDATA[note]]></v>'),
    ],
  ])('%s', async (_what, change) => {
    const rows = await back((parts) => {
      noteAll(parts);
      const part = sheetPartOf(parts, 'Breaks');
      const xml = parts.get(part) ?? '';
      const [head = ''] = /^<\?xml.*?\?>/.exec(xml) ?? [];
      parts.set(part, head + change(xml.slice(head.length), parts));
    });
    expect(wholes(rows)).toEqual(ALL);
  });

  test('its sheets named from the root, renamed and in another order', async () => {
    const rows = await back((parts) => {
      noteAll(parts);
      const rels = 'xl/_rels/workbook.xml.rels';
      parts.set(rels, (parts.get(rels) ?? '').replaceAll('"worksheets/', '"/xl/worksheets/'));
      const book = 'xl/workbook.xml';
      parts.set(book, (parts.get(book) ?? '').replace('name="Breaks"', 'name="Mine &amp; yours"'));
    });
    expect(rows.map(({ sheet }) => sheet)).toEqual(Array(3).fill('Mine & yours'));
    expect(wholes(rows)).toEqual(ALL);
  });

  test('columns in another order: they are found by their headings', async () => {
    const rows = await back((parts) => {
      noteAll(parts);
      const part = sheetPartOf(parts, 'Breaks');
      const swap = (letters: string) => ({ A: 'T', T: 'A' })[letters] ?? letters;
      const xml = parts.get(part) ?? '';
      parts.set(
        part,
        xml.replace(/<c r="([A-Z]+)(\d+)"/g, (_, l: string, n: string) => `<c r="${swap(l)}${n}"`),
      );
    });
    expect(wholes(rows)).toEqual(ALL);
  });
});

describe('whose breaks lead to their pages in the console', () => {
  let linked: FilledWorkbook;
  beforeAll(async () => {
    linked = await writeWorkbookToFill('https://tieout.example/pay?a=1&b');
  });
  afterAll(() => linked.remove());

  const LINK = /<f>(HYPERLINK\([^<]*\))<\/f><v>11<\/v>/;
  const backWith = (change: (link: string) => string) =>
    linked.back((parts) => {
      noteAll(parts);
      editRow(parts, 'Breaks', '1', (row) => row.replace(LINK, (_, link: string) => change(link)));
    });

  test.each<[string, (link: string) => string]>([
    ['as it was written', (link) => `<f>${link}</f><v>11</v>`],
    ['as LibreOffice writes it', (link) => `<f aca="false">${link}</f><v>11</v>`],
    ['without what it came to, as openpyxl writes it', (link) => `<f>${link}</f><v></v>`],
    ['its number alone', () => '<v>11</v>'],
  ])('%s', async (_what, change) => {
    expect(wholes(await backWith(change))).toEqual(ALL);
  });

  test.each<[string, (link: string) => string]>([
    ['another formula', () => '<f>"1"&amp;"1"</f><v>11</v>'],
    ['a link that shows another', (link) => `<f>${link.replace(',"11"', ',"12"')}</f><v>12</v>`],
    ['a link to another', (link) => `<f>${link.replace('/11"', '/12"')}</f><v>11</v>`],
    ['a link that says something else', (link) => `<f>${link}</f><v>12</v>`],
    ['a link with more behind it', (link) => `<f>${link}&amp;""</f><v>11</v>`],
  ])('but not %s', async (_what, change) => {
    expect(wholes(await backWith(change))).toEqual([['1', false], ...ALL.slice(1)]);
  });
});

describe('a row that somebody altered', () => {
  test.each<[string, (row: string) => string]>([
    ['another figure', (row) => row.replace('<v>-0.50</v>', '<v>-0.51</v>')],
    ['another order', (row) => row.replace('>ORD-1<', '>ORD-2<')],
    ['another date', (row) => row.replace('46344.97', '46345.97')],
    ['a word more', (row) => row.replace('>amount mismatch<', '>amount mismatch!<')],
    ['an emptied cell', (row) => row.replace('<v>-0.50</v>', '')],
    ['a formula for a value', (row) => row.replace('<v>-0.50</v>', '<f>-0.25*2</f><v>-0.50</v>')],
  ])('%s', async (_what, change) => {
    const rows = await back((parts) => {
      noteAll(parts);
      editRow(parts, 'Breaks', '1', change);
    });
    expect(wholes(rows)).toEqual([
      ['1', false],
      ['2', true],
      ['3', true],
    ]);
  });

  test('a formula in the place of a word', async () => {
    const rows = await back((parts) => {
      fill(parts, 'Breaks', '1', { decision: 'note', reason: 'r' });
      editRow(parts, 'Breaks', '1', (row) =>
        row.replace(
          / t="inlineStr"><is><t xml:space="preserve">note<\/t><\/is>/,
          ' t="str"><f>"no"&amp;"te"</f><v>note</v>',
        ),
      );
    });
    expect(rows[0]?.decision).toEqual({ kind: 'formula' });
  });

  test('a row of another installation', async () => {
    const path = await edited(workbook.path, join(workbook.folder, 'other.xlsx'), noteAll);
    const rows = await filledRows(await readFile(path), 'e'.repeat(64));
    expect(wholes(rows)).toEqual(ALL.map(([id]) => [id, false]));
  });
});
