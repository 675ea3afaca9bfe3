// A second reader of workbooks, which shares no code with the library that writes them: our own
// unzipping and an XML parser. Only for tests.

import { XMLParser } from 'fast-xml-parser';
import { unzip } from './openXlsx.js';

export interface PlainCell {
  ref: string;
  value: string;
  isText: boolean;
  formula: string | null;
}

export interface PlainSheet {
  name: string;
  rows: PlainCell[][];
}

export interface PlainBook {
  sheets: PlainSheet[];
  parts: Map<string, string>;
}

type Node = Record<string, unknown>;

const PARSER = new XMLParser({
  ignoreAttributes: false,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  isArray: (name) => ['sheet', 'Relationship', 'row', 'c'].includes(name),
});

export async function readPlainly(path: string): Promise<PlainBook> {
  const parts = await unzip(path);
  const xmlOf = (name: string): Node => PARSER.parse(parts.get(name) ?? '') as Node;
  const targets = new Map(
    nodes(at(xmlOf('xl/_rels/workbook.xml.rels'), 'Relationships', 'Relationship')).map((one) => [
      String(one['@_Id']),
      String(one['@_Target']),
    ]),
  );
  const sheets = nodes(at(xmlOf('xl/workbook.xml'), 'workbook', 'sheets', 'sheet')).map((one) => ({
    name: String(one['@_name']),
    rows: rowsOf(xmlOf(`xl/${targets.get(String(one['@_r:id']))}`)),
  }));
  return { sheets, parts };
}

function rowsOf(sheet: Node): PlainCell[][] {
  return nodes(at(sheet, 'worksheet', 'sheetData', 'row')).map((row) =>
    nodes(row.c).map((cell) => ({
      ref: String(cell['@_r']),
      value: textOf(cell.v),
      isText: cell['@_t'] === 'str',
      formula: cell.f === undefined ? null : textOf(cell.f),
    })),
  );
}

function textOf(node: unknown): string {
  if (node === undefined) return '';
  return typeof node === 'object' && node !== null ? String((node as Node)['#text']) : String(node);
}

function at(node: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((one, name) => (one as Node | undefined)?.[name], node);
}

function nodes(found: unknown): Node[] {
  return Array.isArray(found) ? (found as Node[]) : [];
}
