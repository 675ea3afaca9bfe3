// deploy/update.sh as root types it, in folders of its own: what it does to the units of systemd, and
// that a host on which something fails goes on with the old program. systemctl and npm write down what
// they were asked; the program is a line that says its version, and fails where a case wants it to.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { textOf } from './support/sourceFiles.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-update-'));
const asked = join(folder, 'asked');
const at = (...parts: string[]): string => join(folder, ...parts);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(() => {
  for (const name of ['opt', 'var', 'bin', 'package'])
    rmSync(at(name), { recursive: true, force: true });
  write(
    'bin/systemctl',
    `echo "systemctl $*" >> ${asked}; [ "$1" != list-units ] || cat ${at('units')}`,
  );
  write('bin/npm', 'exit 0');
  write('bin/tieout', `exec sh ${at('opt/tieout/deploy/tieout.sh')} "$@"`);
  write('opt/tieout/deploy/tieout.sh', program('old'));
  write('package/package/deploy/tieout.sh', program('new'));
  write(
    'update.sh',
    textOf('deploy/update.sh')
      .replaceAll('/opt/', `${at('opt')}/`)
      .replaceAll('/var/lib/tieout', at('var'))
      .replace('$(id -u)', '0'),
  );
  writeFileSync(
    at('units'),
    'tieout.service loaded active running\ntieout-work.service loaded active running\n',
  );
  writeFileSync(asked, '');
  spawnSync('tar', ['czf', at('new.tgz'), '-C', at('package'), 'package']);
});

const BOTH = 'tieout.service tieout-work.service';

test('stops every unit, saves the database, migrates by the new program, starts what was stopped', () => {
  const { status, stdout } = update();
  expect(stdout).toContain('updated; the backup is in');
  expect(status).toBe(0);
  expect(done()).toEqual([
    'new doctor',
    `systemctl stop ${BOTH}`,
    'old backup',
    'new migrate',
    `systemctl start --no-block ${BOTH}`,
  ]);
});

test('stops nothing where the new program cannot read the configuration', () => {
  const { status, stderr } = update({ FAILS: 'doctor', WITH: '2' });
  expect(stderr).toMatch(/doctor fails[\s\S]*nothing was stopped/);
  expect(status).toBe(2);
  expect(done()).toEqual(['new doctor']);
});

test.each(['backup', 'migrate'])(
  'a %s that fails brings the old program back, and it runs',
  (word) => {
    const { status, stderr } = update({ FAILS: word, WITH: '1' });
    expect(stderr).toContain(`not updated: ${BOTH} runs again as before`);
    expect(status).not.toBe(0);
    expect(done().at(-1)).toBe(`systemctl start --no-block ${BOTH}`);
    expect(readFileSync(at('opt/tieout/deploy/tieout.sh'), 'utf8')).toContain('old');
    // Once more, when it is mended.
    expect(update().status).toBe(0);
    expect(readFileSync(at('opt/tieout/deploy/tieout.sh'), 'utf8')).toContain('new');
  },
);

test('without a package it says how it is called', () => {
  const { status, stderr } = spawnSync('sh', [at('update.sh')], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringContaining('sh update.sh tieout-')]);
});

function update(env: Record<string, string> = {}): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const path = `${at('bin')}:${process.env.PATH}`;
  return spawnSync('sh', [at('update.sh'), at('new.tgz')], {
    encoding: 'utf8',
    env: { PATH: path, ...env },
  });
}

/** What was asked of programs and systemd, without its list of units. */
function done(): string[] {
  return readFileSync(asked, 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.includes('list-units'));
}

function program(version: string): string {
  return `echo "${version} $1" >> ${asked}
if [ "$1" = "\${FAILS-}" ]; then echo "$1 fails" >&2; exit "$WITH"; fi`;
}

function write(path: string, script: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), `#!/bin/sh\n${script}\n`);
  chmodSync(at(path), 0o755);
}
