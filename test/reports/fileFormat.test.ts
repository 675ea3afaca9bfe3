// The files against the rules of their format (ECMA-376): a spreadsheet refuses what a kind reader
// passes over. Elements in the order of the schema, no attribute twice, each part listed and found.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeActivity } from '../../reports/activity.js';
import { writeOrders } from '../../reports/orders.js';
import { writeReconciliation } from '../../reports/reconciliation.js';
import type { BookProperties } from '../../reports/xlsx/format/bookParts.js';
import { STYLES } from '../../reports/xlsx/styles.js';
import { closeSheet, openSheet, putRow, writeWorkbook } from '../../reports/xlsx/workbook.js';
import { periodOf } from '../../src/core/period.js';
import { unzip } from './openXlsx.js';
import { ABOUT, breakRow, dayRow, orderRow, runOf, sampleRun } from './sampleRun.js';

/** What may stand in an element, in the order of the schema. */
const CHILDREN: Readonly<Record<string, string>> = {
  worksheet:
    'sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection ' +
    'protectedRanges scenarios autoFilter sortState dataConsolidate customSheetViews mergeCells ' +
    'phoneticPr conditionalFormatting dataValidations hyperlinks printOptions pageMargins ' +
    'pageSetup headerFooter rowBreaks colBreaks customProperties cellWatches ignoredErrors ' +
    'smartTags drawing legacyDrawing picture oleObjects controls webPublishItems tableParts extLst',
  sheetPr: 'tabColor outlinePr pageSetUpPr',
  sheetView: 'pane selection pivotSelection extLst',
  c: 'f v is extLst',
  cfRule: 'formula colorScale dataBar iconSet extLst',
  headerFooter: 'oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter',
  workbook:
    'fileVersion fileSharing workbookPr workbookProtection bookViews sheets functionGroups ' +
    'externalReferences definedNames calcPr oleSize customWorkbookViews pivotCaches extLst',
  styleSheet:
    'numFmts fonts fills borders cellStyleXfs cellXfs cellStyles dxfs tableStyles colors extLst',
  font: 'b i strike condense extend outline shadow u vertAlign sz color name family charset scheme',
  patternFill: 'fgColor bgColor',
  border: 'start end left right top bottom diagonal vertical horizontal',
  xf: 'alignment protection extLst',
  dxf: 'font numFmt fill alignment border protection extLst',
  'c:chartSpace': 'c:roundedCorners c:chart c:spPr c:txPr',
  'c:chart': 'c:title c:autoTitleDeleted c:plotArea c:legend c:plotVisOnly c:dispBlanksAs',
  'c:ser': 'c:idx c:order c:tx c:spPr c:invertIfNegative c:dLbls c:cat c:val',
};
const IN_ORDER = new Map(Object.entries(CHILDREN).map(([name, all]) => [name, all.split(' ')]));

const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  parseTagValue: false,
  attributeNamePrefix: '',
});
type Node = Record<string, unknown>;

let folder: string;
const files = new Map<string, Map<string, string>>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tieout-format-'));
  const path = (name: string): string => join(folder, `${name}.xlsx`);
  const breaks = [0, 5, 40].map((ageDays) => breakRow({ orderNo: `ORD-${ageDays}`, ageDays }));
  const period = periodOf('2026-11');
  if (period === null) throw new Error('no such month');
  async function* orders() {
    yield [orderRow(), orderRow({ orderNo: '<&">' })];
  }
  await writeReconciliation(path('night'), runOf(sampleRun({ breaks })));
  await writeOrders(path('orders'), ABOUT, orders());
  await writeActivity(path('activity'), { about: ABOUT, period, rows: [], days: [dayRow()] });
  const booked = dayRow({
    elsewhere: { captured: '7.00', refunded: '2.00', suspense: 1, since: '2026-11-18' },
    closing: '10.00',
  });
  await writeActivity(path('books'), { about: ABOUT, period, rows: [], days: [booked] });
  const properties: BookProperties = {
    ...{ title: '<&">', environment: 'live', businessDate: '2026-11-19' },
    createdAt: new Date('2026-11-20T03:20:00Z'),
  };
  await writeWorkbook(path('odd'), properties, async (book) => {
    const layout = { widths: [9], frozenRows: 0, frozenColumns: 0, repeatedRows: '1:1' };
    const odd = await openSheet(book, `it's "<&>"`, layout);
    await putRow(odd, [{ value: { formula: 'A2&"<"', result: '<' }, style: STYLES.text }]);
    await closeSheet(odd, { filter: 'A1:A1', textOrRed: { ref: 'A1', text: '<' } });
    await closeSheet(await openSheet(book, 'Frozen', { ...layout, frozenColumns: 1 }));
  });
  for (const name of ['night', 'orders', 'activity', 'books', 'odd']) {
    files.set(name, await unzip(path(name)));
  }
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

