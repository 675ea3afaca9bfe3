// Files between the press that checks and the press that takes: each under dataDir for its owner
// alone, named by its digest, one a person, few in all, gone after an hour or once it was taken.
// What is taken are the bytes that were checked, or nothing. Neighbour: uploadForm.ts reads the
// form.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileDigest } from '../../ledger/imports/filesBefore.js';
import { uploadsIn, youngUploads } from '../../retention/oldUploads.js';
import type { UploadedFile } from './uploadForm.js';

/** Of all persons together. */
const KEPT_MAX = 20;
const NAME_LENGTH_MAX = 60;

interface Owner {
  readonly dataDir: string;
  readonly userId: bigint;
  readonly now: Date;
}

export interface KeptFile {
  readonly path: string;
  readonly name: string;
  readonly sha256: string;
}

/** Answers its digest; null: too many wait. What the person had waiting before is removed. */
export async function keepFile(owner: Owner, file: UploadedFile): Promise<string | null> {
  const folder = folderOf(owner);
  const others = await kept(owner);
  const mine = others.filter((name) => name.startsWith(`${owner.userId}-`));
  for (const name of mine) await rm(join(folder, name), { recursive: true, force: true });
  if (others.length - mine.length >= KEPT_MAX) return null;
  const sha256 = createHash('sha256').update(file.bytes).digest('hex');
  const place = join(folder, `${owner.userId}-${sha256}`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  await writeFile(join(place, plainName(file.name)), file.bytes, { mode: 0o600 });
  return sha256;
}

/** Null: it is kept no more, or is not what it was. */
export async function findKept(owner: Owner, sha256: string): Promise<KeptFile | null> {
  const name = `${owner.userId}-${sha256}`;
  if (!(await kept(owner)).includes(name)) return null;
  return fileIn(join(folderOf(owner), name), sha256);
}

/** Of two that take it at once, one gets it; the bytes are those of this digest. */
export async function takeKept(owner: Owner, sha256: string): Promise<KeptFile | null> {
  if ((await findKept(owner, sha256)) === null) return null;
  const place = join(folderOf(owner), `${owner.userId}-${sha256}`);
  const mine = join(folderOf(owner), `taken-${randomUUID()}`);
  const isMine = await rename(place, mine).then(
    () => true,
    () => false,
  );
  return isMine ? fileIn(mine, sha256) : null;
}

export async function removeKept({ path }: KeptFile): Promise<void> {
  await rm(dirname(path), { recursive: true, force: true });
}

async function fileIn(place: string, sha256: string): Promise<KeptFile | null> {
  const [name] = await readdir(place).catch(() => []);
  if (name === undefined) return null;
  const path = join(place, name);
  // Somebody else may take it meanwhile.
  const found = await fileDigest(path).catch(() => null);
  return found === sha256 ? { path, name, sha256 } : null;
}

function kept({ dataDir, now }: Owner): Promise<string[]> {
  return youngUploads(dataDir, now);
}

function folderOf({ dataDir }: Owner): string {
  return uploadsIn(dataDir);
}

/** Nothing of a name reaches the disk that could mean more than a name. */
function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._ -]/gu, '_').slice(-NAME_LENGTH_MAX);
  return plain.replace(/^[. -]+/, '_');
}
