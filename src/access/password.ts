// Passwords and one-time secrets: scrypt with parameters that are stored beside each hash, so that
// they can be raised later, and random tokens that are kept as their digest only. It owns how many
// hashes are worked out at once, since each takes 64 MB. It never logs what it is given.

import type { ScryptOptions } from 'node:crypto';
import {
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';

const LOG_N = 16;
const N = 2 ** LOG_N;
const BLOCK = 8;
const LANES = 2;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const MEMORY_MAX = 256 * 1024 * 1024;
const HASH = /^scrypt\$(\d{2})\$(\d{1,2})\$(\d)\$([\w-]+)\$([\w-]+)$/;

/** More wait in line; a longer line is refused, so that a flood cannot take the memory. */
const HASHES_AT_ONCE = 2;
const WAITING_MAX = 50;

export class BusyError extends Error {}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, { N, r: BLOCK, p: LANES });
  const parts = ['scrypt', LOG_N, BLOCK, LANES, salt.toString('base64url')];
  return [...parts, key.toString('base64url')].join('$');
}

/** Takes as long for a hash that is none, so that the time tells nothing about the name. */
export async function passwordFits(password: string, hash: string | null): Promise<boolean> {
  const [, logN, r, p, salt = '', key = ''] = HASH.exec(hash ?? '') ?? [];
  const isHash = logN !== undefined;
  const lanes = isHash ? Number(p) : LANES;
  const found = await derive(
    password,
    isHash ? Buffer.from(salt, 'base64url') : Buffer.alloc(SALT_BYTES),
    {
      N: 2 ** (isHash ? Number(logN) : LOG_N),
      r: isHash ? Number(r) : BLOCK,
      p: lanes,
    },
  );
  // A hash of an older version costs less: the time must not tell it from that of nobody.
  if (lanes < LANES) await derive('', Buffer.alloc(SALT_BYTES), { N, r: BLOCK, p: LANES - lanes });
  const wanted = isHash ? Buffer.from(key, 'base64url') : Buffer.alloc(KEY_BYTES);
  return wanted.length === found.length && timingSafeEqual(wanted, found) && isHash;
}

/** 256 random bits for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * What is stored of a token. `key`: `decisions.key`, where there is one, so that whoever may write
 * in the tables can put nothing there that opens the console.
 */
export function tokenDigest(token: string, key: string | null = null): Buffer {
  if (key === null) return createHash('sha256').update(token, 'utf8').digest();
  const own = hkdfSync('sha256', Buffer.from(key, 'base64'), '', 'tieout sessions', KEY_BYTES);
  return createHmac('sha256', Buffer.from(own)).update(token, 'utf8').digest();
}

let running = 0;
const line: (() => void)[] = [];

async function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  if (running >= HASHES_AT_ONCE) {
    if (line.length >= WAITING_MAX) throw new BusyError('too many people sign in at once');
    await new Promise<void>((resolve) => line.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const options = { ...cost, maxmem: MEMORY_MAX };
      scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => {
        if (error) reject(error);
        else resolve(key);
      });
    });
  } finally {
    const next = line.shift();
    if (next) next();
    else running -= 1;
  }
}

/** Whether two secrets are the same text, in a time that tells nothing about either. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(tokenDigest(given), tokenDigest(expected));
}
