// The journal of permits: local files in which every permit is on disk before the first byte of its
// batch leaves. They know what a database that failed over, or was restored, has forgotten. Many
// processes append at once: a line is one write, chained to the line before it of the same process,
// and concurrent senders share one wait for the disk. A file that is full is followed by the next.
// Neighbours: permitSegments.ts reads and removes them, journalsStore.ts holds them against the
// database, send/journal/journalGuard.ts decides.

import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mark } from './journalMark.js';
import { keepMark, readMark } from './journalMark.js';
import { inJournalWords, journalFolder, whyUnwritable } from './journalTrouble.js';
import type { JournalPosition, JournalReading, LostPermit, PermitLine } from './permitSegments.js';
import {
  findPermits,
  newestSegment,
  readSegments,
  removeSegments,
  segmentPath,
} from './permitSegments.js';

export interface PermitJournal {
  journalId: string;
  place: string;
  /** Resolves when the line is on disk; rejects when it is not, and then nothing may be sent. */
  append(line: PermitLine): Promise<void>;
  /** Rejects as `append` would: an empty line is written, by the same pen. */
  tryOut(): Promise<void>;
  /** The permits behind a position (null: all there are) that were given after a time. */
  read(from: JournalPosition | null, after: Date | null): Promise<JournalReading>;
  /** The lines of these permits. */
  find(permitIds: ReadonlySet<string>): Promise<LostPermit[]>;
  /** The newest sign of life that the database has acknowledged; null: there is none. */
  mark(): Mark | null;
  keepMark(mark: Mark): void;
  /** Removes what lies before a position that the database knows, and is old. */
  removeBefore(position: JournalPosition, now: Date): Promise<void>;
  close(): Promise<void>;
}

/** A file that holds more is followed by the next one. */
const SEGMENT_BYTES_MAX = 16 << 20;

interface Waiting {
  text: string;
  done: () => void;
  failed: (error: unknown) => void;
}

/** Opens the journal of this host under the data folder; makes one where there is none. */
export async function openPermitJournal(
  dataDir: string,
  bytesMax = SEGMENT_BYTES_MAX,
): Promise<PermitJournal> {
  const place = journalFolder(dataDir);
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const journalId = identityIn(place);
    const pen = openPen(place, bytesMax);
    await pen.file();
    return {
      ...shownJournal(place, journalId),
      ...appending(pen, place),
      find: (permitIds) => findPermits(place, permitIds),
      keepMark: (mark) => {
        try {
          keepMark(place, mark);
        } catch (error) {
          throw inJournalWords(place, error);
        }
      },
      removeBefore: (position, now) => removeSegments(place, position, now),
    };
  } catch (error) {
    // Making a folder where nothing can be made is answered as if one above it were missing.
    throw inJournalWords(place, whyUnwritable(place) ?? error);
  }
}

/** A journal as somebody sees it who writes nothing. */
export type ShownJournal = Pick<PermitJournal, 'journalId' | 'place' | 'read' | 'mark'>;

function shownJournal(place: string, journalId: string): ShownJournal {
  return {
    journalId,
    place,
    read: (from, after) => readSegments(place, from, after),
    mark: () => readMark(place),
  };
}

/** The id of a journal that is not there: no journal has it. */
const NO_JOURNAL = '00000000-0000-0000-0000-000000000000';

/** The journal of this host as it is; where there is none, one without a permit. */
export function showPermitJournal(dataDir: string): ShownJournal & { isThere: boolean } {
  const place = journalFolder(dataDir);
  if (existsSync(identityPath(place))) {
    return { ...shownJournal(place, readIdentity(place)), isThere: true };
  }
  const read = async (): Promise<JournalReading> => {
    return { permits: [], position: { segment: 0, bytes: 0 }, damage: null };
  };
  return { journalId: NO_JOURNAL, place, read, mark: () => null, isThere: false };
}

/** The id of the journal, made once and whole, whoever of many comes first. */
function identityIn(place: string): string {
  const path = identityPath(place);
  if (existsSync(path)) return readIdentity(place);
  const draft = join(place, `journal.${randomUUID()}.new`);
  const text = `${JSON.stringify({ journalId: randomUUID() })}\n`;
  try {
    // On a full disk it is made and stays empty.
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readIdentity(place);
}

function identityPath(place: string): string {
  return join(place, 'journal.json');
}

function readIdentity(place: string): string {
  const text = readFileSync(identityPath(place), 'utf8');
  return (JSON.parse(text) as { journalId: string }).journalId;
}

interface Pen {
  /** The file to write to now: the newest that has room. */
  file(): Promise<FileHandle>;
  drop(): Promise<void>;
}

/**
 * Whoever writes looks first whether the file is full: all go on to the next one together. A line
 * that a sleeper adds to an old file all the same is found there, and is worth nothing: its budget
 * is used up.
 */
function openPen(place: string, bytesMax: number): Pen {
  let held: { number: number; file: FileHandle } | null = null;
  const drop = async (): Promise<void> => {
    const before = held;
    held = null;
    await before?.file.close().catch(() => {});
  };
  const file = async (): Promise<FileHandle> => {
    for (;;) {
      held ??= await openSegment(place, Math.max(0, await newestSegment(place)));
      if (fstatSync(held.file.fd).size < bytesMax) return held.file;
      const next = held.number + 1;
      await drop();
      held = await openSegment(place, next);
    }
  };
  return { file, drop };
}

async function openSegment(place: string, number: number) {
  const file = await open(segmentPath(place, number), 'a', 0o600);
  if ((await file.stat()).size === 0) await syncFolder(place);
  return { number, file };
}

async function syncFolder(place: string): Promise<void> {
  const folder = await open(place, 'r');
  await folder.sync();
  await folder.close();
}

interface Chain {
  writer: string;
  number: number;
  previous: string;
}

const newChain = (): Chain => ({ writer: randomUUID(), number: 0, previous: '' });

function appending(pen: Pen, place: string): Pick<PermitJournal, 'append' | 'tryOut' | 'close'> {
  let chain = newChain();
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const now = waiting;
      waiting = [];
      try {
        const file = await pen.file();
        // Only the wait for the disk is left to another thread.
        // The first line break ends what a killed process may have left half-written.
        appendFileSync(file.fd, `\n${now.map(({ text }) => text).join('\n')}\n`);
        await file.datasync();
        for (const one of now) one.done();
      } catch (error) {
        // What came after is chained to what was lost, and lost with it; then a new chain begins.
        const lost = [...now, ...waiting];
        waiting = [];
        chain = newChain();
        await pen.drop();
        const failure = inJournalWords(place, error);
        for (const one of lost) one.failed(failure);
      }
    }
    flushing = null;
  };
  const write = (text: string): Promise<void> =>
    new Promise((done, failed) => {
      waiting.push({ text, done, failed });
      flushing ??= flush();
    });
  return {
    tryOut: () => write(''),
    append: (line) => {
      chain.number += 1;
      const { writer, number, previous } = chain;
      const body = { writer, number, at: new Date().toISOString(), ...line, previous };
      chain.previous = digest(JSON.stringify(body));
      return write(JSON.stringify({ ...body, digest: chain.previous }));
    },
    close: async () => {
      await flushing;
      await pen.drop();
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
