// The journal of permits: a local file in which every permit is on disk before the first byte of
// its batch leaves. It knows what a database that failed over, or was restored, has forgotten.
// Many processes append to it at once: a line is one write, chained to the line before it of the
// same process, and concurrent senders share one wait for the disk. Neighbours: journals.ts holds
// it against the database, night/journalGuard.ts decides.

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface PermitLine {
  attemptId: string;
  batchId: string;
  accountId: string;
  operation: string;
  bodySha256: string;
  entries: readonly { id: string; amount: string; currency: string }[];
}

export interface ReadPermit {
  attemptId: string;
  at: Date;
}

export interface JournalReading {
  permits: ReadPermit[];
  /** how far the file was read */
  bytes: number;
  /** what is wrong with the file itself; null: nothing */
  damage: string | null;
}

export interface PermitJournal {
  journalId: string;
  place: string;
  /** this call made it: there was none */
  isNew: boolean;
  /** Resolves when the line is on disk; rejects when it is not, and then nothing may be sent. */
  append(line: PermitLine): Promise<void>;
  /** The permits behind so many bytes that were given after a time. */
  read(fromBytes: number, after: Date | null): Promise<JournalReading>;
  close(): Promise<void>;
}

interface Waiting {
  text: string;
  done: () => void;
  failed: (error: unknown) => void;
}

/** Opens the journal of this host under the data folder; makes one where there is none. */
export async function openPermitJournal(dataDir: string): Promise<PermitJournal> {
  const place = join(dataDir, 'journal');
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const { journalId, isNew } = identityIn(place);
  const path = join(place, 'permits.ndjson');
  const file = await open(path, 'a', 0o600);
  if (isNew) await syncFolder(place);
  return {
    journalId,
    place,
    isNew,
    ...appending(file),
    read: (from, after) => readFrom(path, from, after),
  };
}

/** The id of the journal, made once, whoever of many comes first. */
function identityIn(place: string): { journalId: string; isNew: boolean } {
  const path = join(place, 'journal.json');
  let isNew = true;
  try {
    writeFileSync(path, `${JSON.stringify({ journalId: randomUUID() })}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    isNew = false;
  }
  const { journalId } = JSON.parse(readFileSync(path, 'utf8')) as { journalId: string };
  return { journalId, isNew };
}

async function syncFolder(place: string): Promise<void> {
  const folder = await open(place, 'r');
  await folder.sync();
  await folder.close();
}

function appending(file: FileHandle): Pick<PermitJournal, 'append' | 'close'> {
  const writer = randomUUID();
  let number = 0;
  let previous = '';
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  let broken: unknown = null;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const now = waiting;
      waiting = [];
      try {
        // A chain with a hole in it is not gone on with.
        if (broken !== null) throw broken;
        // The first line break ends what a killed process may have left half-written.
        await file.appendFile(`\n${now.map(({ text }) => text).join('\n')}\n`);
        await file.datasync();
        for (const one of now) one.done();
      } catch (error) {
        broken = error;
        for (const one of now) one.failed(error);
      }
    }
    flushing = null;
  };
  return {
    append: (line) => {
      number += 1;
      const body = { writer, number, at: new Date().toISOString(), ...line, previous };
      previous = digest(JSON.stringify(body));
      const text = JSON.stringify({ ...body, digest: previous });
      return new Promise((done, failed) => {
        waiting.push({ text, done, failed });
        flushing ??= flush();
      });
    },
    close: async () => {
      await flushing;
      await file.close();
    },
  };
}

async function readFrom(
  path: string,
  from: number,
  ignoreBefore: Date | null,
): Promise<JournalReading> {
  const { size } = await stat(path);
  const reading: JournalReading = { permits: [], bytes: from, damage: null };
  if (size < from) return { ...reading, damage: `it is shorter than it was (${size} of ${from})` };
  const last = new Map<string, { number: number; digest: string }>();
  for await (const { text, bytes } of wholeLines(path, from, size)) {
    reading.bytes += bytes;
    const line = lineOf(text);
    // Half a line is what a process left that died before its permit was worth anything.
    if (line === null) continue;
    const at = new Date(line.at);
    const before = last.get(line.writer);
    last.set(line.writer, line);
    if (ignoreBefore !== null && at <= ignoreBefore) continue;
    const follows = before
      ? line.number === before.number + 1 && line.previous === before.digest
      : from > 0 || line.number === 1;
    if (!follows || !isWhole(line)) reading.damage ??= `permit ${line.attemptId} was altered`;
    reading.permits.push({ attemptId: line.attemptId, at });
  }
  return reading;
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
  return digest(JSON.stringify(body)) === claimed;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
