// Backups that only who holds a key can read, and that nobody else can make: each file is encrypted
// with AES-256-GCM under a key of its own (HKDF of the key file, the salt of the backup and the
// name of the file), and the manifest, which has the digest of each, bears a code of the same key.
// Neighbour: backupFiles.ts.

import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  createHmac,
  type DecipherGCM,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { UsageError } from '../core/errors.js';

/** What the manifest says of the key; nothing of the key itself. */
export interface Sealing {
  /** hex, of this backup alone */
  salt: string;
  /** by which a person tells keys apart */
  keyMark: string;
}

export interface BackupKey {
  readonly mark: string;
  newSealing(): Sealing;
  encrypt(sealing: Sealing, file: string): CipherGCM;
  decrypt(sealing: Sealing, file: string): DecipherGCM;
  /** hex; over the bytes of the manifest as they stand */
  codeOf(sealing: Sealing, manifest: Buffer): string;
}

/** Bytes of the tag behind each encrypted file. */
export const TAG_BYTES = 16;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const MARK_CHARS = 16;
/** One key encrypts one file and never another one: a constant start is not used twice. */
const START = Buffer.alloc(12);

/** Makes a new key, readable by its owner alone; throws where the file is there. */
export function makeBackupKey(file: string): BackupKey {
  const key = randomBytes(KEY_BYTES);
  writeFileSync(file, `${key.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
  return keyOf(key);
}

export function readBackupKey(file: string): BackupKey {
  const { mode } = statSync(file);
  if ((mode & 0o077) !== 0) {
    throw new UsageError(`${file} can be read by others: chmod 600, or make a new key`);
  }
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new UsageError(`${file} is no key: \`tieout backup FOLDER --new-key FILE\` makes one`);
  }
  return keyOf(Buffer.from(text, 'hex'));
}

function keyOf(key: Buffer): BackupKey {
  const derived = ({ salt }: Sealing, purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, Buffer.from(salt, 'hex'), `tieout ${purpose}`, KEY_BYTES));
  const mark = createHmac('sha256', key).update('tieout backup key').digest('hex');
  return {
    mark: mark.slice(0, MARK_CHARS),
    newSealing: () => {
      return { salt: randomBytes(SALT_BYTES).toString('hex'), keyMark: mark.slice(0, MARK_CHARS) };
    },
    encrypt: (sealing, file) =>
      createCipheriv('aes-256-gcm', derived(sealing, `file ${file}`), START),
    decrypt: (sealing, file) =>
      createDecipheriv('aes-256-gcm', derived(sealing, `file ${file}`), START),
    codeOf: (sealing, manifest) =>
      createHmac('sha256', derived(sealing, 'manifest')).update(manifest).digest('hex'),
  };
}

export function sameCode(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given.trim()), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
