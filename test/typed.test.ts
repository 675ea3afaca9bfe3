// What people and machines are told to type: the command lines in the papers, in the messages of the
// program and in the files under deploy/. Each names a command that exists and options that it
// takes, and what runs where nobody looks is spelled for where it runs.
// Neighbour: documents.test.ts.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { COMMANDS } from '../src/cli/commands.js';
import { type CommandNode, commandTree } from '../src/cli/commandTree.js';
import { allFiles, ROOT, textOf } from './support/sourceFiles.js';

const PAPERS = allFiles().filter((path) => path.endsWith('.md'));
const SOURCES = allFiles().filter((path) =>
  /^(src|reports|jobs|deploy)\/.*\.(tsx?|sh|yaml|sql)$/.test(path),
);
const NODES = await commandTree(COMMANDS);
const BY_PATH = new Map(NODES.map((node) => [node.path, node]));

interface Line {
  path: string;
  /** what stands behind `tieout ` */
  words: string;
}

test('every command line of the papers is one that the program takes', () => {
  const lines = PAPERS.flatMap((path) => [...spans(path), ...blocks(path)]);
  expect(lines.length).toBeGreaterThan(250);
  expect(lines.flatMap(wrong)).toEqual([]);
});

test('and so is every one that the program itself names, or a file under deploy/', () => {
  const named = new RegExp(`tieout ((?:${names().join('|')})\\b[^\`'"\\n]*)`, 'g');
  const lines = SOURCES.flatMap((path) =>
    [
      ...textOf(path)
        .replaceAll(/\$\{[^{}]*\}/g, 'X')
        .matchAll(named),
    ].map(([, words = '']) => ({
      path,
      words,
    })),
  );
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.flatMap(wrong)).toEqual([]);
});

