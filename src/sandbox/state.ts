// The folder of a sandbox that remembers: settings.json (which night it was seeded with),
// effects.ndjson (what happened since), sandbox.json (where it listens now), sandbox.lock. Keys are
// never written here: whoever uses the sandbox brings them. Neighbours: server.ts, daemon.ts.

import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { TieoutError, UsageError } from '../core/errors.js';
import type { SeedSettings } from './seed/seedPlan.js';

/** Where a running sandbox can be found. */
interface Listening {
  readonly baseUrl: string;
  readonly pid: number;
}

export interface StateFiles {
  readonly folder: string;
  readonly settings: string;
  readonly effects: string;
  readonly listening: string;
  readonly lock: string;
  readonly log: string;
}

/** The files of a state folder, which is made where it is missing. */
export function stateFiles(stateDir: string): StateFiles {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const folder = realpathSync(stateDir);
  return {
    folder,
    settings: join(folder, 'settings.json'),
    effects: join(folder, 'effects.ndjson'),
    listening: join(folder, 'sandbox.json'),
    lock: join(folder, 'sandbox.lock'),
    log: join(folder, 'sandbox.log'),
  };
}

/** Seeds a state folder; a folder that was seeded differently is refused, the same is fine. */
export function writeSandboxSettings(stateDir: string, settings: SeedSettings): void {
  const files = stateFiles(stateDir);
  const text = `${JSON.stringify(settingsDocument(settings), null, 2)}\n`;
  if (!existsSync(files.settings)) {
    replaceFile(files.settings, text);
  } else if (readFileSync(files.settings, 'utf8') !== text) {
    throw new UsageError(`${files.folder} holds another night: take another folder or remove it`);
  }
}

/** The night that a state folder was seeded with; null: none yet. */
export function readSandboxSettings(stateDir: string): SeedSettings | null {
  const { settings: file } = stateFiles(stateDir);
  if (!existsSync(file)) return null;
  try {
    const { orders, seed, dayStart, dayEnd, accounts } = JSON.parse(readFileSync(file, 'utf8'));
    return { orders, seed, dayStart: new Date(dayStart), dayEnd: new Date(dayEnd), accounts };
  } catch (error) {
    throw new TieoutError(`${file} is damaged`, { cause: error });
  }
}

export function writeListening(files: StateFiles, listening: Listening): void {
  replaceFile(files.listening, `${JSON.stringify(listening)}\n`);
}

export function readListening(files: StateFiles): Listening | null {
  try {
    const read: unknown = JSON.parse(readFileSync(files.listening, 'utf8'));
    if (read === null || typeof read !== 'object') return null;
    if (!('baseUrl' in read) || typeof read.baseUrl !== 'string') return null;
    if (!('pid' in read) || typeof read.pid !== 'number') return null;
    return { baseUrl: read.baseUrl, pid: read.pid };
  } catch {
    return null;
  }
}

export function removeListening(files: StateFiles): void {
  if (readListening(files)?.pid === process.pid) rmSync(files.listening, { force: true });
}

function settingsDocument({ orders, seed, dayStart, dayEnd, accounts }: SeedSettings): unknown {
  const ids = accounts.map(({ merchantId, accountId }) => ({ merchantId, accountId }));
  const [from, to] = [dayStart.toISOString(), dayEnd.toISOString()];
  return { orders, seed, dayStart: from, dayEnd: to, accounts: ids };
}

/** A reader sees the old file or the new one, never half of it. */
function replaceFile(path: string, text: string): void {
  const half = `${path}.${process.pid}`;
  writeFileSync(half, text, { mode: 0o600 });
  renameSync(half, path);
}
