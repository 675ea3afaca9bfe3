// Raw answers on the local disk until the database has them: an outage between the answer and its
// commit, or the death of this process, loses nothing. One file an answer; whoever recovers brings
// them in, and puts aside what a host that went down left of one. Neighbours: attemptsStore.ts
// stores answers, send/recoverAttempts.ts calls `bringIn`.

import { mkdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '../../database/db.js';
import type { StoredAnswer } from '../batches/attemptsStore.js';
import { endedAttempts, storeAnswer } from '../batches/attemptsStore.js';
import { unknownPermits } from './journalsStore.js';

export interface AnswerSpool {
  /** Keeps the answer here, where it outlives this process; in the database if the disk refuses. */
  keep(db: Db, attemptId: string, answer: StoredAnswer): Promise<HeldAnswer>;
  /** Stores what an earlier process left behind. */
  bringIn(db: Db): Promise<BroughtIn>;
}

interface BroughtIn {
  stored: number;
  /** files that were put aside, never written whole, although what became of it is on record */
  torn: readonly string[];
  /** files that the disk does not let go, although the database has them; each is told once */
  stuck: readonly string[];
}

/** An answer that was kept before anybody read it. */
interface HeldAnswer {
  /** what the database has yet to store; null: nothing */
  toStore: StoredAnswer | null;
  /** Runs what stores it; from then on the database has it, and the file goes. */
  during<T>(storing: () => Promise<T>): Promise<T>;
}

const FILE = /^([0-9a-f-]{36})\.json$/;
const ANSWERS_AT_ONCE = 1_000;

export function openAnswerSpool(dataDir: string): AnswerSpool {
  const place = join(dataDir, 'journal', 'answers');
  const pathOf = (attemptId: string): string => join(place, `${attemptId}.json`);
  const told = new Set<string>();
  return {
    keep: async (db, attemptId, answer) => {
      const path = pathOf(attemptId);
      if (writeDown(place, path, answer)) {
        return { toStore: answer, during: (storing) => storedBy(path, storing) };
      }
      await storeAnswer(db, attemptId, answer);
      remove(path);
      return { toStore: null, during: (storing) => storing() };
    },
    bringIn: async (db) => {
      let stored = 0;
      const names = await readdir(place).catch(() => []);
      const attemptIds = names.flatMap((name) => FILE.exec(name)?.[1] ?? []);
      if (attemptIds.length === 0) return { stored, torn: [], stuck: [] };
      // A database that has lost the attempt has no place for its answer: the file stays, as proof.
      const lost = new Set(await unknownPermits(db, attemptIds));
      const known = attemptIds.filter((attemptId) => !lost.has(attemptId));
      const inPart: string[] = [];
      const stuck: string[] = [];
      for (const attemptId of known.slice(0, ANSWERS_AT_ONCE)) {
        const read = await readBack(pathOf(attemptId));
        if (read.kind === 'in_part') inPart.push(attemptId);
        if (read.kind !== 'whole') continue;
        if (await storeAnswer(db, attemptId, read.answer)) stored += 1;
        if (!remove(pathOf(attemptId))) stuck.push(pathOf(attemptId));
      }
      const news = stuck.filter((path) => !told.has(path));
      for (const path of news) told.add(path);
      return { stored, torn: await putAside(db, inPart, pathOf), stuck: news };
    },
  };
}

/** Whoever still writes an answer does so within less; one that sleeps longer is long given up. */
const WRITTEN_WITHIN_MS = 60_000;

/**
 * Of an attempt that has its outcome, and of an answer that nobody writes on. What there is of it
 * stays, under a name by which it is not read again.
 */
async function putAside(
  db: Db,
  inPart: readonly string[],
  pathOf: (attemptId: string) => string,
): Promise<string[]> {
  if (inPart.length === 0) return [];
  const ended = await endedAttempts(db, inPart);
  const torn = await Promise.all(
    ended.map(async (attemptId) => {
      const { kind } = await readBack(pathOf(attemptId));
      return kind === 'in_part' ? [pathOf(attemptId)] : [];
    }),
  );
  return torn.flat().flatMap((path) => {
    const aside = `${path}.torn`;
    try {
      if (Date.now() - statSync(path).mtimeMs < WRITTEN_WITHIN_MS) return [];
      renameSync(path, aside);
      return [aside];
    } catch {
      // Another process has put it aside, and tells of it; or the disk refuses, until it does not.
      return [];
    }
  });
}

async function storedBy<T>(path: string, storing: () => Promise<T>): Promise<T> {
  let stored: T;
  try {
    stored = await storing();
  } catch (error) {
    // A killed process leaves the file to the kernel; a host that goes down would not.
    await onDisk(path).catch(() => {});
    throw error;
  }
  remove(path);
  return stored;
}

async function onDisk(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync().finally(() => file.close());
}

/**
 * Of what the database has by now; false where the disk refuses, which ends nothing: it is stored
 * once, however often it is brought in. `rm` of node would look at the file first.
 */
function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * False where the disk refuses: then the database alone has to do. Nothing waits for the disk here,
 * and to have another thread write it takes longer than to write it.
 */
function writeDown(place: string, path: string, answer: StoredAnswer): boolean {
  const text = JSON.stringify({ ...answer, body: answer.body.toString('base64') });
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

type Read =
  | { kind: 'whole'; answer: StoredAnswer }
  /** it is being written, or was never whole */
  | { kind: 'in_part' }
  | { kind: 'gone' };

async function readBack(path: string): Promise<Read> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return { kind: 'gone' };
  try {
    const answer = JSON.parse(text) as StoredAnswer & { body: string };
    return { kind: 'whole', answer: { ...answer, body: Buffer.from(answer.body, 'base64') } };
  } catch {
    return { kind: 'in_part' };
  }
}
