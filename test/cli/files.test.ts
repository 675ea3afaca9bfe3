// Files and folders that cannot be used are said in a sentence, without the program's own lines: a
// folder that is missing, one that is no folder, a file that is none. Each names the path.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { fileFailure, inDiskWords, messageOf } from '../../src/core/errors.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { ROOT } from '../support/sourceFiles.js';

const NAMELESS = 54_321;

function isReadBy(uid: number): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync('cat', [join(ROOT, 'package.json')], { uid, cwd: '/' }).status === 0;
}

const folder = mkdtempSync(join(tmpdir(), 'tieout-files-'));
beforeAll(async () => {
  await ensureBuilt();
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'folder'));
  writeFileSync(
    join(folder, 'tieout.yaml'),
    'dataDir: ./file/data\naccounts: [{ merchantId: M, accountId: A, signingKey: k }]\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the command line', () => {
  it.each([
    ['demo --config nowhere/demo.yaml', 'nowhere/demo.yaml: there is no such file or folder'],
    ['demo --config file/demo.yaml', 'file/demo.yaml: a part of the path is no folder'],
    ['init --config nowhere/t.yaml', 'nowhere/t.yaml: cannot be written'],
    ['sandbox --port 0 --state file/state', 'file/state: a part of the path is no folder'],
    ['doctor', 'file/data'],
    ['run', 'dataDir'],
    ['import orders folder --map nowhere.yaml', 'nowhere.yaml'],
    ['import orders none.csv', 'none.csv: there is no such file'],
    ['import refunds tieout.yaml', 'its name must end in .csv or .ndjson'],
    ['import responses none.xml', 'none.xml: there is no such file'],
    ['status --config folder', 'folder: cannot be read: it is a folder'],
  ])('%s', async (words, sentence) => {
    const { code, stderr, stdout } = await tieoutHere(words.split(' '), { cwd: folder });
    expect([1, 2]).toContain(code);
    expect(stderr).toContain(sentence);
    expect(stderr + stdout).not.toMatch(/^ {4}at /m);
  });

  // A container's number, of which the list of users has no name. Only root takes it on, and the
  // checkout has to lie where such a user may read it.
  it.runIf(isReadBy(NAMELESS))('says them to a user without a name, too', () => {
    const program = join(ROOT, 'bin', 'tieout.js');
    const nameless = { uid: NAMELESS, gid: NAMELESS, cwd: '/', encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(process.execPath, [program, 'status'], nameless);
    expect(stderr).toMatch(/^tieout: .*tieout init/m);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(status).toBe(2);
  });
});

it('a configuration that this user may not read is said, and how that is mended', async () => {
  const asRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  const file = join(folder, 'private.yaml');
  writeFileSync(file, 'dataDir: ./var\n', { mode: asRoot ? 0o600 : 0o000 });
  const prefix = asRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const words = ['status', '--config', 'private.yaml'];
  const { code, stderr } = await tieout(words, { cwd: folder, prefix });
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}: cannot be read: this user may not.`);
  expect(stderr).toContain('chmod 640');
  expect(stderr).not.toContain('UTF-8');
});

test('what the system says is put into words, and nothing else is', () => {
  const said = (code: string) =>
    fileFailure(Object.assign(new Error('x'), { code, path: '/a/b', syscall: 'open' }));
  expect(said('EACCES')).toBe('/a/b: this user may not do that here (open)');
  const denied = Object.assign(new Error('x'), { code: 'EACCES', path: '/a/b', syscall: 'open' });
  expect(fileFailure(denied, 'tieout')).toBe('/a/b: user tieout may not do that here (open)');
  expect(said('ENOSPC')).toBe('/a/b: the disk is full (open)');
  expect(said('EPIPE')).toBe(null);
  expect(fileFailure(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe(null);
  expect(fileFailure(new TypeError('x'))).toBe(null);
});

test('a write that finds the disk full is said with the folders that are written to', () => {
  const said = (more: object) =>
    messageOf(inDiskWords(Object.assign(new Error('x'), more), ['/a/var', '/b/reports']));
  expect(said({ code: 'ENOSPC' })).toBe('the disk is full: make room under /a/var or /b/reports');
  expect(said({ code: 'EDQUOT' })).toMatch(/^the disk is full/);
  expect(said({ code: 'ENOSPC', path: '/a/var/file' })).toBe('x');
  expect(said({ code: 'EIO' })).toBe('x');
});
