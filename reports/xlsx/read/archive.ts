// A zip archive that somebody sent, read as what may be an attack: its directory first, then single
// entries, inflated piece by piece, with a limit on everything that it says or becomes. It knows
// nothing of workbooks; neighbour: bookParts.ts asks for the parts of one.

import { createInflateRaw } from 'node:zlib';
import { UsageError } from '../../../src/core/errors.js';

/** The file itself. */
export const ARCHIVE_BYTES_MAX = 64 * 1024 * 1024;
const ENTRIES_MAX = 2_000;
/** All that is read of one archive, inflated. */
const INFLATED_BYTES_MAX = 384 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;

export interface Archive {
  readonly bytes: Buffer;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Inflated so far. */
  inflated: number;
}

interface Entry {
  readonly method: number;
  readonly at: number;
  readonly compressed: number;
}

export function openArchive(bytes: Buffer): Archive {
  if (bytes.length > ARCHIVE_BYTES_MAX) {
    throw new UsageError(`the file is larger than ${ARCHIVE_BYTES_MAX / 1024 / 1024} MiB`);
  }
  try {
    return { bytes, entries: directoryOf(bytes), inflated: 0 };
  } catch (error) {
    if (error instanceof RangeError) throw broken();
    throw error;
  }
}

function directoryOf(bytes: Buffer): Map<string, Entry> {
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > ENTRIES_MAX) throw new UsageError(`the file has more than ${ENTRIES_MAX} parts`);
  const entries = new Map<string, Entry>();
  let at = bytes.readUInt32LE(end + 16);
  for (let n = 0; n < count; n += 1) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw broken();
    const nameLength = bytes.readUInt16LE(at + 28);
    const extras = bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    const name = bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameLength);
    if (entries.has(name)) throw new UsageError('the file has a part twice');
    if ((bytes.readUInt16LE(at + 8) & ENCRYPTED) !== 0) {
      throw new UsageError('the file is encrypted: save it without a password');
    }
    entries.set(name, {
      method: bytes.readUInt16LE(at + 10),
      at: bytes.readUInt32LE(at + 42),
      compressed: bytes.readUInt32LE(at + 20),
    });
    at += ENTRY_BYTES + nameLength + extras;
  }
  return entries;
}

/** Where the end of the directory stands: behind it there may be a comment. */
function endOf(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = bytes.length - END_BYTES; at >= lowest; at -= 1) {
    if (bytes.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new UsageError('this is no workbook (.xlsx)');
}

/** The text of an entry in pieces; null where there is no such entry. */
export function entryText(archive: Archive, name: string): AsyncIterable<string> | null {
  const entry = archive.entries.get(name);
  return entry === undefined ? null : decoded(inflated(archive, packedOf(archive, entry), entry));
}

function packedOf({ bytes }: Archive, { at, compressed }: Entry): Buffer {
  if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL_ENTRY) throw broken();
  const start = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
  if (start + compressed > bytes.length) throw broken();
  return bytes.subarray(start, start + compressed);
}

async function* inflated(
  archive: Archive,
  packed: Buffer,
  { method }: Entry,
): AsyncGenerator<Buffer> {
  if (method !== STORED && method !== DEFLATED) throw broken();
  const pieces = method === STORED ? sliced(packed) : unpacked(packed);
  for await (const piece of pieces) {
    archive.inflated += piece.length;
    if (archive.inflated > INFLATED_BYTES_MAX) {
      throw new UsageError(
        `the file inflates to more than ${INFLATED_BYTES_MAX / 1024 / 1024} MiB`,
      );
    }
    yield piece;
  }
}

function* sliced(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* unpacked(packed: Buffer): AsyncGenerator<Buffer> {
  const stream = createInflateRaw({ chunkSize: PIECE_BYTES });
  stream.end(packed);
  try {
    for await (const piece of stream) yield piece as Buffer;
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('Z_') === true) throw broken();
    throw error;
  }
}

/** UTF-8 and nothing else: what claims to be something else is read by nobody here. */
async function* decoded(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError('a part of the file is not in UTF-8');
    throw error;
  }
}

function broken(): UsageError {
  return new UsageError('the file is broken: it cannot be unpacked');
}
