// The two programs of the embedded server, run as the right account: initdb once, postgres as a
// process that outlives its starter. It owns the server's settings and the wait for the first
// answer. It must never start a second server on a data folder (the caller holds the lock).
// Neighbour: embedded.ts.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../../core/errors.js';
import { SOCKET_PORT } from '../connection.js';
import type { Binaries } from './embeddedBinaries.js';
import type { Place } from './embeddedPlace.js';
import { makePrivate } from './embeddedPlace.js';
import { openForLog, overwriteOwn, readOwn } from './ownFiles.js';
import { disarmStalePid } from './postmaster.js';

export const SUPERUSER = 'tieout';
export const START_CAP_MS = 60_000;
const POLL_MS = 20;
/** After a killed server, its last processes may hold on for a moment. */
const LEFTOVER_RETRIES = 25;
const LEFTOVER_PAUSE_MS = 200;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;
const TOO_LITTLE_MEMORY = /could not map anonymous shared memory|could not create shared memory/;
const LOG_BYTES_MAX = 10 << 20;
const LOG_TAIL_CHARS = 1_500;
/** PostgreSQL's parallel queries need room here; containers often give 64 MB. */
const SHM_BYTES_MIN = 256 << 20;
const BUFFERS = ['256MB', '32MB'];
const MAJOR_VERSION = '18';
// The server's own defaults must come from here, never from this process's PG... variables.
const CLEAN_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };

/** Creates the data folder where there is none; a half-made one of a killed start is redone. */
export async function initialise(
  place: Place,
  binaries: Binaries,
  unsafeFast: boolean,
): Promise<void> {
  const { dataFolder, account } = place;
  const version = join(dataFolder, 'PG_VERSION');
  if (existsSync(version)) {
    const found = readOwn(version).toString('utf8').trim();
    if (found === MAJOR_VERSION) return;
    throw new UnreachableError(
      `${dataFolder} was written by PostgreSQL ${found}, this is PostgreSQL ${MAJOR_VERSION}`,
    );
  }
  if (existsSync(dataFolder) && readdirSync(dataFolder).length > 0) {
    throw new UnreachableError(`${dataFolder} holds something that is not a database`);
  }
  const draft = newDraft(dataFolder);
  makePrivate(draft, account);
  const words = ['-D', draft, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const child = run(place, binaries.initdb, unsafeFast ? [...words, '--no-sync'] : words);
  child.ref();
  const exit = await Promise.race([exitOf(child), sleep(START_CAP_MS, null, { ref: false })]);
  if (exit !== 0) {
    child.kill('SIGKILL');
    throw failedStart('initdb failed', place);
  }
  // An empty folder that a user made stays open to him: root only came along.
  if (account !== null && !existsSync(dataFolder)) admitRootAlone(draft);
  renameSync(draft, dataFolder);
}

/**
 * The lent account (postgres, nobody) may run programs of others, which would all be superuser.
 * Where the account is this process's own, a rule would keep nobody out: it owns the files.
 */
function admitRootAlone(dataFolder: string): void {
  overwriteOwn(join(dataFolder, 'pg_hba.conf'), 'local all all peer map=tieout\n');
  overwriteOwn(join(dataFolder, 'pg_ident.conf'), `tieout ${userInfo().username} all\n`);
}

/** A name of its own: the initdb of a killed start may still be writing under the old one. */
function newDraft(dataFolder: string): string {
  const [parent, prefix] = [dirname(dataFolder), `${basename(dataFolder)}.new-`];
  for (const name of readdirSync(parent).filter((name) => name.startsWith(prefix))) {
    rmSync(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
  return join(parent, `${prefix}${process.pid}`);
}

/** Starts postgres and waits until `connect` has an answer from it. */
export async function launch<T>(
  place: Place,
  binaries: Binaries,
  unsafeFast: boolean,
  connect: () => Promise<T | null>,
): Promise<T> {
  let buffers = 0;
  for (let retry = 0; retry <= LEFTOVER_RETRIES; retry += 1) {
    disarmStalePid(place.dataFolder, place.socketFolder);
    const logged = trimmedLogSize(place);
    const words = settings(place, BUFFERS[buffers] ?? '32MB', unsafeFast);
    const child = run(place, binaries.postgres, words);
    const answer = await firstAnswer(child, connect, place);
    if (answer !== null) return answer;
    const said = readOwn(place.logFile).subarray(logged).toString('utf8');
    if (TOO_LITTLE_MEMORY.test(said) && buffers + 1 < BUFFERS.length) buffers += 1;
    else if (LEFTOVER.test(said)) await sleep(LEFTOVER_PAUSE_MS);
    else break;
  }
  throw failedStart('the embedded database does not start', place);
}

/** Null when the process ended before it ever answered. */
async function firstAnswer<T>(
  child: ChildProcess,
  connect: () => Promise<T | null>,
  place: Place,
): Promise<T | null> {
  const deadline = AbortSignal.timeout(START_CAP_MS);
  let ended = false;
  exitOf(child).then(() => {
    ended = true;
  });
  while (!ended && !deadline.aborted) {
    const answer = await connect();
    if (answer !== null) return answer;
    await sleep(POLL_MS);
  }
  if (ended) return null;
  child.kill('SIGQUIT');
  throw failedStart(`the embedded database gave no answer in ${START_CAP_MS / 1000} s`, place);
}

function run(place: Place, program: string, words: readonly string[]): ChildProcess {
  const log = openForLog(place.logFile);
  try {
    const child = spawn(program, words, {
      ...(place.account ?? {}),
      cwd: '/',
      env: CLEAN_ENVIRONMENT,
      // A session of its own: Ctrl-C in the terminal must not end the server under the drain.
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    child.once('error', (error) => noteInLog(place, error));
    return child;
  } finally {
    closeSync(log);
  }
}

function noteInLog(place: Place, error: Error): void {
  const log = openForLog(place.logFile);
  writeSync(log, `${error.message}\n`);
  closeSync(log);
}

/** The exit code; null after a signal or when the program could not be run at all. */
function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', () => resolve(null));
  });
}

/** For tests alone: sending refuses a server that forgets, save one that says it is thrown away. */
const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  'tieout.throwaway': 'on',
};

function settings(place: Place, sharedBuffers: string, unsafeFast: boolean): string[] {
  const values: Record<string, string> = {
    listen_addresses: '',
    port: String(SOCKET_PORT),
    unix_socket_directories: `"${place.socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: '500',
    shared_buffers: sharedBuffers,
    dynamic_shared_memory_type: hasRoomForShm() ? 'posix' : 'mmap',
    work_mem: '64MB',
    maintenance_work_mem: '256MB',
    max_wal_size: '4GB',
    wal_compression: 'on',
    checkpoint_timeout: '15min',
    jit: 'off',
    autovacuum: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(unsafeFast ? THROWAWAY : {}),
  };
  const words = Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', place.dataFolder, ...words];
}

function hasRoomForShm(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= SHM_BYTES_MIN;
  } catch {
    // No such folder: macOS has the facility without it, a bare container has neither.
    return process.platform !== 'linux';
  }
}

/** The log is one file for ever; between two servers an overlong one starts anew. */
function trimmedLogSize(place: Place): number {
  const size = lstatSync(place.logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_BYTES_MAX) return size;
  rmSync(place.logFile);
  return 0;
}

function failedStart(what: string, place: Place): UnreachableError {
  const log = existsSync(place.logFile) ? readOwn(place.logFile).toString('utf8') : '';
  return new UnreachableError(
    `${what}; its log ${place.logFile} ends:\n${log.slice(-LOG_TAIL_CHARS).trim()}`,
  );
}
