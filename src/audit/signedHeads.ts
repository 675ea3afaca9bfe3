// Where the chains ended, signed and kept beside the database: one line at the end of each run, and
// one where the database was found to have been put back. Whoever rewrites a chain, cuts it off or
// empties it cannot rewrite these lines without the key, and not those that somebody else has a
// copy of. Neighbours: headsKey.ts has the key, verify/signedHeadsStore.ts compares.

import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, messageOf } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { headsFolder, ownKey } from './headsKey.js';

interface SignedEnd {
  account: string;
  link: string;
  sha256: string;
}

export type SignedWords =
  | {
      kind: 'ends';
      at: string;
      businessDate: string;
      ends: SignedEnd[];
      /** What people decide from here on is signed by a key of its own (`decisions.key`). */
      decisions?: 'signed';
    }
  /** what was signed before is of a database that is not there any more */
  | { kind: 'put_back'; at: string; reason: string };

export type HeadsLine =
  | { kind: 'signed'; lineNo: number; words: SignedWords }
  /** cut off, as by a process that died while it wrote */
  | { kind: 'torn'; lineNo: number }
  | { kind: 'forged'; lineNo: number };

/** Ten thousand nights of a hundred accounts. */
const HEADS_BYTES_MAX = 1 << 27;
const SIGNED = /^(\{.*),"signature":"([A-Za-z0-9+/]{86}==)"\}$/;

export function headsPath(dataDir: string): string {
  return join(headsFolder(dataDir), 'heads.ndjson');
}

/** On disk when it resolves, with the line as it stands there. */
export async function signWords(dataDir: string, words: SignedWords): Promise<string> {
  const key = await ownKey(dataDir);
  const text = JSON.stringify(words);
  const signature = sign(null, Buffer.from(text, 'utf8'), key).toString('base64');
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const flags = O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR;
  const line = `${text.slice(0, -1)},"signature":"${signature}"}`;
  const file = await open(headsPath(dataDir), flags, 0o600);
  try {
    await file.appendFile((await endsWhole(file)) ? `${line}\n` : `\n${line}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  const folder = await open(headsFolder(dataDir), 'r');
  await folder.sync().finally(() => folder.close());
  return line;
}

/** What was signed before is told from now on, not compared. Never in the way of a freeze. */
export async function notePutBack(dataDir: string, reason: string, log: Log): Promise<void> {
  try {
    await signWords(dataDir, { kind: 'put_back', at: new Date().toISOString(), reason });
  } catch (error) {
    log(`that the database was put back could not be signed: ${messageOf(error)}`, {
      level: 'warn',
    });
  }
}

/** False where a process died while it wrote the line before. */
async function endsWhole(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer.toString() === '\n';
}

/** The lines of a file in their order, each held against the key; null: there is no file. */
export async function readHeads(
  path: string,
  keyOf: () => Promise<KeyObject>,
): Promise<HeadsLine[] | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (found === null) return null;
  if (!found.isFile()) throw new InputError(`${path}: no plain file`);
  if (found.size > HEADS_BYTES_MAX) {
    throw new InputError(`${path}: longer than ${HEADS_BYTES_MAX} bytes`);
  }
  const file = await open(path, 'r');
  const text = await file.readFile('utf8').finally(() => file.close());
  const publicKey = publicHalf(await keyOf());
  return text.split('\n').flatMap((line, at) => {
    return line.trim() === '' ? [] : [lineOf(line.trim(), at + 1, publicKey)];
  });
}

function publicHalf(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

function lineOf(line: string, lineNo: number, key: KeyObject): HeadsLine {
  const [, body, signature = ''] = SIGNED.exec(line) ?? [];
  if (body === undefined) return { kind: 'torn', lineNo };
  const text = Buffer.from(`${body}}`, 'utf8');
  if (!verify(null, text, key, Buffer.from(signature, 'base64'))) return { kind: 'forged', lineNo };
  return { kind: 'signed', lineNo, words: JSON.parse(text.toString('utf8')) as SignedWords };
}
