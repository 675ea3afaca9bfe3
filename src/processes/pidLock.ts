// A lock file between processes of one machine that names its holder: who starts or stops the
// embedded server does it alone, and a sandbox has its folder to itself. A holder that was killed
// leaves the file behind; whoever comes next sees that the process is gone and takes over, one at a
// time. It must never take a lock from a living process. Neighbour: identity.ts says who lives.

import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../core/errors.js';
import { isAlive, type ProcessMark, thisProcess } from './identity.js';

const POLL_MS = 25;
const WAIT_CAP_MS = 180_000;
/** A lock of a dead holder is mostly had at the second try. */
const TRIES_MAX = 200;
/** Holders on another host (a shared volume) cannot be asked; what is waited for is short. */
const FOREIGN_STALE_MS = 300_000;
/** Clearing takes microseconds; a guard this old was left by a killed process. */
const GUARD_STALE_MS = 10_000;

/** No link is followed, and a pipe that somebody put there is not waited for. */
const PLAINLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

let claims = 0;

/** Runs the work while holding the lock; waits for a living holder, clears away a dead one. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(WAIT_CAP_MS);
  // Looking is cheaper than trying, which matters to a hundred waiters.
  while (existsSync(file) || !claim(file)) {
    if (isStale(file)) clearStale(file);
    await sleep(POLL_MS);
    if (deadline.aborted) throw new UnreachableError(`${file} is held by ${read(file)?.pid}`);
  }
  try {
    return await work();
  } finally {
    release(file);
  }
}

export type Held = { readonly kind: 'held'; release(): void } | { kind: 'taken'; pid: number };

/** Takes the lock for as long as this process likes, or says at once who lives and has it. */
export async function holdLock(file: string): Promise<Held> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (claim(file)) return { kind: 'held', release: () => release(file) };
    const holder = read(file);
    if (holder !== null && !isStale(file)) return { kind: 'taken', pid: holder.pid };
    clearStale(file);
    await sleep(POLL_MS);
  }
  throw new Error(`${file}: could not be taken over from a process that has ended`);
}

/** Links a finished file into place, so that no reader ever sees a lock half written. */
function claim(file: string): boolean {
  claims += 1;
  const draft = `${file}.${process.pid}-${claims}`;
  // What lies there under this name is nobody's draft, and may be a link of somebody else.
  rmSync(draft, { force: true });
  try {
    // On a full disk it is made and stays empty.
    writeFileSync(draft, JSON.stringify(thisProcess()), { mode: 0o644, flag: 'wx' });
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function release(file: string): void {
  if (read(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** Only one process at a time clears, and it looks again: a new holder is never cleared away. */
function clearStale(file: string): void {
  const guard = `${file}.clearing`;
  if (ageMs(guard) > GUARD_STALE_MS) rmSync(guard, { force: true });
  if (!claim(guard)) return;
  try {
    if (isStale(file)) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function isStale(file: string): boolean {
  const holder = read(file);
  const isGone = holder === null ? null : isAlive(holder);
  return isGone === null ? ageMs(file) > FOREIGN_STALE_MS : !isGone;
}

function read(file: string): ProcessMark | null {
  try {
    const opened = openSync(file, PLAINLY);
    try {
      return JSON.parse(readFileSync(opened, 'utf8')) as ProcessMark;
    } finally {
      closeSync(opened);
    }
  } catch {
    return null;
  }
}

/** Below zero when there is no such file. */
function ageMs(file: string): number {
  try {
    const touched = statSync(file).mtimeMs;
    return performance.timeOrigin + performance.now() - touched;
  } catch {
    return -1;
  }
}
