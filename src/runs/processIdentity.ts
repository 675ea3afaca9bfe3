// Who this process is, exact enough that a later process with the same pid is told apart, and
// whether another one still lives. Knows only this machine: of other hosts it says nothing.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { processBirth } from '../database/embedded/postmaster.js';
import { packageRoot } from '../database/statements.js';
import type { Runner } from './runsStore.js';

export function thisProcess(id: string): Runner {
  return {
    id,
    host: thisHost(),
    boot: bootId(),
    pid: process.pid,
    started: processBirth(process.pid),
  };
}

/** false: surely gone; true: alive; null: it ran on a host that cannot be asked from here. */
export function isAlive(runner: Omit<Runner, 'id'>): boolean | null {
  if (runner.host !== thisHost()) return null;
  // Without a boot id two boots cannot be told apart, and the birth of the process has to do.
  if (runner.boot !== bootId()) return false;
  return processBirth(runner.pid) === runner.started && runner.started !== '';
}

/** The name, and what tells two machines of one name apart. */
export function thisMachine(): string {
  const id = readText('/etc/machine-id');
  if (id === '') return hostname();
  return `${hostname()}#${createHash('sha256').update(id).digest('hex').slice(0, 8)}`;
}

/**
 * Where the number of a process means something. Two containers of one name on one machine see
 * other processes under the same numbers, and must not call each other's gone.
 */
function thisHost(): string {
  const space = /\d+/.exec(linkOf('/proc/self/ns/pid'))?.[0] ?? '';
  return space === '' || space === OUTERMOST ? thisMachine() : `${thisMachine()}/${space}`;
}

/** The kernel's own number of the space of processes in which it booted. */
const OUTERMOST = '4026531836';

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id') || 'unknown';
}

/** Empty where there is none: not every system tells. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/**
 * How a person calls the program from this folder. `npx` only where it finds this very program:
 * elsewhere it would fetch whatever a registry has under the name.
 */
export function callName(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const linked = existsSync(join(at, 'node_modules', '.bin', 'tieout'));
    if (linked || at === packageRoot()) return 'npx tieout';
    if (at === dirname(at)) return 'tieout';
  }
}

/** The version that this process runs. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
