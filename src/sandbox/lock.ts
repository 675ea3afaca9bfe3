// One sandbox a state folder: a lock file that names its holder. A holder that was killed leaves
// the file behind; whoever comes next sees that the process is gone and takes over, one at a time.
// It must never take a lock from a living process. Used by state.ts alone.

import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS_MAX = 100;
const RETRY_MS = 50;

interface Holder {
  readonly pid: number;
  /** When the process began, so that a number used again is not taken for the holder. */
  readonly began: string | null;
}

export type Held = { readonly kind: 'held'; release(): void } | { kind: 'taken'; pid: number };

/** Takes the lock at once, or says who lives and has it. */
export async function holdLock(path: string): Promise<Held> {
  const own = `${path}.${process.pid}`;
  const holder: Holder = { pid: process.pid, began: beganAt(process.pid) };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
    try {
      if (linked(own, path)) return { kind: 'held', release: () => release(path) };
      const other = holderOf(path);
      if (other !== null && lives(other)) return { kind: 'taken', pid: other.pid };
      if (takeOver(own, path)) return { kind: 'held', release: () => release(path) };
    } finally {
      removeFile(own);
    }
    await sleep(RETRY_MS);
  }
  throw new Error(`${path}: could not be taken over from a process that has ended`);
}

/** Replaces the lock of a dead holder, under a second lock so that only one does it. */
function takeOver(own: string, path: string): boolean {
  const guard = `${path}.takeover`;
  if (!linked(own, guard)) {
    const other = holderOf(guard);
    if (other !== null && !lives(other)) removeFile(guard);
    return false;
  }
  try {
    const dead = holderOf(path);
    if (dead !== null && lives(dead)) return false;
    renameSync(own, path);
    return true;
  } finally {
    removeFile(guard);
  }
}

function release(path: string): void {
  if (holderOf(path)?.pid === process.pid) removeFile(path);
}

/** Creates a name together with its content: a reader never sees an empty lock. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function holderOf(path: string): Holder | null {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (read === null || typeof read !== 'object' || !('pid' in read)) return null;
    const began = 'began' in read && typeof read.began === 'string' ? read.began : null;
    return typeof read.pid === 'number' ? { pid: read.pid, began } : null;
  } catch {
    return null;
  }
}

function lives({ pid, began }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!isCode(error, 'EPERM')) return false;
  }
  return began === null || began === beganAt(pid);
}

/** The kernel's start time of a process where it tells one (Linux). */
function beganAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
