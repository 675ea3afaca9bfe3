// The sandbox behind `gateway.baseUrl: sandbox`: found running or started, shared by every tieout
// process on the same state folder, and gone by itself when the last of them has left. Two
// starters end with one sandbox because the state folder has one lock (processes/pidLock.ts).
// It must never pass a key on a command line: accounts are announced over the loopback address.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from '../core/errors.js';
import type { SandboxAccount } from './desk.js';
import { readListening, type StateFiles, stateFiles } from './state.js';

const ANNOUNCE_EVERY_MS = 3_000;
const CALL_TIMEOUT_MS = 5_000;
const POLL_EVERY_MS = 50;
const START_MS_MAX = 30_000;
/** One may lose the race for the lock, or meet one that is just ending. */
const STARTS_MAX = 8;
const RESTART_AFTER_MS = 250;

interface SandboxUse {
  readonly baseUrl: string;
  /** The last user that leaves ends the sandbox. */
  leave(): Promise<void>;
}

interface UseSandboxOptions {
  readonly stateDir: string;
  readonly accounts: readonly SandboxAccount[];
  readonly log: (line: string) => void;
  /** The program that runs `sandbox --state DIR --until-unused`: bin/tieout.js. */
  readonly program: string;
}

/** Joins the sandbox of a state folder, starting it where none runs. */
export async function useSandbox(options: UseSandboxOptions): Promise<SandboxUse> {
  const files = stateFiles(options.stateDir);
  const id = `${process.pid}-${randomUUID()}`;
  const accounts = options.accounts.map(({ merchantId, accountId, signingKey }) => {
    return { merchantId, accountId, signingKey };
  });
  const announcement = JSON.stringify({ id, accounts });
  const deadline = performance.now() + START_MS_MAX;
  let child: ChildProcess | null = null;
  let starts = 0;
  while (performance.now() < deadline) {
    const baseUrl = await findRunning(files);
    if (baseUrl !== null && (await post(baseUrl, announcement))) {
      options.log(`sandbox gateway on ${baseUrl}`);
      return joined(baseUrl, id, announcement);
    }
    // One that lost the race for the lock has ended; one that is still starting is waited for.
    if (child === null || child.exitCode !== null || child.signalCode !== null) {
      if (starts === STARTS_MAX) break;
      if (starts > 0) await sleep(RESTART_AFTER_MS);
      starts += 1;
      child = startDetached(options.program, files);
    }
    await sleep(POLL_EVERY_MS);
  }
  throw new UnreachableError(`the sandbox did not start; see ${files.log}`);
}

function joined(baseUrl: string, id: string, announcement: string): SandboxUse {
  const timer = setInterval(() => void post(baseUrl, announcement), ANNOUNCE_EVERY_MS);
  timer.unref();
  return {
    baseUrl,
    async leave() {
      clearInterval(timer);
      await post(baseUrl, JSON.stringify({ id, leave: true }));
    },
  };
}

/** The address of a sandbox that answers for this very folder. */
async function findRunning(files: StateFiles): Promise<string | null> {
  const listening = readListening(files);
  if (listening === null) return null;
  try {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const answer = await fetch(`${listening.baseUrl}/_sandbox/health`, { signal });
    const health = (await answer.json()) as { stateDir?: unknown };
    return health.stateDir === files.folder ? listening.baseUrl : null;
  } catch {
    return null;
  }
}

async function post(baseUrl: string, body: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const answer = await fetch(`${baseUrl}/_sandbox/users`, { method: 'POST', body, signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

/** A process of its own: neither Ctrl-C nor the end of its starter may take it from others. */
function startDetached(program: string, files: StateFiles): ChildProcess {
  const log = openSync(files.log, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [program, 'sandbox', '--state', files.folder, '--port', '0', '--json', '--until-unused'],
    { detached: true, stdio: ['ignore', log, log], cwd: files.folder },
  );
  closeSync(log);
  child.unref();
  return child;
}