function eachPart(): { part: string; xml: string; of: Map<string, string> }[] {
  return [...files].flatMap(([name, of]) =>
    [...of].map(([part, xml]) => ({ part: `${name}: ${part}`, xml, of })),
  );
}

/** Every element with its children, text left out. */
function* elementsOf(nodes: readonly Node[]): Generator<{ name: string; children: string[] }> {
  for (const node of nodes) {
    for (const [name, inside] of Object.entries(node)) {
      if (!Array.isArray(inside)) continue;
      const children = (inside as Node[]).flatMap((one) =>
        Object.keys(one).filter((key) => key !== ':@' && key !== '#text'),
      );
      yield { name, children };
      yield* elementsOf(inside as Node[]);
    }
  }
}

function attributesOf(xml: string, element: string): Record<string, string>[] {
  return [...xml.matchAll(new RegExp(`<${element} ([^>]*)>`, 'g'))].map(([, all = '']) =>
    Object.fromEntries(
      [...all.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    ),
  );
}

describe('a file', () => {
  test('is XML in each part, no attribute twice', () => {
    for (const { part, xml } of eachPart())
      expect([part, XMLValidator.validate(xml)]).toEqual([part, true]);
  });

  test('has its elements in the order of the schema', () => {
    const seen = new Set<string>();
    for (const { part, xml } of eachPart()) {
      for (const { name, children } of elementsOf(PARSER.parse(xml) as Node[])) {
        const order = IN_ORDER.get(name);
        if (order === undefined) continue;
        seen.add(name);
        const places = children.map((child) => order.indexOf(child));
        expect([part, name, children], `${part} <${name}>`).toEqual([
          part,
          name,
          [...children].sort((a, b) => order.indexOf(a) - order.indexOf(b)),
        ]);
        expect(places, `${part} <${name}> ${children}`).not.toContain(-1);
      }
    }
    expect([...IN_ORDER.keys()].filter((name) => !seen.has(name))).toEqual([]);
  });

  test('counts what it says it counts, and names no style that it lacks', () => {
    for (const { part, xml } of eachPart()) {
      for (const name of [
        'fonts',
        'fills',
        'borders',
        'cellXfs',
        'dxfs',
        'mergeCells',
        'rowBreaks',
      ]) {
        const [, count, inside = ''] =
          new RegExp(`<${name} count="(\\d+)"[^>]*>(.*?)</${name}>`).exec(xml) ?? [];
        if (count === undefined) continue;
        const [root] = PARSER.parse(`<x>${inside}</x>`) as { x: Node[] }[];
        expect([part, name, root?.x.length]).toEqual([part, name, Number(count)]);
      }
    }
    for (const of of files.values()) {
      const styles = Number(/<cellXfs count="(\d+)"/.exec(of.get('xl/styles.xml') ?? '')?.[1]);
      for (const [part, xml] of of) {
        if (!part.startsWith('xl/worksheets/sheet')) continue;
        for (const { s } of attributesOf(xml, 'c')) expect(Number(s)).toBeLessThan(styles);
      }
    }
  });

  test('lists each part once, and each relation leads to a part', () => {
    for (const [name, of] of files) {
      const list = of.get('[Content_Types].xml') ?? '';
      const listed = attributesOf(list, 'Override').map(({ PartName }) => PartName?.slice(1));
      const parts = [...of.keys()].filter(
        (part) => !part.endsWith('.rels') && part !== '[Content_Types].xml',
      );
      expect([name, listed.toSorted()]).toEqual([name, parts.toSorted()]);
      const reached = [...of].flatMap(([part, xml]) => {
        if (!part.endsWith('.rels')) return [];
        const owner = dirname(dirname(part));
        return attributesOf(xml, 'Relationship').map(({ Target = '' }) =>
          posix.join(owner, Target),
        );
      });
      expect([name, reached.toSorted()]).toEqual([name, parts.toSorted()]);
    }
  });

  test('begins with what tools know a workbook by', () => {
    for (const of of files.values()) expect([...of.keys()][0]).toBe('_rels/.rels');
  });
});
