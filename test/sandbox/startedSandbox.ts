// Sandboxes for tests: in this process with a fixed clock, or as a real child process compiled
// from the sources as they are.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { SandboxAccount } from '../../src/sandbox/desk.js';
import {
  DEFAULT_ACCOUNTS,
  type SeedSettings,
  sandboxKey,
} from '../../src/sandbox/seed/seedPlan.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.js';

const ROOT = resolve(import.meta.dirname, '../..');
const NOW = new Date('2026-11-20T03:00:00Z');

export const SETTINGS: SeedSettings = {
  orders: 600,
  seed: 7,
  dayStart: new Date('2026-11-18T23:00:00Z'),
  dayEnd: new Date('2026-11-19T23:00:00Z'),
  accounts: DEFAULT_ACCOUNTS,
};

export const ACCOUNTS: readonly SandboxAccount[] = DEFAULT_ACCOUNTS.map((account) => ({
  ...account,
  signingKey: sandboxKey(SETTINGS.seed, account.accountId),
}));

export const [ACCOUNT, OTHER_ACCOUNT] = ACCOUNTS as [SandboxAccount, SandboxAccount];

export function startHere(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `request-${ids}`;
  };
  return startSandbox({
    settings: SETTINGS,
    accounts: ACCOUNTS,
    now: () => NOW,
    newId,
    ...options,
  });
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'sandbox-test-'));
}

export interface Program {
  /** Runs `sandbox ...` as bin/tieout.js does. */
  readonly path: string;
  remove(): void;
}

/** Compiles the command and what it needs; about a second. */
export function compileProgram(): Program {
  const folder = temporaryFolder();
  const project = join(folder, 'tsconfig.json');
  const compilerOptions = { rootDir: ROOT, outDir: folder, noCheck: true };
  const files = [join(ROOT, 'src/cli/gateway/sandbox.ts')];
  const extended = join(ROOT, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({ extends: extended, compilerOptions, files, include: [] }),
  );
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(ROOT, 'node_modules/.bin/tsc'), '-p', project]);
  const path = join(folder, 'program.mjs');
  const lines = [
    "import { Command } from 'commander';",
    "import { sandboxCommand } from './src/cli/gateway/sandbox.js';",
    "await new Command('tieout').addCommand(sandboxCommand()).parseAsync();",
  ];
  writeFileSync(path, lines.join('\n'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface SandboxChild {
  readonly baseUrl: string;
  readonly accounts: SandboxAccount[];
  readonly child: ChildProcess;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Runs `sandbox --json` and waits for its line. */
export async function startChild(program: Program, args: string[]): Promise<SandboxChild> {
  const child = spawn(process.execPath, [program.path, 'sandbox', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const listening = JSON.parse(line) as { baseUrl: string; accounts: SandboxAccount[] };
  return {
    ...listening,
    child,
    async end(signal) {
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}
