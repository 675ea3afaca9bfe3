// A server whose disk is full: it answers what is read, lets in a new session or none, and takes no
// row. It is said in words, by doctor too, and waited for until somebody has made room. The disk is a
// real one in memory, where this process may mount it.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseAwayError, DatabaseFullError } from '../../src/core/errors.js';
import { asOperatingFailure } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { findPlace } from '../../src/database/embedded/embeddedPlace.js';
import { tryRoom } from '../../src/database/server/serverFacts.js';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import { tieoutHere } from '../support/cliHere.js';
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

function mounted(place: string, size = '400m'): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place], {
      stdio: 'ignore',
    });
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

const small = mkdtempSync(join(tmpdir(), 'tieout-full-'));
chmodSync(small, 0o755);
const isSmallMounted = mounted(small, '1m');

it.runIf(isSmallMounted)(
  'a full disk under dataDir is named, and nothing is left on it',
  async () => {
    onTestFinished(() => {
      execFileSync('umount', ['-l', small]);
      rmSync(small, { recursive: true, force: true });
    });
    const env = { KEY_A1001: 'k' };
    await tieoutHere(['init'], { cwd: small, env });
    const dataDir = join(small, 'var');
    const { dataFolder } = findPlace(dataDir);
    mkdirSync(dataFolder, { recursive: true });
    writeFileSync(join(dataFolder, 'PG_VERSION'), '15\n');
    await (await openPermitJournal(dataDir)).close();
    const there = readdirSync(dataDir, { recursive: true }).toSorted();
    fill(small);
    const words = `the disk of dataDir ${dataDir} is full: make room there`;
    await expect(startEmbedded({ dataDir, unsafeFast: true })).rejects.toThrow(words);
    const asked = await tieoutHere(['status'], { cwd: small, env });
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(asked.stderr).not.toMatch(/ENOSPC| at /);
    const doctor = await tieoutHere(['doctor', '--json'], { cwd: small, env });
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; words: string }[] };
    expect(checks.find(({ name }) => name === 'room')?.words).toMatch(/^only 0 MB free/);
    expect(checks.find(({ name }) => name === 'database')?.words).toContain(words);
    // One that is there needs no room to be read; its mark, and a new one, do.
    const journal = await openPermitJournal(dataDir);
    onTestFinished(() => journal.close());
    expect(() => journal.keepMark({ base: 'b', marks: 1, released: null })).toThrow('make room');
    await expect(openPermitJournal(join(small, 'other'))).rejects.toThrow('make room');
    expect(readdirSync(dataDir, { recursive: true }).toSorted()).toEqual(there);
    expect(readdirSync(join(small, 'other', 'journal'))).toEqual([]);
  },
);
