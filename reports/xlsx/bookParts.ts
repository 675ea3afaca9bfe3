// Puts the workbook library on our own archive: it makes the XML of a workbook's parts, and zip.ts
// compresses and writes them. So the sheets wait for the disk, rows can be put into a sheet as
// text, and every error of the output reaches whoever writes. The library's private corners are
// touched here and nowhere else; a test holds each of them. Neighbours: workbook.ts, zip.ts.

import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import type ExcelJS from 'exceljs';
import type { CellStyle } from './styles.js';
import type { Zip, ZipEntry } from './zip.js';
import { closeEntry, openEntry, writeEntry } from './zip.js';

type Writer = ExcelJS.stream.xlsx.WorkbookWriter;
type Writers = typeof ExcelJS.stream.xlsx.WorkbookWriter;

const require = createRequire(import.meta.url);
/** Of the library its writer alone: the readers beside it take as long to load. */
const WorkbookWriter = require('exceljs/lib/stream/xlsx/workbook-writer.js') as Writers;

export interface BookParts {
  writer: Writer;
  zip: Zip;
  /** Small parts that the library has made whole. */
  waiting: Part[];
  /** What the file's list of contents has to say of parts that are not the library's. */
  contentTypes: string;
  /** The sheet that is open: the library's XML of it that is not written yet. */
  sheet: SheetPart | null;
}

export interface Part {
  name: string;
  text: string;
}

interface SheetPart {
  name: string;
  entry: ZipEntry | null;
  bytes: Buffer[];
  length: number;
  stream: LibraryStream;
}

/** The library's own buffer of a sheet: it pushes into what it is piped to, and never waits. */
interface LibraryStream {
  pipe: (into: { write: (bytes: Buffer, done: () => void) => void; end: () => void }) => void;
  _flush: () => void;
}

/** What the library calls on its archive. */
interface LibraryArchive {
  append: (source: string | LibraryStream, entry: { name: string }) => void;
  on: () => void;
  finalize: () => void;
}

interface PrivateWriter {
  zip: LibraryArchive & { abort?: () => void };
  stream: EventEmitter;
  styles: { addStyleModel: (style: CellStyle) => number };
  addThemes: () => void;
  addOfficeRels: () => void;
}

const CONTENT_LIST = '[Content_Types].xml';

/** A library writer whose parts go into this archive. */
export function openParts(zip: Zip): BookParts {
  const writer = new WorkbookWriter({
    // Its own archive is put aside at once; nothing of it is kept.
    stream: new Writable({ write: (_chunk, _encoding, done) => done() }),
    useStyles: true,
    // Shared strings would keep every text of the file in memory.
    useSharedStrings: false,
  });
  const parts: BookParts = { writer, zip, waiting: [], contentTypes: '', sheet: null };
  const corners = privateOf(writer);
  corners.zip.abort?.();
  // The library waits for the end of its output; ours ends in `closeParts`.
  corners.stream = new EventEmitter();
  corners.zip = {
    append: (source, { name }) => takePart(parts, source, name.replace(/^\//, '')),
    on: () => undefined,
    finalize: () => corners.stream.emit('finish'),
  };
  // First in the file, so that tools which look at its first bytes know it for a workbook.
  corners.addOfficeRels();
  corners.addThemes();
  return parts;
}

/** Parts of the file that are not the library's. */
export function addParts(parts: BookParts, own: readonly Part[], contentTypes: string): void {
  parts.waiting.push(...own);
  parts.contentTypes += contentTypes;
}

/** The number of a style in the file; one object is one style. */
export function styleNumber(parts: BookParts, style: CellStyle): number {
  return privateOf(parts.writer).styles.addStyleModel(style);
}

/** How many bytes of the open sheet wait to be written. */
export function waitingBytes(parts: BookParts): number {
  return parts.sheet?.length ?? 0;
}

/** Writes what the library has made of the open sheet so far; waits while the output is behind. */
export async function writeWaiting(parts: BookParts): Promise<void> {
  const { sheet } = parts;
  if (sheet === null) return;
  sheet.entry ??= await openSheetEntry(parts, sheet.name);
  const bytes = sheet.bytes.splice(0);
  sheet.length = 0;
  for (const piece of bytes) await writeEntry(sheet.entry, piece);
}

/** Puts XML of our own behind everything that the library has made of the open sheet. */
export async function writeXml(parts: BookParts, xml: string): Promise<void> {
  const { sheet } = parts;
  if (sheet === null) throw new Error('no sheet is open');
  sheet.stream._flush();
  await writeWaiting(parts);
  if (sheet.entry !== null) await writeEntry(sheet.entry, Buffer.from(xml));
}

/** Ends the open sheet, once the library has. */
export async function endSheetPart(parts: BookParts): Promise<void> {
  await writeWaiting(parts);
  const entry = parts.sheet?.entry;
  parts.sheet = null;
  if (entry) await closeEntry(entry);
}

/** Lets the library make the parts that are left, and writes them. */
export async function closeParts(parts: BookParts): Promise<void> {
  await parts.writer.commit();
  await writeSmallParts(parts);
}

function takePart(parts: BookParts, source: string | LibraryStream, name: string): void {
  if (typeof source === 'string') {
    const isList = name === CONTENT_LIST;
    const own = `${parts.contentTypes}</Types>`;
    parts.waiting.push({ name, text: isList ? source.replace('</Types>', own) : source });
    return;
  }
  if (parts.sheet !== null) throw new Error(`sheet ${parts.sheet.name} is still open`);
  const sheet: SheetPart = { name, entry: null, bytes: [], length: 0, stream: source };
  parts.sheet = sheet;
  source.pipe({
    write: (bytes, done) => {
      sheet.bytes.push(bytes);
      sheet.length += bytes.length;
      done();
    },
    end: () => undefined,
  });
}

async function openSheetEntry(parts: BookParts, name: string): Promise<ZipEntry> {
  await writeSmallParts(parts);
  return openEntry(parts.zip, name);
}

async function writeSmallParts(parts: BookParts): Promise<void> {
  for (const { name, text } of parts.waiting.splice(0)) {
    const entry = await openEntry(parts.zip, name);
    await writeEntry(entry, Buffer.from(text));
    await closeEntry(entry);
  }
}

function privateOf(writer: Writer): PrivateWriter {
  return writer as unknown as PrivateWriter;
}
