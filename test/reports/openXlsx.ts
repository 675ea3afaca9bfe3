// Opens a workbook twice for the tests: by the library that finance's tools resemble, and as the
// plain XML in the zip, where nothing can be hidden by a reader's kindness.

import { readFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import ExcelJS from 'exceljs';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

/** Every entry of the zip by name, as text. */
export async function unzip(path: string): Promise<Map<string, string>> {
  const bytes = await readFile(path);
  let end = bytes.length - 22;
  while (end >= 0 && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  const entries = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let n = bytes.readUInt16LE(end + 10); n > 0; n -= 1) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('no zip directory');
    const size = bytes.readUInt32LE(at + 20);
    const nameLength = bytes.readUInt16LE(at + 28);
    const extras = bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + size);
    const isStored = bytes.readUInt16LE(at + 10) === 0;
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    entries.set(name, (isStored ? data : inflateRawSync(data)).toString('utf8'));
    at += 46 + nameLength + extras;
  }
  return entries;
}

/** When each entry of the zip says that it was written. */
export async function entryDates(path: string): Promise<Map<string, string>> {
  const bytes = await readFile(path);
  const two = (figure: number) => String(figure).padStart(2, '0');
  const dates = new Map<string, string>();
  const mark = Buffer.from('PK\u0001\u0002', 'latin1');
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 46)) {
    const [time, date] = [bytes.readUInt16LE(at + 12), bytes.readUInt16LE(at + 14)];
    const day = `${(date >> 9) + 1980}-${two((date >> 5) & 15)}-${two(date & 31)}`;
    const name = bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28));
    dates.set(name, `${day} ${two(time >> 11)}:${two((time >> 5) & 63)}`);
  }
  return dates;
}

export async function openXlsx(path: string): Promise<ExcelJS.Workbook> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.readFile(path);
  return workbook;
}

export function sheetOf(workbook: ExcelJS.Workbook, name: string): ExcelJS.Worksheet {
  const sheet = workbook.getWorksheet(name);
  if (!sheet) throw new Error(`no sheet ${name}`);
  return sheet;
}

/** The row whose first cells read like this, or are links that do. */
export function rowStarting(sheet: ExcelJS.Worksheet, ...cells: string[]): ExcelJS.Row {
  for (let number = 1; number <= sheet.rowCount; number += 1) {
    const row = sheet.getRow(number);
    const reads = (text: string, at: number): boolean =>
      [row.getCell(at + 1).value, row.getCell(at + 1).result].includes(text);
    if (cells.every(reads)) return row;
  }
  throw new Error(`no row that starts with ${cells.join(', ')} on ${sheet.name}`);
}

/** The same below the heading of a section, where keys come again in another one. */
export function rowOfSection(sheet: ExcelJS.Worksheet, title: string, ...cells: string[]) {
  for (let number = rowStarting(sheet, title).number; number <= sheet.rowCount; number += 1) {
    const row = sheet.getRow(number);
    if (cells.every((text, index) => row.getCell(index + 1).value === text)) return row;
  }
  throw new Error(`no row ${cells.join(', ')} in the section ${title}`);
}

export function formulasIn(xml: string): string[] {
  return [...xml.matchAll(/<f>([^<]*)<\/f>/g)].map((match) => match[1] ?? '');
}
