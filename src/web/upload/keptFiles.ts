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
/** As long as a disk takes one. */
const NAME_BYTES_MAX = 255;

const ODD_NAME =
  'The name of the file is too long, or has a slash or a sign in it that is not shown: rename it.';
const FULL = 'Too many files wait to be taken: try in an hour.';

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

type Kept =
  | { readonly kind: 'kept'; readonly sha256: string }
  | { readonly kind: 'refused'; readonly words: string; readonly status?: 409 };

/**
 * Under its own name: what is read of the name is to be the same here, on the command line and in
 * the inbox. What the person had waiting before is removed.
 */
export async function keepFile(owner: Owner, file: UploadedFile): Promise<Kept> {
  if (!isPlainName(file.name)) return { kind: 'refused', words: ODD_NAME };
  const folder = folderOf(owner);
  const others = await kept(owner);
  const mine = others.filter((name) => name.startsWith(`${owner.userId}-`));
  for (const name of mine) await rm(join(folder, name), { recursive: true, force: true });
  if (others.length - mine.length >= KEPT_MAX) return { kind: 'refused', words: FULL, status: 409 };
  const sha256 = createHash('sha256').update(file.bytes).digest('hex');
  const place = join(folder, `${owner.userId}-${sha256}`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  await writeFile(join(place, file.name), file.bytes, { mode: 0o600 });
  return { kind: 'kept', sha256 };
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

/** Nothing reaches the disk that could mean more than a name, and no page that is not seen. */
function isPlainName(name: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\]/u.test(name) && Buffer.byteLength(name) <= NAME_BYTES_MAX;
}
