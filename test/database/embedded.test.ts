// The embedded server under the treatment that real machines give it. Each test has a data folder
// of its own; tests about accounts need root and are skipped elsewhere.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { ensureBuilt } from '../support/cli.js';
import {
  alsoRemove,
  ask,
  newFolder,
  pidOf,
  removeFolders,
  start,
} from '../support/embeddedFolders.js';
import { killed, startProcess } from '../support/processes.js';

beforeAll(ensureBuilt);

afterEach(removeFolders);

describe('one process', () => {
  test('starts a server, stops it, and finds its data again', async () => {
    const folder = newFolder();
    const first = await start(folder);
    expect(first.adopted).toBe(false);
    await ask(first, 'create table kept (n int)');
    expect(await first.stopIfUnused()).toBe(true);
    expect(pidOf(folder)).toBe(0);
    const second = await start(folder);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select * from kept')).toEqual([]);
    await second.stop();
  });

  test('writes durably and listens on no port unless a test asks for speed', async () => {
    const server = await startEmbedded({ dataDir: newFolder() });
    const settings = await ask(
      server,
      `select name, setting from pg_settings where name in
        ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'jit', 'autovacuum')
       order by name`,
    );
    await server.stop();
    expect(settings.map((row) => Object.values(row).join('='))).toEqual([
      'autovacuum=on',
      'fsync=on',
      'full_page_writes=on',
      'jit=off',
      'listen_addresses=',
      'synchronous_commit=on',
    ]);
  });

  test('keeps its socket and data out of reach of other users', async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(statSync(join(folder, 'postgres')).mode & 0o077).toBe(0);
    await server.stop();
  });

  test('refuses a running server that does not write durably', async () => {
    const folder = newFolder();
    await start(folder);
    await expect(startEmbedded({ dataDir: folder })).rejects.toThrow(/fsync is off/);
  });

  test('puts the socket elsewhere when the path is too long for one', async () => {
    const deep = join(newFolder(), 'd'.repeat(60), 'e'.repeat(60));
    mkdirSync(deep, { recursive: true });
    alsoRemove(deep);
    const server = await start(deep);
    expect(server.host.length).toBeLessThan(90);
    expect(lstatSync(server.host).mode & 0o777).toBe(0o700);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    const again = await start(deep);
    expect(again).toMatchObject({ adopted: true, host: server.host });
    await again.stop();
    rmSync(server.host, { recursive: true });
  });

  test('takes a folder with odd characters in its name', async () => {
    const odd = join(newFolder(), `it's, "odd" ü`);
    mkdirSync(odd);
    alsoRemove(odd);
    const server = await start(odd);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test.each([
    ['something else', 'notes.txt', 'not a database', /holds something that is not a database/],
    ['another version', 'PG_VERSION', '17\n', /written by PostgreSQL 17/],
  ])('refuses a folder with %s in it', async (_, name, text, expected) => {
    const folder = newFolder();
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', name), text);
    await expect(start(folder)).rejects.toThrow(expected);
    expect(readFileSync(join(folder, 'postgres', name), 'utf8')).toBe(text);
  });

  test('says so when the folder cannot be made', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    const failure = start(join(folder, 'file', 'below'));
    await expect(failure).rejects.toBeInstanceOf(UnreachableError);
  });
});

