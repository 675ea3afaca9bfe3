// The house workbook: sheets written row by row into a new file, with memory that stays flat. It
// must never let a sheet grow past what a spreadsheet opens, nor take a value that is not a Cell.
// Only cells.ts and our own formulas make cells. Neighbours: outputFile.ts (the file), format/ (its
// parts and the archive), table.ts and summarySheet.ts (the contents).

import type { Writable } from 'node:stream';
import type { WrittenReport } from '../../src/core/runs/reporting.js';
import { cutText } from '../../src/core/text/heldText.js';
import { writeNewFile } from '../outputFile.js';
import type { BookProperties, BookSheet } from './format/bookParts.js';
import { FIRST_PART, lastParts, listOfParts, SHEET_TYPE, sheetPart } from './format/bookParts.js';
import type { Cell } from './format/cellXml.js';
import { blankXml, cellXml, columnLetters } from './format/cellXml.js';
import type { BarChart } from './format/chart.js';
import { drawingParts } from './format/chart.js';
import type { SheetEnd, SheetLayout, SheetMarks } from './format/sheetXml.js';
import { sheetHead, sheetTail } from './format/sheetXml.js';
import type { CellStyle, StyleNumbers } from './format/styleSheet.js';
import { styleNumber } from './format/styleSheet.js';
import type { Part } from './format/xml.js';
import type { Zip, ZipEntry } from './format/zip.js';
import { abandonZip, closeEntry, closeZip, openEntry, openZip, writeEntry } from './format/zip.js';

/** What a spreadsheet opens. */
export const SHEET_ROWS_MAX = 1_048_576;
const SHEET_NAME_MAX = 31;
/**
 * Rows are handed to the compressor in pieces of about this many characters: with the row that is
 * one too many still less than what the engine keeps apart from other texts, and for longer.
 */
const PIECE_CHARS = 96 * 1024;

export interface Book {
  zip: Zip;
  properties: BookProperties;
  styles: StyleNumbers;
  sheets: BookSheet[];
  /** What is in the file so far. */
  parts: Pick<Part, 'name' | 'type'>[];
}

export interface Sheet {
  book: Book;
  name: string;
  layout: SheetLayout;
  entry: ZipEntry;
  /** The last row that was written. */
  row: number;
  /** Of them what is not handed on yet. */
  xml: string;
  marks: SheetMarks;
}

interface RowLayout {
  /** In points; without it the reader's own height for one line. */
  height?: number | null;
  /** The first cell reaches over so many columns. */
  mergedColumns?: number;
  /** A printed page ends here. */
  endsPage?: boolean;
}

/** Writes a new workbook; the file appears when it is whole, or not at all. */
export function writeWorkbook(
  path: string,
  properties: BookProperties,
  build: (book: Book) => Promise<void>,
): Promise<WrittenReport> {
  return writeNewFile(path, (sink) => writeBook(sink, properties, build));
}

/** The same into any stream; whoever gives the stream watches it for errors. */
export async function writeBook(
  sink: Writable,
  properties: BookProperties,
  build: (book: Book) => Promise<void>,
): Promise<void> {
  const zip = openZip(sink, properties.createdAt);
  const book: Book = { zip, properties, styles: new Map(), sheets: [], parts: [] };
  try {
    await putParts(book, [FIRST_PART]);
    await build(book);
    await putParts(book, lastParts(properties, book.sheets, book.styles));
    await putParts(book, [listOfParts(book.parts)]);
    await closeZip(zip);
  } catch (error) {
    abandonZip(zip);
    throw error;
  }
}

/** Begins a sheet; the one before it has to be closed. */
export async function openSheet(book: Book, wanted: string, layout: SheetLayout): Promise<Sheet> {
  const { sheets, parts, properties } = book;
  const name = safeSheetName(wanted, new Set(sheets.map((sheet) => sheet.name.toLowerCase())));
  const part = { name: sheetPart(sheets.length + 1), type: SHEET_TYPE };
  const entry = await openEntry(book.zip, part.name);
  const { repeatedRows, frozenColumns, pagesWide = 1 } = layout;
  sheets.push({ name, repeatedRows, ...(pagesWide > 1 ? { repeatedColumns: frozenColumns } : {}) });
  parts.push(part);
  const xml = sheetHead(layout, properties.environment === 'live' ? 'FF8A1F1F' : 'FFFFB92E');
  return { book, name, layout, entry, row: 0, xml, marks: { merged: [], pageEnds: [] } };
}

