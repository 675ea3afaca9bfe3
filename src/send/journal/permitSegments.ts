// The files of the journal of permits as somebody who checks them sees them: numbered, read from a
// position on, each line held against the one before it of the same writer. What the database is
// known to hold is removed after a time; nothing else ever is. Neighbour: permitJournal.ts writes.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '../../core/time.js';

/** What a batch sends, or a person by hand (`tieout gateway`). */
export interface PermitLine {
  /** the permit's number, that of the attempt or of the call by hand: a word of files on disk */
  attemptId: string;
  /** empty: a call by hand */
  batchId: string;
  accountId: string;
  operation: string;
  bodySha256: string;
  entries: readonly PermitEntry[];
  /** a second line, of a call by hand: it moved nothing */
  outcome?: 'rejected' | 'not_sent';
}

export interface PermitEntry {
  /** of the instruction or the call: a database that was put back may give the number out anew */
  id: string;
  amount: string;
  currency: string;
  /** what it is found by in a database that has lost it; lines of older versions lack all three */
  order?: string;
  transaction?: string;
  refund?: string | null;
}

/** How far the journal was read: a file by its number, and bytes of it. */
export interface JournalPosition {
  segment: number;
  bytes: number;
}

interface ReadPermit {
  permitId: string;
  at: Date;
}

export interface JournalReading {
  permits: ReadPermit[];
  /** where the next reading has to begin */
  position: JournalPosition;
  /** what is wrong with the files themselves; null: nothing */
  damage: string | null;
}

/** Files are kept so long after their last line: a database may come back from a backup. */
export const SEGMENT_DAYS_KEPT = 35;
/** A line of the largest batch has a few thousand. */
const LINE_BYTES_MAX = 1 << 20;
const NAME = /^permits(?:\.(\d{1,9}))?\.ndjson$/;

/** The first has no number, so that a small journal is one plain file. */
export function segmentPath(place: string, number: number): string {
  return join(place, number === 0 ? 'permits.ndjson' : `permits.${number}.ndjson`);
}

/** -1: there is none. */
export async function newestSegment(place: string): Promise<number> {
  return (await segments(place)).at(-1) ?? -1;
}

async function segments(place: string): Promise<number[]> {
  const names = await readdir(place);
  return names
    .flatMap((name) => {
      const match = NAME.exec(name);
      return match === null ? [] : [Number(match[1] ?? 0)];
    })
    .sort((one, other) => one - other);
}

/** The two newest that the position knows are needed to read on, and always stay. */
export async function removeSegments(
  place: string,
  { segment }: JournalPosition,
  now: Date,
): Promise<void> {
  for (const number of await segments(place)) {
    if (number >= segment - 1) return;
    const path = segmentPath(place, number);
    const writtenAt = await lastWritten(path);
    // Another process removes the same at the same time.
    if (writtenAt === null) continue;
    if (now.getTime() - writtenAt.getTime() < SEGMENT_DAYS_KEPT * DAY_MS) return;
    await rm(path, { force: true });
  }
}