describe('several processes', () => {
  test('first starts at once end at one server', async () => {
    const folder = newFolder();
    const starters = Array.from({ length: 6 }, () => startProcess(folder));
    const said = await Promise.all(starters.map((starter) => starter.said()));
    expect(said.map((fact) => fact.adopted).sort()).toEqual([false, true, true, true, true, true]);
    expect(new Set(said.map((fact) => fact.host)).size).toBe(1);
    for (const starter of starters) starter.tell('stopIfUnused');
    const stopped = await Promise.all(starters.map((starter) => starter.said()));
    expect(stopped.filter((fact) => fact.stopped === true)).toHaveLength(1);
    for (const starter of starters) starter.tell('leave');
    expect(pidOf(folder)).toBe(0);
  });

  test('a server whose starter was killed is adopted', async () => {
    const folder = newFolder();
    const starter = startProcess(folder);
    await starter.said();
    const pid = pidOf(folder);
    await killed(starter, 'SIGKILL');
    const server = await start(folder);
    expect(server.adopted).toBe(true);
    expect(pidOf(folder)).toBe(pid);
    expect(await server.stopIfUnused()).toBe(true);
  });

  test('the last to leave turns off the light, whoever lit it', async () => {
    const folder = newFolder();
    const starter = startProcess(folder);
    await starter.said();
    const here = await start(folder);
    starter.tell('stopIfUnused');
    expect(await starter.said()).toEqual({ stopped: false });
    starter.tell('leave');
    expect(await ask(here, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await here.stopIfUnused()).toBe(true);
  });

  test('a process keeps its place at the server when its connections are cut', async () => {
    const folder = newFolder();
    const starter = startProcess(folder);
    await starter.said();
    const here = await start(folder);
    const db = openDatabase(here);
    const presences = "application_name = 'tieout presence' and backend_type = 'client backend'";
    await db.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where ${presences}`,
    );
    const back = (): Promise<{ rowCount: number }> =>
      db.query(`select 1 from pg_stat_activity where ${presences}`);
    await expect.poll(back, { timeout: 30_000 }).toMatchObject({ rowCount: 2 });
    expect(await here.stopIfUnused()).toBe(false);
    // On a busy machine the server takes a while to see that its client has gone.
    await expect.poll(back, { timeout: 30_000 }).toMatchObject({ rowCount: 1 });
    await db.close();
    starter.tell('stopIfUnused');
    expect(await starter.said()).toEqual({ stopped: true });
    starter.tell('leave');
  });

  test('a client of any kind keeps the server running', async () => {
    const server = await start(newFolder());
    const visitor = openDatabase(server, { applicationName: 'psql' });
    await visitor.query('select 1');
    expect(await server.stopIfUnused()).toBe(false);
    await expect(visitor.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
    await visitor.close();
  });

  test('a start while another process stops the server succeeds', async () => {
    const folder = newFolder();
    for (let round = 0; round < 5; round += 1) {
      const first = await start(folder);
      const [, second] = await Promise.all([first.stop(), start(folder)]);
      const third = await start(folder);
      expect(await ask(third, 'select 1 as one')).toEqual([{ one: 1 }]);
      await Promise.all([second.stop(), third.stop()]);
    }
  });

  test('a server that was told to stop by hand is waited for and started anew', async () => {
    const folder = newFolder();
    await start(folder);
    const pid = pidOf(folder);
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    const server = await start(folder);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('Ctrl-C in the terminal of its starter does not end the server', async () => {
    const folder = newFolder();
    const starter = startProcess(folder);
    await starter.said();
    await killed(starter, 'SIGINT', 'group');
    const server = await start(folder);
    expect(server.adopted).toBe(true);
    await server.stop();
  });

  test('a relative folder and PG variables of the environment lead nowhere else', async () => {
    const folder = newFolder();
    const env = { ...process.env, PGPORT: '1', PGHOST: 'nowhere', PGSSLMODE: 'require' };
    const starter = startProcess(relative('/usr', folder), { cwd: '/usr', env });
    expect(await starter.said()).toEqual({
      host: join(realpathSync(folder), 'postgres'),
      adopted: false,
    });
    starter.tell('stopIfUnused');
    expect(await starter.said()).toEqual({ stopped: true });
    starter.tell('leave');
  });
});

describe('after a crash', () => {
  test('a killed server is started again with its data', async () => {
    const folder = newFolder();
    const first = await startEmbedded({ dataDir: folder });
    await ask(first, 'create table kept as select 7 as n');
    process.kill(pidOf(folder), 'SIGKILL');
    const second = await start(folder);
    expect(await ask(second, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('an old pid that now belongs to another process does not block the start', async () => {
    const folder = newFolder();
    const first = await start(folder);
    await ask(first, 'create table kept as select 7 as n');
    const data = realpathSync(join(folder, 'postgres'));
    const { uid, gid } = statSync(data);
    const files = ['postmaster.pid', '.s.PGSQL.5432.lock'].map((name) => join(data, name));
    const before = files.map((file) => readFileSync(file, 'utf8'));
    await first.stop();
    const namesake = spawn('sleep', ['600'], { uid, gid });
    await once(namesake, 'spawn');
    files.forEach((file, at) => {
      writeFileSync(file, (before[at] ?? '').replace(/^\d+/, String(namesake.pid)));
      chownSync(file, uid, gid);
    });
    const second = await start(folder);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'select n from kept')).toEqual([{ n: 7 }]);
    expect(namesake.exitCode).toBeNull();
    namesake.kill();
    await second.stop();
  });

  test('a first start that was killed halfway is done again', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'postgres.new-1'));
    writeFileSync(join(folder, 'postgres.new-1', 'PG_VERSION'), '18\n');
    await (await start(folder)).stop();
    expect(existsSync(join(folder, 'postgres.new-1'))).toBe(false);
  });
});
