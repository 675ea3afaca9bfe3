// A backup on disk: a folder with one compressed file a table and a manifest that bears the digest
// of each. Written beside its name and renamed, so that no half backup ever bears the name of a
// whole one; read only after every digest was checked. Neighbours: backupStore.ts fills it,
// restoreStore.ts reads it.

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { InputError, UsageError } from '../core/errors.js';

export interface BackupTable {
  /** schema and name */
  table: string;
  columns: string[];
  rows: number;
  file: string;
  bytes: number;
  sha256: string;
}

export interface BackupManifest {
  format: typeof FORMAT;
  /** the moment that all of it shows, by the database's clock */
  takenAt: string;
  version: string;
  migrations: string[];
  /** the first day of each month that the snapshots are in; an old backup has none */
  months?: string[];
  tables: BackupTable[];
  sequences: { sequence: string; lastValue: string }[];
  /** views that a merchant put in place of tables of the ledger: their rows live elsewhere */
  views: string[];
}

export const FORMAT = 'tieout backup 1';
const MANIFEST = 'manifest.json';
const MANIFEST_BYTES_MAX = 16 << 20;

/** Makes the folder by `fill`, which gets a draft of it; all of it or nothing. */
export async function writeBackup(
  folder: string,
  fill: (draft: string) => Promise<BackupManifest>,
): Promise<{ manifest: BackupManifest; sha256: string }> {
  const place = resolve(folder);
  if (existsSync(place))
    throw new UsageError(`${place} is there already; a backup takes a new name`);
  const draft = `${place}.partial-${process.pid}`;
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const manifest = await fill(draft);
    const text = `${JSON.stringify(manifest, null, 1)}\n`;
    const file = await open(join(draft, MANIFEST), 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(draft);
    await rename(draft, place);
    await syncFolder(dirname(place));
    return { manifest, sha256: createHash('sha256').update(text).digest('hex') };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Compresses a stream of rows, as COPY gives them, into a file that is on disk when this resolves.
 * Rows are counted as they pass: the server's own count comes after the last of them.
 */
export async function writeRows(
  path: string,
  given: Readable,
): Promise<{ rows: number; bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      rows += lineEndsIn(piece);
      yield piece;
    }
  };
  const file: FileHandle = await open(path, 'wx', 0o600);
  try {
    await pipeline(
      given,
      counted,
      createGzip({ level: 1 }),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          hash.update(piece);
          bytes += piece.length;
          await file.write(piece);
        }
      },
    );
    await file.sync();
  } finally {
    await file.close();
  }
  return { rows, bytes, sha256: hash.digest('hex') };
}

const LINE_END = 0x0a;

/** One a row: a line end within a value is written as two characters. */
function lineEndsIn(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(LINE_END); at !== -1; at = piece.indexOf(LINE_END, at + 1)) {
    count += 1;
  }
  return count;
}

/** The manifest of a backup whose every file is what it was when it was written. */
export async function readBackup(
  folder: string,
): Promise<{ manifest: BackupManifest; sha256: string }> {
  const { manifest, sha256 } = await readManifest(folder);
  for (const { table, file, sha256: wanted } of manifest.tables) {
    const found = await digestOf(join(folder, file)).catch(() => null);
    if (found !== wanted) {
      const what = found === null ? 'is missing' : 'is not what was written';
      throw new InputError(`${join(folder, file)} (${table}) ${what}: this backup is damaged`);
    }
  }
  return { manifest, sha256 };
}

async function readManifest(folder: string): Promise<{ manifest: BackupManifest; sha256: string }> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path).catch(() => null);
  if (text === null) throw new InputError(`${folder} is no backup: it has no ${MANIFEST}`);
  const sha256 = createHash('sha256').update(text).digest('hex');
  try {
    if (text.length > MANIFEST_BYTES_MAX) throw new Error('too long');
    const manifest = JSON.parse(text.toString('utf8')) as BackupManifest;
    if (manifest.format === FORMAT) return { manifest, sha256 };
  } catch (cause) {
    throw new InputError(`${path} cannot be read`, { cause });
  }
  throw new InputError(`${path}: not a backup that this version can read`);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** The rows of a table as they were written, as text for COPY; checked once more as they pass. */
export async function* rowsOf(folder: string, table: BackupTable): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const checked = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      hash.update(piece);
      done(null, piece);
    },
  });
  const rows = createGunzip();
  const reading = pipeline(createReadStream(join(folder, table.file)), checked, rows);
  // Where it fails, the loop below throws.
  reading.catch(() => {});
  rows.setEncoding('utf8');
  for await (const piece of rows) yield piece as string;
  if (hash.digest('hex') !== table.sha256) {
    throw new InputError(`${table.file} (${table.table}) changed while it was read`);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync();
  await handle.close();
}
