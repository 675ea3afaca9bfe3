// Puts a finished file in place: written beside its final name, synced, then linked to it, so that
// nobody ever sees half a report. It must never overwrite a file, and never hang on a full disk or
// a bad path: every error of the output rejects. Neighbours: workbook.ts and delimited.ts write
// into it.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { access, link, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { TieoutError, unwritableWords } from '../src/core/errors.js';
import type { WrittenReport } from '../src/core/runs/reporting.js';

/** Begins the name of the folder that holds a file under way; a crash may leave one behind. */
export const PARTIAL_PREFIX = '.partial-';

/** Whatever the umask: reports name people's orders and money. */
const PRIVATE = 0o600;

/** Some file systems have no hard links; renaming is the second best there. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

interface Tally {
  sha256: string;
  bytes: number;
}

/** Creates `path` out of what `write` puts into the sink; rejects when it exists already. */
export async function writeNewFile(
  path: string,
  write: (sink: Writable) => Promise<void>,
): Promise<WrittenReport> {
  await refuseExisting(path);
  const folder = await mkdtemp(join(dirname(path), PARTIAL_PREFIX)).catch((error) => {
    throw Object.assign(new TieoutError(cannotBeMade(path, error)), { code: error.code });
  });
  try {
    const partial = join(folder, basename(path));
    const tally = await writePartial(partial, write);
    await moveIntoPlace(partial, path);
    await syncFolder(dirname(path));
    return { path, ...tally };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `work` until it ends or the sink fails, whichever comes first, and waits for the sink. */
export async function untilWritten(sink: Writable, work: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    sink.once('error', reject);
    sink.once('close', () =>
      sink.writableFinished ? resolve() : reject(new Error('the output was closed too early')),
    );
  });
  try {
    await Promise.race([work(), closed]);
    await closed;
  } catch (error) {
    // The one error that counts is the one thrown here; a second one has no reader.
    closed.catch(() => undefined);
    sink.on('error', () => undefined);
    sink.destroy();
    throw error;
  }
}

async function refuseExisting(path: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw alreadyThere(path);
}

/** That another one made the file first: no fault, where two may be at the same report. */
export function isAlreadyThere(error: unknown): boolean {
  return error instanceof TieoutError && (error as NodeJS.ErrnoException).code === 'EEXIST';
}

function alreadyThere(path: string): Error {
  return refused(path, 'exists already; a report is never overwritten', 'EEXIST');
}

/** The folder under way bears a made-up name, which tells nobody anything. */
function cannotBeMade(path: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT')
    return `${path} cannot be written: there is no folder ${dirname(path)}`;
  return unwritableWords(path, error) ?? `${path} cannot be written: ${error.message}`;
}

function refused(path: string, why: string, code: string): Error {
  return Object.assign(new TieoutError(`${path} ${why}`), { code });
}

async function writePartial(
  partial: string,
  write: (sink: Writable) => Promise<void>,
): Promise<Tally> {
  const handle = await open(partial, 'wx', PRIVATE);
  try {
    const tally = { hash: createHash('sha256'), bytes: 0 };
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        writeWhole(handle, chunk).then(() => {
          tally.hash.update(chunk);
          tally.bytes += chunk.length;
          done();
        }, done);
      },
    });
    await untilWritten(sink, () => write(sink));
    await handle.sync();
    return { sha256: tally.hash.digest('hex'), bytes: tally.bytes };
  } finally {
    await handle.close();
  }
}

/** One write may take only part of the chunk. */
async function writeWhole(handle: FileHandle, chunk: Buffer): Promise<void> {
  let offset = 0;
  while (offset < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, offset);
    if (bytesWritten === 0) throw new Error('the output takes no more bytes');
    offset += bytesWritten;
  }
}

/** A hard link fails where the name is taken, so two writers cannot both win. */
async function moveIntoPlace(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'EEXIST') throw alreadyThere(path);
    if (!NO_LINKS.has(code)) throw error;
    await refuseExisting(path);
    await rename(partial, path);
  }
}

/** Makes the new name itself survive a power cut; not every system can sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (handle === null) return;
  try {
    await handle.sync();
  } catch {
    // The file's bytes are synced; only the folder entry is left to the file system's own pace.
  } finally {
    await handle.close();
  }
}
