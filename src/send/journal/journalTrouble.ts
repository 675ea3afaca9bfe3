// A journal of permits that cannot be written, in one sentence wherever it is met: nothing is sent
// without it. The names of its files are no part of it, so that one cause is one reason.
// Neighbours: permitJournal.ts meets it, doctor and `brake status` ask before a night does.

import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, TieoutError, unwritableWords } from '../../core/errors.js';

/** Its message is the whole reason why nothing was sent. */
export class JournalError extends TieoutError {}

export function journalFolder(dataDir: string): string {
  return join(dataDir, 'journal');
}

/** The same error where it is another one. */
export function inJournalWords(place: string, error: unknown): unknown {
  const words = unwritableWords(`the journal of permits at ${place}`, error);
  return words === null ? error : new JournalError(words, { cause: error });
}

/** Why a line of it was not written, as it stands on record beside what was not sent. */
export function notWritten(error: unknown): string {
  if (error instanceof JournalError) return error.message;
  return `the journal of permits cannot be written: ${messageOf(error)}`;
}

/** Whether this process can send from here, as far as its journal goes; null: it can. */
export function journalTrouble(dataDir: string): string | null {
  const place = journalFolder(dataDir);
  return unwritableWords(`the journal of permits at ${place}`, whyUnwritable(place));
}

/** What comes of making a file in a folder, which is taken away again; null: nothing came of it. */
export function whyUnwritable(folder: string): unknown {
  try {
    // What is not there yet is made by whoever needs it first.
    if (!existsSync(folder)) accessSync(firstThere(folder), constants.W_OK);
    else tryIn(folder);
    return null;
  } catch (error) {
    return error;
  }
}

function tryIn(folder: string): void {
  const path = join(folder, `.tieout-${randomUUID()}`);
  try {
    writeFileSync(path, 'x'.repeat(TRIED_BYTES), { flag: 'wx', mode: 0o600, flush: true });
  } finally {
    rmSync(path, { force: true });
  }
}

const TRIED_BYTES = 4_096;

/** The folder itself, or the one that it will be made in. */
export function firstThere(path: string): string {
  return existsSync(path) ? path : firstThere(dirname(path));
}
