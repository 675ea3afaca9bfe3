// A lock file between processes of one machine: who starts or stops the embedded server does it
// alone. It owns the proof that a holder is gone; it must never take a lock from a living one.
// Neighbours: embedded.ts holds it, postmaster.ts tells processes apart.

import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../../core/errors.js';
import { processBirth } from './postmaster.js';

const POLL_MS = 25;
const WAIT_CAP_MS = 180_000;
/** Holders on another host (a shared volume) cannot be asked; every hold is far shorter. */
const FOREIGN_STALE_MS = 300_000;
/** Clearing takes microseconds; a guard this old was left by a killed process. */
const GUARD_STALE_MS = 10_000;

interface Holder {
  host: string;
  pid: number;
  birth: string;
}

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
    rmSync(file, { force: true });
  }
}

/** Links a finished file into place, so that no reader ever sees a lock half written. */
function claim(file: string): boolean {
  claims += 1;
  const draft = `${file}.${process.pid}-${claims}`;
  const holder: Holder = { host: hostname(), pid: process.pid, birth: processBirth(process.pid) };
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o644 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
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
  if (holder === null) return ageMs(file) > FOREIGN_STALE_MS;
  if (holder.host !== hostname()) return ageMs(file) > FOREIGN_STALE_MS;
  return processBirth(holder.pid) !== holder.birth;
}

function read(file: string): Holder | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
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

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
