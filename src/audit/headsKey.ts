// The key with which the ends of the chains are signed: it lies beside the database, not in it, so
// that nobody who has the database alone can sign. Made at first need, read by its owner alone,
// and never told; its public half is for whoever checks. Neighbour: signedHeads.ts signs.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, messageOf } from '../core/errors.js';

/** Where the key and what it signed lie. */
export function headsFolder(dataDir: string): string {
  return join(dataDir, 'audit');
}

function keyPath(dataDir: string): string {
  return join(headsFolder(dataDir), 'heads.key');
}

/** The key of this installation: made once and whole, whoever of many comes first. */
export async function ownKey(dataDir: string): Promise<KeyObject> {
  const path = keyPath(dataDir);
  const known = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (known !== null) return createPrivateKey(known);
  await mkdir(headsFolder(dataDir), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.new`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(draft, pem, { flag: 'wx', mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return createPrivateKey(await readFile(path));
}

export function publicPart(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

/** @throws InputError where it is none of these keys */
export async function readPublicKey(path: string): Promise<KeyObject> {
  try {
    const key = createPublicKey(await readFile(path));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw new InputError(`${path}: no public key (${messageOf(error)})`);
  }
  throw new InputError(`${path}: no ed25519 key`);
}
