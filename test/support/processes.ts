// Other processes for tests that need some: the sources are compiled once into a folder beside the
// installed packages, and a child runs the embedded server from there under any user.

import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/database/statements.js';

export interface Starter {
  process: ChildProcess;
  /** The next line the child prints: what it did, or the error it met. */
  said(): Promise<Record<string, unknown>>;
  tell(word: 'stopIfUnused' | 'leave'): void;
}

const PROGRAM = `
const { startEmbedded } = await import(process.argv[1] + '/src/database/embedded/embedded.js');
const { createInterface } = await import('node:readline');
const say = (fact) => console.log(JSON.stringify(fact));
try {
  const options = { dataDir: process.argv[2], unsafeFast: process.argv[3] === 'fast' };
  const server = await startEmbedded(options);
  say({ host: server.host, adopted: server.adopted });
  for await (const word of createInterface({ input: process.stdin })) {
    if (word === 'leave') break;
    say({ stopped: await server.stopIfUnused() });
  }
} catch (error) {
  say({ error: error.message });
}
`;

/** Compiles the embedded server; returns the folder and a way to remove it. */
export function compileEmbedded(): { folder: string; remove(): void } {
  const root = packageRoot();
  const folder = join(root, 'node_modules', '.cache', `tieout-test-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const flags = '--ignoreConfig --module nodenext --target es2023 --skipLibCheck --types node';
  execFileSync(
    join(root, 'node_modules', '.bin', 'tsc'),
    [
      ...flags.split(' '),
      '--rootDir',
      root,
      '--outDir',
      folder,
      'src/database/embedded/embedded.ts',
    ],
    { cwd: root, stdio: 'inherit' },
  );
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A process that starts or adopts the server of dataDir and then waits for a word. */
export function startProcess(
  folder: string,
  dataDir: string,
  options: {
    uid?: number;
    gid?: number;
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    mode?: string;
  } = {},
): Starter {
  const { mode = 'fast', ...how } = options;
  const words = ['--input-type=module', '-e', PROGRAM, folder, dataDir, mode];
  const child = spawn(process.execPath, words, {
    cwd: '/',
    ...how,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    said: async () => JSON.parse((await lines.next()).value ?? '{"error":"it said nothing"}'),
    tell: (word) => child.stdin.write(`${word}\n`),
  };
}

export async function killed(
  starter: Starter,
  signal: NodeJS.Signals,
  whole: 'one' | 'group' = 'one',
): Promise<void> {
  const pid = starter.process.pid ?? 0;
  const exit = once(starter.process, 'exit');
  process.kill(whole === 'group' ? -pid : pid, signal);
  await exit;
}
