// Where a file of the inbox goes once it was looked at, and the reason beside what was refused.
// Whoever may put files into the inbox may put links and folders there as well: nothing is
// followed, nothing is written over, and a folder of somebody else takes nothing of ours.
// Neighbour: inbox.ts says what goes where.

import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../core/errors.js';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const MODE = 0o700;
const REASON = '.reason.txt';
const WARNINGS = '.warnings.txt';

export type Taken =
  | { kind: 'done'; words: string; warnings: readonly string[] }
  | { kind: 'refused'; words: string };

/** Throws an InputError where the folder is none, or another account's: the file stays. */
export async function putAway(inbox: string, name: string, taken: Taken): Promise<void> {
  const path = join(inbox, taken.kind);
  await mkdir(path, { mode: MODE }).catch(unlessThere);
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR' || error.code === 'ELOOP') throw foreign(path, 'is no folder');
      throw error;
    },
  );
  try {
    const { uid } = await folder.stat();
    if (!(await isOurs(inbox, uid))) throw foreign(path, 'belongs to another account');
    // The one that was looked at, also where its name leads to another one by now.
    const opened = `/proc/self/fd/${folder.fd}`;
    const inside = existsSync(opened) ? opened : path;
    const there = new Set(await readdir(inside));
    const isTaken = (one: string) => ['', REASON, WARNINGS].some((end) => there.has(one + end));
    let free = name;
    for (let count = 2; isTaken(free); count += 1) free = `${count}-${name}`;
    const note = noteOf(taken);
    const beside = note === null ? null : join(inside, `${free}${note.end}`);
    if (note !== null && beside !== null) {
      await writeFile(beside, `${note.words}\n`, { flag: 'wx', mode: 0o600 });
    }
    await rename(join(inbox, name), join(inside, free)).catch(async (error) => {
      // One that cannot be moved comes again at each look.
      if (beside !== null) await rm(beside, { force: true });
      throw error;
    });
  } finally {
    await folder.close();
  }
}

/** What is written beside the file, for who comes to look. */
function noteOf(taken: Taken): { end: string; words: string } | null {
  if (taken.kind === 'refused') return { end: REASON, words: taken.words };
  if (taken.warnings.length === 0) return null;
  return { end: WARNINGS, words: taken.warnings.join('\n') };
}

/** Root's too; and a share may have a name of its own for us: that of a folder made just now. */
async function isOurs(inbox: string, uid: number): Promise<boolean> {
  if (uid === 0 || uid === process.geteuid?.()) return true;
  const probe = join(inbox, `.tieout-${randomUUID()}`);
  await mkdir(probe, { mode: MODE });
  try {
    return (await lstat(probe)).uid === uid;
  } finally {
    await rmdir(probe);
  }
}

function foreign(path: string, what: string): InputError {
  return new InputError(
    `${path} ${what}: nothing is put there. Look who made it, and remove it; tieout makes its own`,
  );
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
