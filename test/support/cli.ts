// The built program as a child process, for tests of the command line and of dying processes. It
// owns that the build is not older than the sources; it never looks into the program.

import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/database/statements.js';

const PROGRAM = join(packageRoot(), 'bin', 'tieout.js');
const BUILD_WAIT_MS = 60_000;
const BUILD_POLL_MS = 200;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  pid: number;
  ended: Promise<Ended>;
  /** Resolves once standard error or output holds the text; rejects when it ended without. */
  says(text: string): Promise<void>;
  /** The first whole line of standard output. */
  line(): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

export interface CliOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Words before those of the program: another host, another user. */
  prefix?: readonly string[];
}

/** Starts the program in a group of its own, as a terminal would. */
export function startTieout(args: readonly string[], options: CliOptions): Running {
  const words = [...(options.prefix ?? []), process.execPath, PROGRAM, ...args];
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return {
    pid: child.pid ?? 0,
    ended,
    says: (text) => saying(child, said, text),
    line: () => firstLine(child, said),
    signal: (name) => void child.kill(name),
  };
}

/** Runs the program to its end. */
export function tieout(args: readonly string[], options: CliOptions): Promise<Ended> {
  return startTieout(args, options).ended;
}

function saying(
  child: ChildProcess,
  said: { stdout: string; stderr: string },
  text: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if ((said.stdout + said.stderr).includes(text)) resolve();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', () => reject(new Error(`it ended without saying "${text}"`)));
    look();
  });
}

function firstLine(child: ChildProcess, said: { stdout: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const [line, ...more] = said.stdout.split('\n');
      if (line !== undefined && more.length > 0) resolve(line);
    };
    child.stdout?.on('data', look);
    child.once('close', () => reject(new Error('it ended without a line')));
    look();
  });
}

/** Builds the program where the sources are newer; one builder at a time. */
export async function ensureBuilt(): Promise<void> {
  const lock = join(packageRoot(), 'node_modules', '.cache', 'tieout-build.lock');
  mkdirSync(join(packageRoot(), 'node_modules', '.cache'), { recursive: true });
  const deadline = AbortSignal.timeout(BUILD_WAIT_MS);
  while (!takeLock(lock)) {
    if (deadline.aborted) throw new Error(`${lock} was not given back`);
    await sleep(BUILD_POLL_MS);
  }
  try {
    if (isStale()) build();
  } finally {
    rmdirSync(lock);
  }
}

/** Where it fails, whatever is wrong with the sources is said by another command. */
function build(): void {
  const options = { cwd: packageRoot(), stdio: 'ignore' } as const;
  try {
    execFileSync('npm', ['run', '-s', 'build'], options);
  } catch {
    if (isStale()) throw new Error('`npm run build` fails, and wrote no program');
  }
}

function takeLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function isStale(): boolean {
  const sources = ['src', 'jobs', 'reports'].map((name) => join(packageRoot(), name));
  const newest = Math.max(...sources.map((folder) => newestIn(folder, '.ts')));
  return newest > newestIn(join(packageRoot(), 'dist', 'program'), '.js');
}

function newestIn(folder: string, ending: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true }) as string[];
  const times = names
    .filter((name) => name.endsWith(ending))
    .map((name) => statSync(join(folder, name)).mtimeMs);
  return Math.max(0, ...times);
}
