// A zip archive written into a stream, entry after entry, with memory that stays flat. Compression
// runs beside the program, and whoever writes waits while it or the disk is behind. It must never
// write a size or a place that its 32 bits cannot hold. It knows nothing of workbooks; neighbour:
// workbook.ts puts the parts of a workbook into it.

import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { constants, crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';

/** The format's own limit without its extension for larger archives. */
const ARCHIVE_BYTES_MAX = 0xffff_fffe;
const ENTRIES_MAX = 0xfffe;
/** Level 1: twice the level costs more than twice the time and saves a tenth of the bytes. */
const COMPRESSION = { level: 1, memLevel: constants.Z_MAX_MEMLEVEL, chunkSize: 1 << 16 };

export interface Zip {
  sink: Writable;
  /** The date of every entry, as the format packs it. */
  stamp: { time: number; date: number };
  /** Bytes handed to the sink so far. */
  offset: number;
  /** What the directory at the end will say of each entry. */
  directory: Buffer[];
  open: ZipEntry | null;
}

export interface ZipEntry {
  zip: Zip;
  name: Buffer;
  start: number;
  deflate: DeflateRaw;
  crc: number;
  size: number;
  compressed: number;
  /** Resolves when the compressor has taken what it was given last. */
  taken: Promise<void>;
  /** The first thing that went wrong; writers are told. */
  failure: Error | null;
  /** Resolves when all compressed bytes are handed on, however that ended. */
  done: Promise<void>;
}

export function openZip(sink: Writable, date: Date): Zip {
  return { sink, stamp: stampOf(date), offset: 0, directory: [], open: null };
}

/** Begins an entry; the one before it has to be closed. */
export async function openEntry(zip: Zip, name: string): Promise<ZipEntry> {
  if (zip.open !== null) throw new Error(`the archive's entry ${zip.open.name} is still open`);
  if (zip.directory.length >= ENTRIES_MAX) throw new RangeError('the archive has too many entries');
  const deflate = createDeflateRaw(COMPRESSION);
  const entry: ZipEntry = {
    zip,
    name: Buffer.from(name),
    start: zip.offset,
    deflate,
    crc: 0,
    size: 0,
    compressed: 0,
    taken: Promise.resolve(),
    failure: null,
    done: Promise.resolve(),
  };
  zip.open = entry;
  await put(zip, Buffer.concat([localHeader(entry), entry.name]));
  entry.done = handOn(entry);
  return entry;
}

/**
 * Takes the bytes; resolves when the compressor has taken those before them, so that it has always
 * something to do and never more than two pieces wait.
 */
export async function writeEntry(entry: ZipEntry, bytes: Buffer): Promise<void> {
  if (entry.failure !== null) throw entry.failure;
  entry.crc = crc32(bytes, entry.crc);
  entry.size += bytes.length;
  if (entry.size > ARCHIVE_BYTES_MAX) throw new RangeError(`${entry.name} is too large to archive`);
  const before = entry.taken;
  entry.taken = new Promise((resolve) => entry.deflate.write(bytes, () => resolve()));
  await before;
  if (entry.failure !== null) throw entry.failure;
}

export async function closeEntry(entry: ZipEntry): Promise<void> {
  entry.deflate.end();
  await entry.done;
  if (entry.failure !== null) throw entry.failure;
  const { zip } = entry;
  await put(zip, sizesAfter(entry));
  zip.directory.push(directoryEntry(entry));
  zip.open = null;
}

/** Writes the directory; the sink is whole then, and ended. */
export async function closeZip(zip: Zip): Promise<void> {
  const directory = Buffer.concat(zip.directory);
  const start = zip.offset;
  await put(zip, Buffer.concat([directory, directoryEnd(zip, start, directory.length)]));
  zip.sink.end();
}

/** Lets go of the compressor of an archive that is given up. */
export function abandonZip(zip: Zip): void {
  zip.open?.deflate.destroy();
}

async function handOn(entry: ZipEntry): Promise<void> {
  try {
    for await (const bytes of entry.deflate) {
      entry.compressed += (bytes as Buffer).length;
      await put(entry.zip, bytes as Buffer);
    }
  } catch (error) {
    entry.failure = error instanceof Error ? error : new Error(String(error));
  }
}

/** Waits while the sink is behind; a sink that fails rejects. */
async function put(zip: Zip, bytes: Buffer): Promise<void> {
  const { sink } = zip;
  if (sink.destroyed) throw sink.errored ?? new Error('the output was closed');
  zip.offset += bytes.length;
  if (zip.offset > ARCHIVE_BYTES_MAX) throw new RangeError('the archive is too large');
  if (!sink.write(bytes)) await drained(sink);
}

async function drained(sink: Writable): Promise<void> {
  const given = new AbortController();
  const { signal } = given;
  const closed = once(sink, 'close', { signal }).then(() => {
    throw sink.errored ?? new Error('the output was closed');
  });
  try {
    await Promise.race([once(sink, 'drain', { signal }), closed]);
  } finally {
    closed.catch(() => undefined);
    given.abort();
  }
}

// The records of the format (PKWARE's APPNOTE, sections 4.3.7 to 4.3.16): little-endian, sizes
// behind the data, names in UTF-8.

const VERSION = 20;
const SIZES_FOLLOW_AND_UTF8 = 0x0808;
const DEFLATED = 8;

function localHeader({ zip, name }: ZipEntry): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(SIZES_FOLLOW_AND_UTF8, 6);
  header.writeUInt16LE(DEFLATED, 8);
  header.writeUInt16LE(zip.stamp.time, 10);
  header.writeUInt16LE(zip.stamp.date, 12);
  header.writeUInt16LE(name.length, 26);
  return header;
}

function sizesAfter(entry: ZipEntry): Buffer {
  const sizes = Buffer.alloc(16);
  sizes.writeUInt32LE(0x08074b50, 0);
  writeSizes(sizes, 4, entry);
  return sizes;
}

function directoryEntry(entry: ZipEntry): Buffer {
  const { zip, name, start } = entry;
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(VERSION, 4);
  record.writeUInt16LE(VERSION, 6);
  record.writeUInt16LE(SIZES_FOLLOW_AND_UTF8, 8);
  record.writeUInt16LE(DEFLATED, 10);
  record.writeUInt16LE(zip.stamp.time, 12);
  record.writeUInt16LE(zip.stamp.date, 14);
  writeSizes(record, 16, entry);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt32LE(start, 42);
  return Buffer.concat([record, name]);
}

function writeSizes(into: Buffer, at: number, { crc, compressed, size }: ZipEntry): void {
  into.writeUInt32LE(crc, at);
  into.writeUInt32LE(compressed, at + 4);
  into.writeUInt32LE(size, at + 8);
}

function directoryEnd(zip: Zip, start: number, length: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(zip.directory.length, 8);
  end.writeUInt16LE(zip.directory.length, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  return end;
}

/** Two seconds are the finest that the format tells apart; it knows no zone, so UTC is meant. */
function stampOf(at: Date): { time: number; date: number } {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const years = Math.max(0, at.getUTCFullYear() - 1980);
  return { time, date: (years << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate() };
}
