// Who this process is, exact enough that a later process with the same pid is told apart, and
// whether another one still lives. Knows only this machine: of other hosts it says nothing.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { processBirth } from './store/postmaster.js';
import type { Runner } from './store/runs.js';
import { packageRoot } from './store/sql.js';

export function thisProcess(id: string): Runner {
  return {
    id,
    host: hostname(),
    boot: bootId(),
    pid: process.pid,
    started: processBirth(process.pid),
  };
}

/** false: surely gone; true: alive; null: it ran on a host that cannot be asked from here. */
export function isAlive(runner: Omit<Runner, 'id'>): boolean | null {
  if (runner.host !== hostname()) return null;
  // Without a boot id two boots cannot be told apart, and the birth of the process has to do.
  if (runner.boot !== bootId()) return false;
  return processBirth(runner.pid) === runner.started && runner.started !== '';
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

/** The version that this process runs. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
