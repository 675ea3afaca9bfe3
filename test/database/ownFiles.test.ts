// What another account of the machine could put into the embedded server's folder: links and pipes
// where root reads and writes. None is followed, none is waited for, the foreign file stays whole.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { makePrivate } from '../../src/database/embedded/embeddedPlace.js';
import { openForLog, overwriteOwn, readOwn } from '../../src/database/embedded/ownFiles.js';
import { disarmStalePid } from '../../src/database/embedded/postmaster.js';
import { holdLock } from '../../src/processes/pidLock.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-own-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const victim = join(folder, 'victim');
let place = '';
let count = 0;
beforeEach(() => {
  count += 1;
  place = join(folder, String(count));
  mkdirSync(place);
  writeFileSync(victim, 'of root');
});

const PLANTS: readonly [string, (path: string) => void][] = [
  ['a link', (path) => symlinkSync(victim, path)],
  ['a link to nothing', (path) => symlinkSync(join(folder, 'made'), path)],
  ['a second name', (path) => linkSync(victim, path)],
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
];

describe.each(PLANTS)('%s in place of a file', (_name, plant) => {
  it.each([
    ['the log', (path: string) => openForLog(path)],
    ['what is read', (path: string) => readOwn(path)],
    ['what is written', (path: string) => overwriteOwn(path, 'of the attacker')],
  ])('is refused: %s', (_what, work) => {
    const path = join(place, 'file');
    plant(path);
    expect(() => work(path)).toThrow(/somebody put it there|ENOENT/);
    expect(readFileSync(victim, 'utf8')).toBe('of root');
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });

  it('is not written to as the number of a server that is gone', () => {
    writeFileSync(victim, '999999999\n/somewhere\n');
    plant(join(place, 'postmaster.pid'));
    try {
      disarmStalePid(place, place);
    } catch (error) {
      expect(String(error)).toContain('somebody put it there');
    }
    expect(readFileSync(victim, 'utf8')).toBe('999999999\n/somewhere\n');
  });

  it('is neither followed nor waited for as a lock, nor as its draft', async () => {
    const file = join(place, 'lock');
    for (let claims = 0; claims < 400; claims += 1) {
      symlinkSync(victim, `${file}.${process.pid}-${claims}`);
    }
    plant(file);
    const held = await holdLock(file).catch(() => null);
    if (held?.kind === 'held') held.release();
    expect(readFileSync(victim, 'utf8')).toBe('of root');
  });
});

it('a link in place of the folder of the data is given to nobody', () => {
  const foreign = join(place, 'foreign');
  mkdirSync(foreign, { mode: 0o755 });
  const before = statSync(foreign);
  symlinkSync(foreign, join(place, 'draft'));
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
  expect(() => makePrivate(join(place, 'draft'), account)).toThrow(/is no folder of its own/);
  const after = statSync(foreign);
  expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
  makePrivate(join(place, 'new'), account);
  expect(lstatSync(join(place, 'new')).uid).toBe(account?.uid ?? process.getuid?.());
});