/** Null: it is gone. */
async function lastWritten(path: string): Promise<Date | null> {
  try {
    return (await stat(path)).mtime;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Permits behind `from` that were given after `after`; null for either: all there are. The file
 * before the one of `from` is read once more: somebody slow may have added a line to it.
 */
export async function readSegments(
  place: string,
  from: JournalPosition | null,
  after: Date | null,
): Promise<JournalReading> {
  const all = await segments(place);
  const known = from ?? { segment: all[0] ?? 0, bytes: 0 };
  const reading: JournalReading = { permits: [], position: known, damage: null };
  const gap = gapIn(all, known.segment);
  if (gap !== null) return { ...reading, damage: gap };
  const wanted = all.filter((number) => number >= known.segment - 1);
  const begin = wanted[0] === known.segment ? known.bytes : 0;
  const isFromStart = wanted[0] === 0 && begin === 0;
  const reader: Reader = { reading, last: new Map(), after, isFromStart };
  for (const segment of wanted) {
    const path = segmentPath(place, segment);
    const { size } = await stat(path);
    if (segment === known.segment && size < known.bytes) {
      reading.damage ??= `it is shorter than it was (${size} of ${known.bytes})`;
      continue;
    }
    const at = segment === wanted[0] ? begin : 0;
    reading.position = { segment, bytes: await readSegment(reader, path, at, size) };
  }
  return reading;
}

function gapIn(all: readonly number[], start: number): string | null {
  const read = all.filter((number) => number >= start);
  if (read[0] !== start) {
    return `it has no file ${start}, up to which this database knew it`;
  }
  const missing = read.findIndex((number, at) => number !== start + at);
  return missing < 0 ? null : `its file ${start + missing} is gone`;
}

/** The whole lines of these permits, wherever they stand. */
export async function findPermits(
  place: string,
  wanted: ReadonlySet<string>,
): Promise<LostPermit[]> {
  const found = new Map<string, LostPermit>();
  if (wanted.size === 0) return [];
  for (const segment of await segments(place)) {
    const path = segmentPath(place, segment);
    for await (const { text } of wholeLines(path, 0, (await stat(path)).size)) {
      const line = lineOf(text);
      if (line === null || !wanted.has(line.attemptId)) continue;
      const { outcome, at: endedAt } = line;
      const permit = found.get(line.attemptId) ?? line;
      found.set(line.attemptId, outcome === undefined ? line : { ...permit, outcome, endedAt });
    }
  }
  return [...found.values()];
}

/** A permit as its line has it, with the time at which it was given. */
export type LostPermit = PermitLine & {
  at: string;
  /** where it is known to have moved nothing */
  endedAt?: string;
};

interface Reader {
  reading: JournalReading;
  /** the newest line of each writer */
  last: Map<string, Line>;
  after: Date | null;
  /** false: the first line of a writer that is read may follow one that is not */
  isFromStart: boolean;
}

/** Answers how far the file was read. */
async function readSegment(
  reader: Reader,
  path: string,
  from: number,
  size: number,
): Promise<number> {
  const { reading, after } = reader;
  let read = from;
  for await (const { text, bytes } of wholeLines(path, from, size)) {
    read += bytes;
    const line = lineOf(text);
    // Half a line is what a process left that died before its permit was worth anything.
    if (line === null) continue;
    const isSound = follows(reader, line) && isWhole(line);
    reader.last.set(line.writer, line);
    const at = new Date(line.at);
    if (after !== null && at <= after) continue;
    if (!isSound) reading.damage ??= `permit ${line.attemptId} was altered`;
    // Of one that was let go as lost it gives nothing new.
    if (line.outcome !== undefined) continue;
    reading.permits.push({ permitId: line.attemptId, at });
  }
  return read;
}

function follows({ last, isFromStart }: Reader, line: Line): boolean {
  const before = last.get(line.writer);
  if (before === undefined) return !isFromStart || line.number === 1;
  return line.number === before.number + 1 && line.previous === before.digest;
}

/** Lines with their length in bytes; what has no line break yet is being written. */
async function* wholeLines(path: string, from: number, size: number) {
  if (size === from) return;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { start: from, end: size - 1 })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let at = rest.indexOf(LINE_BREAK); at >= 0; at = rest.indexOf(LINE_BREAK)) {
      yield { text: rest.toString('utf8', 0, at), bytes: at + 1 };
      rest = rest.subarray(at + 1);
    }
    if (rest.length > LINE_BYTES_MAX) throw new Error(`${path} is no journal of permits`);
  }
}

const LINE_BREAK = 0x0a;

type Line = PermitLine & {
  writer: string;
  number: number;
  at: string;
  previous: string;
  digest: string;
};

function lineOf(text: string): Line | null {
  try {
    const line = JSON.parse(text) as Partial<Line> | null;
    return typeof line?.attemptId === 'string' && typeof line.writer === 'string'
      ? (line as Line)
      : null;
  } catch {
    return null;
  }
}

function isWhole({ digest: claimed, ...body }: Line): boolean {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex') === claimed;
}
