// A workbook as a person or another program would change it: cells filled, rows moved, parts
// rewritten, and the archive put together again. Tests of what comes back.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import {
  closeEntry,
  closeZip,
  openEntry,
  openZip,
  writeEntry,
} from '../../reports/xlsx/format/zip.js';
import { unzip } from '../reports/openXlsx.js';

export type Parts = Map<string, string>;

export { unzip as partsOf } from '../reports/openXlsx.js';

export async function saveParts(parts: Parts, path: string): Promise<string> {
  const sink = createWriteStream(path);
  const zip = openZip(sink, new Date('2026-11-20T03:20:00Z'));
  for (const [name, text] of parts) {
    const entry = await openEntry(zip, name);
    await writeEntry(entry, Buffer.from(text));
    await closeEntry(entry);
  }
  await closeZip(zip);
  sink.end();
  await once(sink, 'close');
  return path;
}

/** The part of a sheet by its name, whoever wrote the file. */
export function sheetPartOf(parts: Parts, name: string): string {
  const [sheet] = tagsOf(parts.get('xl/workbook.xml'), 'sheet', 'name', name);
  const id = /\br:id="([^"]*)"/.exec(sheet ?? '')?.[1] ?? '';
  const [relation] = tagsOf(parts.get('xl/_rels/workbook.xml.rels'), 'Relationship', 'Id', id);
  const target = /\bTarget="(?:\/xl\/)?([^"]*)"/.exec(relation ?? '')?.[1];
  return `xl/${target}`;
}

function tagsOf(xml = '', tag: string, attribute: string, value: string): string[] {
  const tags = xml.match(new RegExp(`<${tag} [^>]*>`, 'g')) ?? [];
  return tags.filter((one) => one.includes(` ${attribute}="${value}"`));
}

export interface Entry {
  decision?: string;
  reason?: string;
  toWhom?: string;
}

/** The rows of a sheet that carry an id, as their XML, by id. */
export function boundRows(parts: Parts, sheet: string): Map<string, string> {
  const xml = parts.get(sheetPartOf(parts, sheet)) ?? '';
  const rows = xml.match(/<row .*?<\/row>/gs) ?? [];
  return new Map(
    rows.flatMap((row) => {
      const id = />(?:break|instruction) (\d+) /.exec(row)?.[1];
      return id === undefined ? [] : [[id, row] as const];
    }),
  );
}

/** Changes the XML of one row. */
export function editRow(
  parts: Parts,
  sheet: string,
  id: string,
  edit: (row: string) => string,
): void {
  const part = sheetPartOf(parts, sheet);
  const row = boundRows(parts, sheet).get(id);
  if (row === undefined) throw new Error(`no row of ${id} on ${sheet}`);
  parts.set(
    part,
    (parts.get(part) ?? '').replace(row, () => edit(row)),
  );
}

/** Writes into the three cells for it, as a spreadsheet does with a text in the cell. */
export function fill(parts: Parts, sheet: string, id: string, entry: Entry): void {
  editRow(parts, sheet, id, (row) => filled(row, entry));
}

export function filled(row: string, { decision, reason, toWhom }: Entry): string {
  const blanks = [...row.matchAll(/<c r="[A-Z]+\d+" s="\d+"\/>/g)].map(([cell]) => cell).slice(-3);
  return [decision, reason, toWhom].reduce<string>((xml, text, at) => {
    const blank = blanks[at];
    if (text === undefined || blank === undefined) return xml;
    const inside = `<is><t xml:space="preserve">${escaped(text)}</t></is>`;
    return xml.replace(blank, () => blank.replace('/>', ` t="inlineStr">${inside}</c>`));
  }, row);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export async function edited(
  from: string,
  to: string,
  edit: (parts: Parts) => void,
): Promise<string> {
  const parts = await unzip(from);
  edit(parts);
  return saveParts(parts, to);
}