/** `tieout words` in the running text; a line may end within. */
function spans(path: string): Line[] {
  return [...textOf(path).matchAll(/`(?:npx )?tieout\s+([^`]+)`/g)].map(([, words = '']) => ({
    path,
    words: words.replaceAll(/\s+/g, ' '),
  }));
}

/** Lines that are indented by four, as what is to be copied is. */
function blocks(path: string): Line[] {
  return [...textOf(path).matchAll(/^ {4}.*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/(?:^ +|[|;&(] ?|\$ |npx |\d {2,})tieout ([^#]+)/g)].map(
      ([, words = '']) => ({ path, words }),
    ),
  );
}

/** What of a line the program would not take, in words; the rest of the shell's line is left alone. */
function wrong({ path, words }: Line): string[] {
  const [own = ''] = words.split(/ *(?:[;#<>()\\]|\|\||&&| \| |&)/);
  const tokens = own
    .replaceAll(/[[\],.]/g, ' ')
    .split(/ +/)
    .filter((token) => token !== '');
  return heads(tokens).flatMap(({ node, rest }) => {
    if (node === undefined) return [`${path}: no command in "tieout ${own}"`];
    const options = rest.flatMap((token) => /^--[a-z-]+/.exec(token) ?? []);
    const known = new Set(optionsOf(node));
    return options
      .filter((option) => !known.has(option))
      .map((option) => `${path}: tieout ${node.path} ${option}`);
  });
}

/** The commands that a line names: `days close|lock` names two. */
function heads(tokens: string[]): { node: CommandNode | undefined; rest: string[] }[] {
  const [first = '', second = ''] = tokens;
  if (/^(-|[A-Z]+$)/.test(first)) return [{ node: BY_PATH.get(''), rest: tokens }];
  return first.split('|').flatMap((name) => {
    const below = second.split('|').map((word) => BY_PATH.get(`${name} ${word}`));
    const isBelow = below.some((node) => node !== undefined);
    if (isBelow) return below.map((node) => ({ node, rest: tokens.slice(2) }));
    return [{ node: BY_PATH.get(name), rest: tokens.slice(1) }];
  });
}

/** Of a group also those of its commands: one of them is meant where none is named. */
function optionsOf({ path }: CommandNode): string[] {
  const own = NODES.filter((node) => node.path === path || isGroup(path, node));
  return own.flatMap((node) => node.options.map(({ long }) => long));
}

function isGroup(path: string, node: CommandNode): boolean {
  return path !== '' && node.path.startsWith(`${path} `);
}

function names(): string[] {
  return NODES.map(({ path }) => path).filter((path) => path !== '' && !path.includes(' '));
}

test('what systemd begins is a command, and node may do all that it asks of the system as it begins', () => {
  for (const name of ['tieout.service', 'tieout-run.service']) {
    const unit = textOf(`deploy/systemd/${name}`);
    const [, program = '', command = ''] =
      /^ExecStart=\/usr\/bin\/node \/opt\/tieout\/(\S+) (.+)$/m.exec(unit) ?? [];
    expect(existsSync(join(ROOT, program)), name).toBe(true);
    expect(BY_PATH.has(command), name).toBe(true);
    // Keys of memory are no part of @system-service: with that alone the kernel kills each node.
    expect(unit).toMatch(/^SystemCallFilter=.*@system-service.*@pkey/m);
    expect(unit).toMatch(/^SystemCallErrorNumber=EPERM$/m);
    const paper = /^Documentation=file:\/\/\/opt\/tieout\/(\S+)$/m.exec(unit)?.[1] ?? '';
    expect(existsSync(join(ROOT, paper)), name).toBe(true);
  }
});

test('an image that is not ours is taken by its digest, as soon as that was asked for', () => {
  const named = [
    ...textOf('compose.yaml').matchAll(/^\s*image: (\S+)$/gm),
    ...textOf('deploy/kubernetes.yaml').matchAll(/^\s*image: (\S+)$/gm),
    ...textOf('Dockerfile').matchAll(/^FROM (\S+)/gm),
  ].map(([, image = '']) => image);
  const foreign = named.filter((image) => !/^tieout(:[\d.]+)?$/.test(image));
  const variables = foreign.map((image) => /\$\{(\w+_DIGEST)(:-)?\}$/.exec(image)?.[1] ?? image);
  const folder = mkdtempSync(join(tmpdir(), 'tieout-images-'));
  try {
    const digest = `sha256:${'0a'.repeat(32)}`;
    writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho "\${DIGEST:-${digest}}"\n`, {
      mode: 0o755,
    });
    writeFileSync(join(folder, '.env'), 'DB_PASSWORD=secret\nREDIS_DIGEST=@sha256:old\n');
    const pin = (words: string[], more: object = {}) =>
      spawnSync(join(ROOT, 'deploy/pin-images.sh'), words, {
        cwd: folder,
        env: { PATH: `${folder}:${process.env.PATH}`, ...more },
        encoding: 'utf8',
      });
    expect(pin(['--check'])).toMatchObject({ status: 1, stderr: expect.stringContaining('redis') });
    expect(pin([], { DIGEST: 'latest' }).status).toBe(1);
    expect(pin([]).status).toBe(0);
    expect(pin(['--check']).status).toBe(0);
    const written = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
    expect(written[0]).toBe('DB_PASSWORD=secret');
    const pinned = written.slice(1).map((line) => line.split('=@'));
    expect(new Map(pinned as [string, string][])).toEqual(
      new Map(variables.map((name) => [name, digest])),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what Kubernetes and compose begin are commands, at the ports and folders of the image', () => {
  const pods = parseAllDocuments(textOf('deploy/kubernetes.yaml')).flatMap((one) =>
    podsIn(one.toJS()),
  );
  expect(pods.map(({ containers: [one] }) => one?.name)).toEqual(['migrate', 'run', 'work', 'web']);
  for (const { containers, volumes } of pods) {
    for (const { args, command, volumeMounts, ports, ...probes } of containers) {
      const words =
        args?.join(' ') ?? /\/app\/bin\/tieout\.js (\w+)/.exec(command?.join(' ') ?? '')?.[1];
      expect(BY_PATH.has(words ?? ''), words).toBe(true);
      const mounted = Object.fromEntries(
        volumeMounts.map(({ mountPath, name }) => [mountPath, name]),
      );
      expect(mounted).toMatchObject({ '/etc/tieout': 'config', '/tmp': 'tmp' });
      expect(mounted).toHaveProperty(['/var/lib/tieout'], 'data');
      const claimed = ['data', ...volumes.map(({ name }) => name)];
      expect(Object.values(mounted).filter((name) => !claimed.includes(name))).toEqual([]);
      for (const { httpGet } of [probes.livenessProbe, probes.readinessProbe].filter(
        (one) => one !== undefined,
      )) {
        expect(['/healthz', '/readyz']).toContain(httpGet.path);
        expect(ports?.map(({ name }) => name)).toContain(httpGet.port);
      }
    }
  }
  const { services } = parse(textOf('compose.yaml'), { merge: true }) as {
    services: Record<
      string,
      { build?: string; command: string; restart: string; profiles?: string[] }
    >;
  };
  const ours = Object.values(services).filter(({ build }) => build !== undefined);
  expect(ours).toHaveLength(3);
  // The sandbox of its configuration is a process beside the one that asks: no other container
  // reaches it.
  expect(textOf('deploy/compose-tieout.yaml')).toContain('baseUrl: sandbox');
  const always = ours.filter(({ restart, profiles }) => restart !== 'no' && profiles === undefined);
  expect(always.map(({ command }) => command)).toEqual(['start']);
  expect(ours.flatMap(({ command }) => wrong({ path: 'compose.yaml', words: command }))).toEqual(
    [],
  );
});

