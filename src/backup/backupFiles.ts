// A backup on disk: a folder with one compressed file a table and a manifest that bears the digest
// of each. Written beside its name and renamed, so that no half backup ever bears the name of a
// whole one; read only after every digest was checked. Neighbours: backupStore.ts fills it,
// restoreStore.ts reads it.

import { type CipherGCM, createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readFile, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { InputError, UsageError } from '../core/errors.js';
import type { BackupKey, Sealing } from './backupKey.js';
import { sameCode, TAG_BYTES } from './backupKey.js';
import type { BackupManifest, BackupTable } from './manifest.js';
import { checkManifest } from './manifest.js';

/** The key of an encrypted backup, and what its manifest says of it. */
export interface Seal {
  key: BackupKey;
  sealing: Sealing;
}

const MANIFEST = 'manifest.json';
/** Beside the manifest of an encrypted backup: that who holds the key wrote it. */
const CODE = 'manifest.code';
const MANIFEST_BYTES_MAX = 16 << 20;
const CODE_BYTES_MAX = 4_096;

/** Makes the folder by `fill`, which gets a draft of it; all of it or nothing. */
export async function writeBackup(
  folder: string,
  key: BackupKey | null,
  fill: (draft: string, seal: Seal | null) => Promise<BackupManifest>,
): Promise<{ manifest: BackupManifest; sha256: string }> {
  const place = resolve(folder);
  if (existsSync(place))
    throw new UsageError(`${place} is there already; a backup takes a new name`);
  const draft = `${place}.partial-${process.pid}`;
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const seal = key && { key, sealing: key.newSealing() };
    const manifest = await fill(draft, seal);
    const text = `${JSON.stringify(manifest, null, 1)}\n`;
    await writeWhole(join(draft, MANIFEST), text);
    if (seal !== null) {
      const code = seal.key.codeOf(seal.sealing, Buffer.from(text));
      await writeWhole(join(draft, CODE), `${code}\n`);
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

async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Compresses a stream of rows, as COPY gives them, into a file that is on disk when this resolves.
 * Rows are counted as they pass: the server's own count comes after the last of them.
 */
export async function writeRows(
  path: string,
  given: Readable,
  cipher: CipherGCM | null = null,
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
      (pieces: AsyncIterable<Buffer>) => sealed(pieces, cipher),
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

async function* sealed(
  pieces: AsyncIterable<Buffer>,
  cipher: CipherGCM | null,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield cipher === null ? piece : cipher.update(piece);
  if (cipher === null) return;
  yield cipher.final();
  yield cipher.getAuthTag();
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

/**
 * The manifest of a backup whose every file is what it was when it was written; with a key, also
 * written by who holds that key.
 */
export async function readBackup(
  folder: string,
  key: BackupKey | null,
): Promise<{ manifest: BackupManifest; sha256: string }> {
  const { manifest, sha256 } = await readManifest(folder, key);
  for (const { table, file, bytes, sha256: wanted } of manifest.tables) {
    const found = await digestOf(join(folder, file), bytes).catch(() => null);
    if (found !== wanted) {
      const what = found === null ? 'is missing' : 'is not what was written';
      throw new InputError(`${join(folder, file)} (${table}) ${what}: this backup is damaged`);
    }
  }
  return { manifest, sha256 };
}

async function readManifest(
  folder: string,
  key: BackupKey | null,
): Promise<{ manifest: BackupManifest; sha256: string }> {
  const path = join(folder, MANIFEST);
  const text = await readSmall(path, MANIFEST_BYTES_MAX);
  if (text === null) throw new InputError(`${folder} is no backup: it has no ${MANIFEST}`);
  const read = checkManifest(parsed(path, text));
  if (read.kind === 'refused') {
    const where = read.at === '' ? '' : ` (${read.at})`;
    throw new InputError(`${path}${where}: not a backup that this version can read`);
  }
  const { manifest } = read;
  const { sealing } = manifest;
  if (sealing === undefined && key !== null) {
    throw new InputError(`${path} bears no code of a key: whoever had the folder can have made it`);
  }
  if (sealing !== undefined) await checkCode(folder, { sealing, key, text });
  return { manifest, sha256: createHash('sha256').update(text).digest('hex') };
}

/** Null: it is not there, is a pipe or a link of whoever made the folder, or is too long. */
async function readSmall(path: string, bytesMax: number): Promise<Buffer | null> {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() === true && found.size <= bytesMax ? readFile(path) : null;
}

function parsed(path: string, text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch (cause) {
    throw new InputError(`${path} cannot be read`, { cause });
  }
}

async function checkCode(
  folder: string,
  { sealing, key, text }: { sealing: Sealing; key: BackupKey | null; text: Buffer },
): Promise<void> {
  const by = `the key ${sealing.keyMark}`;
  if (key === null) throw new InputError(`${folder} is encrypted by ${by}: give --key-file`);
  if (key.mark !== sealing.keyMark) {
    throw new InputError(`${folder} is encrypted by ${by}, not by this key (${key.mark})`);
  }
  const code = (await readSmall(join(folder, CODE), CODE_BYTES_MAX))?.toString('utf8') ?? '';
  if (sameCode(code, key.codeOf(sealing, text))) return;
  throw new InputError(`${join(folder, MANIFEST)} was altered by somebody without the key`);
}

/** Of a file of this size; null where it has another one. */
async function digestOf(path: string, bytes: number): Promise<string | null> {
  const found = await lstat(path);
  if (!found.isFile()) return null;
  if (found.size !== bytes) return '';
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** The rows of a table as they were written, as text for COPY; checked once more as they pass. */
export async function* rowsOf(
  folder: string,
  table: BackupTable,
  { manifest, key }: { manifest: BackupManifest; key: BackupKey | null },
): AsyncGenerator<string> {
  const { sealing } = manifest;
  const hash = createHash('sha256');
  const path = join(folder, table.file);
  const isSealed = sealing !== undefined && key !== null;
  const decipher = isSealed ? key.decrypt(sealing, table.file) : null;
  if (decipher !== null && table.bytes < TAG_BYTES) throw damaged(table);
  const end = decipher === null ? table.bytes : table.bytes - TAG_BYTES;
  const opened = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      yield decipher === null ? piece : decipher.update(piece);
    }
    if (decipher === null) return;
    const tag = await readFrom(path, end);
    hash.update(tag);
    decipher.setAuthTag(tag);
    yield decipher.final();
  };
  const rows = createGunzip();
  const source = createReadStream(path, end === 0 ? {} : { end: end - 1 });
  const reading = pipeline(source, opened, rows);
  // Where it fails, the loop below throws.
  reading.catch(() => {});
  rows.setEncoding('utf8');
  let lines = 0;
  for await (const piece of rows) {
    lines += lineEndsIn(Buffer.from(piece as string));
    // A small file can unfold into any number of rows.
    if (lines > table.rows) throw new InputError(`${table.file}: more rows than ${table.rows}`);
    yield piece as string;
  }
  if (hash.digest('hex') !== table.sha256) throw damaged(table);
}

function damaged({ file, table }: BackupTable): InputError {
  return new InputError(`${file} (${table}) changed while it was read`);
}

async function readFrom(path: string, start: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(path, { start })) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync();
  await handle.close();
}
