// A server whose disk is full: it answers what is read, lets in a new session or none, and takes no
// row. It is said in words, by doctor too, and waited for until somebody has made room. The disk is a
// real one in memory, where this process may mount it.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseAwayError, DatabaseFullError } from '../../src/core/errors.js';
import { asOperatingFailure } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { tryRoom } from '../../src/database/server/serverFacts.js';
import { prepareData } from '../support/preparedData.js';

const SAYS = 'cannot be used: a disk of the server is full: make room there';
const connection = { connectionString: 'postgres://nobody@127.0.0.1:1/books' };

it.each([
  ['53100', 'could not extend file "base/5/16384": No space left on device'],
  ['XX000', 'could not write init file'],
  ['58030', 'could not write to file "base/pgsql_tmp/1": Disk quota exceeded'],
])('%s %s: a disk is full', (code, message) => {
  const error = Object.assign(new Error(message), { code, severity: 'FATAL' });
  const failure = asOperatingFailure(error, connection);
  expect(failure).toBeInstanceOf(DatabaseFullError);
  expect((failure as Error).message).toContain(SAYS);
});

it('what is no word of the server is no full disk of its', () => {
  const error = new Error('could not write init file');
  expect(asOperatingFailure(error, connection)).toBe(error);
});

const folder = mkdtempSync(join(tmpdir(), 'tieout-full-'));
chmodSync(folder, 0o755);
const isMounted = mounted(folder);

function mounted(place: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', place], { stdio: 'ignore' });
    return true;
  } catch {
    rmSync(place, { recursive: true, force: true });
    return false;
  }
}

/** Leaves less than the server adds to a table at once. */
function fill(place: string): string {
  const file = join(place, 'filler');
  const { bavail, bsize } = statfsSync(place);
  writeFileSync(file, Buffer.alloc(Number(bavail) * Number(bsize)));
  return file;
}

it.runIf(isMounted)('a server that stands on a full disk', async () => {
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const dataDir = join(folder, 'server');
  prepareData(dataDir);
  const { host, user, database, stop } = await startEmbedded({ dataDir, unsafeFast: true });
  onTestFinished(() => stop());
  const db = openDatabase({ host, user, database });
  onTestFinished(() => db.close());
  await tryRoom(db);
  const file = fill(folder);
  const failure = await tryRoom(db).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DatabaseFullError);
  expect(failure).toBeInstanceOf(DatabaseAwayError);
  expect((failure as Error).message).toContain(SAYS);
  // What is read is answered, and so it looks as if nothing were wrong.
  expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  rmSync(file);
  await tryRoom(db);
});