/** Adds a row; waits when the compressor or the disk is behind. */
export async function putRow(
  sheet: Sheet,
  cells: readonly (Cell | null)[],
  { height, mergedColumns, endsPage }: RowLayout = {},
): Promise<void> {
  const number = nextRow(sheet);
  const numberOf = (style: CellStyle): number => styleOf(sheet.book, style);
  const first = cells[0] ?? null;
  const made = cells.map((cell) => cellXml(cell, numberOf));
  if (mergedColumns !== undefined && first !== null) {
    for (let at = 1; at < mergedColumns; at += 1) made[at] = blankXml(first.style, numberOf);
    sheet.marks.merged.push(`A${number}:${columnLetters(mergedColumns)}${number}`);
  }
  const inside = made
    .map((xml, at) => (xml === '' ? '' : `<c r="${columnLetters(at + 1)}${number}${xml}`))
    .join('');
  const tall = height ? ` ht="${height}" customHeight="1"` : '';
  if (endsPage) sheet.marks.pageEnds.push(number);
  if (inside + tall === '') return;
  await putRowXml(sheet, `<row r="${number}"${tall}>${inside}</row>`);
}

/** The number of the row that comes next. */
export function nextRow(sheet: Sheet): number {
  if (sheet.row >= SHEET_ROWS_MAX) throw new RangeError(`sheet ${sheet.name} is full`);
  sheet.row += 1;
  return sheet.row;
}

/** Adds the row that `nextRow` has numbered; null where there is nothing to wait for. */
export function putRowXml(sheet: Sheet, xml: string): Promise<void> | null {
  sheet.xml += xml;
  return sheet.xml.length >= PIECE_CHARS ? handOn(sheet) : null;
}

async function handOn(sheet: Sheet): Promise<void> {
  const { xml } = sheet;
  sheet.xml = '';
  await writeEntry(sheet.entry, Buffer.from(xml));
}

/** The number by which a row's XML names a style. */
export function styleOf(book: Book, style: CellStyle): number {
  return styleNumber(book.styles, style);
}

/** Ends a sheet, with the charts over its cells. */
export async function closeSheet(
  sheet: Sheet,
  { charts = [], ...end }: SheetEnd & { charts?: readonly BarChart[] } = {},
): Promise<void> {
  const { book, layout, marks, entry } = sheet;
  const { environment, businessDate } = book.properties;
  const footer = `&L${environment.toUpperCase()} · ${businessDate}&C&A&RPage &P of &N`;
  sheet.xml += sheetTail(layout, marks, end, footer, charts.length > 0);
  const own = book.sheets.at(-1);
  if (own !== undefined && end.printed !== undefined) own.printed = end.printed;
  await handOn(sheet);
  await closeEntry(entry);
  await putParts(book, drawingParts(book.sheets.length, charts));
}

async function putParts(book: Book, parts: readonly Part[]): Promise<void> {
  for (const { name, type, text } of parts) {
    const entry = await openEntry(book.zip, name);
    await writeEntry(entry, Buffer.from(text));
    await closeEntry(entry);
    book.parts.push({ name, type });
  }
}

/** A name that a spreadsheet takes: no forbidden characters, at most 31, none twice. */
export function safeSheetName(wanted: string, taken: ReadonlySet<string>): string {
  const clean = wanted
    .replace(/[\\/:?*[\]]|\p{C}/gu, ' ')
    .replace(/^'+|'+$/g, '')
    .trim();
  const base = clean === '' || clean.toLowerCase() === 'history' ? 'Sheet' : clean;
  for (let copy = 1; copy <= taken.size + 1; copy += 1) {
    const suffix = copy === 1 ? '' : ` (${copy})`;
    const name = cutText(base, SHEET_NAME_MAX - suffix.length) + suffix;
    if (!taken.has(name.toLowerCase())) return name;
  }
  throw new Error(`no sheet name is left for ${wanted}`);
}
