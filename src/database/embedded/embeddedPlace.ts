// Where the embedded server lives and as whom it runs. PostgreSQL refuses to run as root, so root
// lends it an ordinary account; everything that account must reach is checked here. It must never
// change the accounts of the machine, nor open a folder to anyone else. Neighbour: embedded.ts.

import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { UnreachableError } from '../../core/errors.js';
import { SOCKET_NAME } from './postmaster.js';
import type { Trusted } from './strangers.js';
import { assertClosedWay, assertMadeFor, assertOwnLink, isOpenToOthers } from './strangers.js';

/** The account the server runs under; null means the account of this process. */
export interface Account {
  uid: number;
  gid: number;
}

export interface Place {
  dataFolder: string;
  socketFolder: string;
  lockFile: string;
  logFile: string;
  /** Holds a copy of the binaries where the account cannot execute the installed ones. */
  binariesFolder: string;
  account: Account | null;
}

/** For root, where the account cannot reach the configured folder (a home with mode 0700), or
 * other users may write in it. */
const SYSTEM_FOLDER = '/var/lib/tieout';
const ACCOUNTS = ['postgres', 'nobody', '_postgres'];
/** The shortest limit of the platforms (macOS); Linux takes a few bytes more. */
const SOCKET_PATH_BYTES_MAX = 103;
const NO_ACCOUNT =
  'PostgreSQL does not run as root and this machine has neither a postgres nor a nobody account';
const OWNED_BY_ANOTHER = 'belongs to another user: run tieout as the user who ran it first';

/** Finds or prepares the folders below dataDir; the data folder itself may not exist yet. */
export function findPlace(dataDir: string): Place {
  // Passable, not readable: root's server is another account, which has to come through.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  mkdirSync(resolve(dataDir), { recursive: true, mode });
  const home = realpathSync(resolve(dataDir));
  const link = join(home, 'postgres');
  const isRoot = process.getuid?.() === 0;
  const lent = isRoot ? lentAccount() : null;
  assertOwnLink(link);
  const dataFolder = existingFolder(link) ?? newFolder(link, home, lent);
  const account = isRoot ? (ownerOf(dataFolder) ?? lent) : null;
  if (account === null) assertOwn(dataFolder);
  else assertOutOfReach(dataFolder, home, account);
  return {
    dataFolder,
    socketFolder: shortEnough(dataFolder, account),
    lockFile: `${dataFolder}.lock`,
    logFile: join(home, 'postgres.log'),
    binariesFolder: join(isRoot ? SYSTEM_FOLDER : home, 'postgres-binaries'),
    account,
  };
}

/** Whether a start has made the server's folder before; changes nothing. */
export function hasEmbedded(dataDir: string): boolean {
  const folder = existingFolder(join(resolve(dataDir), 'postgres'));
  return folder !== null && existsSync(folder);
}

/** Makes a folder that only the server's account may enter. */
export function makePrivate(folder: string, account: Account | null): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Whoever may write above it could have put a link to a foreign folder there.
  if (!lstatSync(folder).isDirectory()) {
    throw new UnreachableError(`${folder} is no folder of its own: look who put it there`);
  }
  if (account !== null) lchownSync(folder, account.uid, account.gid);
}

/** Makes a folder that every account may enter but only this one may write. */
export function makeOpen(folder: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true });
  // A strict umask would have kept the server's account out.
  chmodSync(folder, 0o755);
}

/** Whether the account may pass through every folder above the file and use the file itself. */
export function isReachable(file: string, account: Account | null): boolean {
  if (account === null) return true;
  let path = realpathSync(file);
  while (mayEnter(path, account)) {
    const parent = dirname(path);
    if (parent === path) return true;
    path = parent;
  }
  return false;
}

function mayEnter(path: string, account: Account): boolean {
  const { mode, uid, gid } = statSync(path);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  if (gid === account.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

function lentAccount(): Account {
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((row) => row.split(':'));
  for (const name of ACCOUNTS) {
    const row = rows.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(row?.[2]), Number(row?.[3])];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new UnreachableError(NO_ACCOUNT);
}

/** An earlier start's folder; where it was put elsewhere, the link left behind leads to it. */
function existingFolder(link: string): string | null {
  const entry = lstatSync(link, { throwIfNoEntry: false });
  if (entry === undefined) return null;
  if (!entry.isSymbolicLink()) return link;
  return existsSync(link) ? realpathSync(link) : resolve(dirname(link), readlinkSync(link));
}

/** Root's own, and of whoever the folder was given to; everybody else is a stranger. */
function trustedIn(home: string, { uid, gid }: Account): Trusted {
  return { uids: [0, uid, statSync(home).uid], gids: [0, gid] };
}

function assertOutOfReach(dataFolder: string, home: string, account: Account): void {
  const trusted = trustedIn(home, account);
  assertClosedWay(dirname(dataFolder), trusted);
  const isElsewhere = dirname(dataFolder) !== home;
  if (isElsewhere && isOpenToOthers(home, trusted)) assertMadeFor(dataFolder, home);
}

function newFolder(link: string, home: string, account: Account | null): string {
  const isOpen = account !== null && isOpenToOthers(home, trustedIn(home, account));
  if (!isOpen && isReachable(home, account)) return link;
  // A name of its own: what an earlier folder of this path has left there is another's database.
  const folder = join(SYSTEM_FOLDER, randomUUID().replaceAll('-', '').slice(0, 16));
  makeOpen(SYSTEM_FOLDER);
  // So that whoever finds the folder can tell whose it is.
  writeFileSync(`${folder}.belongs-to`, `${home}\n`, { mode: 0o644 });
  try {
    symlinkSync(folder, link);
    return folder;
  } catch (error) {
    rmSync(`${folder}.belongs-to`, { force: true });
    // Another first start made its link a moment ago: that one is meant.
    const theirs = existingFolder(link);
    if (theirs === null) throw error;
    return theirs;
  }
}

/** The data of an ordinary user goes on running as that user when root comes along. */
function ownerOf(dataFolder: string): Account | null {
  const entry = statSync(dataFolder, { throwIfNoEntry: false });
  return entry === undefined || entry.uid === 0 ? null : { uid: entry.uid, gid: entry.gid };
}

function assertOwn(dataFolder: string): void {
  const entry = statSync(dataFolder, { throwIfNoEntry: false });
  if (entry !== undefined && entry.uid !== process.getuid?.()) {
    throw new UnreachableError(`${dataFolder} ${OWNED_BY_ANOTHER}`);
  }
}

/** Socket paths are limited to about 107 bytes; a deep project gets a private temporary folder. */
function shortEnough(dataFolder: string, account: Account | null): string {
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const fits = (folder: string): boolean =>
    Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX;
  if (fits(dataFolder)) return dataFolder;
  const base = [tmpdir(), '/tmp'].find(
    (folder) => fits(join(folder, `tieout-${name}`)) && isReachable(folder, account),
  );
  const folder = join(base ?? '/tmp', `tieout-${name}`);
  makePrivate(folder, account);
  const { uid, mode } = lstatSync(folder);
  // A folder someone else put there first could lead the clients to a server of their own.
  if (uid !== (account?.uid ?? process.getuid?.()) || (mode & 0o077) !== 0) {
    throw new UnreachableError(`${folder} ${OWNED_BY_ANOTHER}`);
  }
  return folder;
}