test('the shell of the CronJob hands on what Kubernetes says, and the exit code', async () => {
  const [run] = parseAllDocuments(textOf('deploy/kubernetes.yaml'))
    .flatMap((one) => podsIn(one.toJS()))
    .flatMap(({ containers }) => containers)
    .filter(({ name }) => name === 'run');
  const [shell, ...words] = run?.command ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'tieout-cronjob-'));
  try {
    const program = join(folder, 'told.mjs');
    writeFileSync(
      program,
      `const code = Number(process.argv[2]);
       process.on('SIGTERM', () => process.exit(code));
       console.log('runs');
       setTimeout(() => process.exit(9), 20_000);`,
    );
    const codes: (number | null)[] = [];
    for (const code of [0, 3, 4]) {
      const told = words.map((word) =>
        word.replace('/app/bin/tieout.js run', `${program} ${code}`),
      );
      const child = spawn(shell ?? '', told, { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill('SIGTERM');
      codes.push((await once(child, 'exit'))[0] as number | null);
    }
    expect(codes).toEqual([0, 0, 4]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

interface Pod {
  volumes: { name: string }[];
  containers: {
    name: string;
    args?: string[];
    command?: string[];
    volumeMounts: { name: string; mountPath: string }[];
    ports?: { name: string; containerPort: number }[];
    livenessProbe?: { httpGet: { path: string; port: string } };
    readinessProbe?: { httpGet: { path: string; port: string } };
  }[];
}

/** However deep the template of a pod lies in what makes it. */
function podsIn(value: unknown): Pod[] {
  if (value === null || typeof value !== 'object') return [];
  if ('containers' in value) return [value as Pod];
  return Object.values(value).flatMap(podsIn);
}

test('lines for cron are spelled for cron: it ends a command at %, and does not look in /usr/local/bin', () => {
  const lines = PAPERS.flatMap((path) =>
    [...textOf(path).matchAll(/^ {4}(?:[\d*/,-]+ +){5}.*$/gm)].map(([line]) => ({ path, line })),
  );
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter(({ line }) => /(?<!\\)%/.test(line))).toEqual([]);
  for (const path of new Set(lines.map((one) => one.path))) {
    expect(textOf(path), path).toMatch(/^ {4}PATH=\/usr\/local\/bin:/m);
  }
});
