// Other processes for tests that need some: a child runs the embedded server, as it was built, under
// any user. Neighbour: cli.ts, which sees to it that the build is not older than the sources.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

/** Where the program as it was built has its modules. */
const BUILT = join(packageRoot(), 'dist');

/** A process that starts or adopts the server of dataDir and then waits for a word. */
export function startProcess(
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
  const words = ['--input-type=module', '-e', PROGRAM, BUILT, dataDir, mode];
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
