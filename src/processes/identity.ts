// Who this process is, exact enough that a later process with the same pid is told apart, and
// whether another one still lives. Knows only this machine: of other hosts it says nothing.

import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processBirth, readText } from './processFacts.js';

/** A process, exact enough to tell it from a later one of the same pid. */
export interface ProcessMark {
  host: string;
  boot: string;
  pid: number;
  started: string;
}

export function thisProcess(): ProcessMark {
  return {
    host: thisHost(),
    boot: bootId(),
    pid: process.pid,
    started: processBirth(process.pid),
  };
}

/** false: surely gone; true: alive; null: it ran on a host that cannot be asked from here. */
export function isAlive(other: ProcessMark): boolean | null {
  if (other.host !== thisHost()) return null;
  // Without a boot id two boots cannot be told apart, and the birth of the process has to do.
  if (other.boot !== bootId()) return false;
  return processBirth(other.pid) === other.started && other.started !== '';
}

/** The name, and what tells two machines of one name apart. */
export function thisMachine(): string {
  const id = readText('/etc/machine-id').trim();
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
  return readText('/proc/sys/kernel/random/boot_id').trim() || 'unknown';
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
