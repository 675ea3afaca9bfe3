// The sandbox as a server on the loopback address: opens book and journal, listens, and ends. It
// never answers before the journal has the effects (desk.ts), and is never reachable from another
// machine. Neighbours: handle.ts answers what a gateway has, inspect.ts what only the sandbox has.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TieoutError, UnreachableError, UsageError } from '../core/errors.js';
import { type Profile, sandboxProfile } from '../gateway/document/profile.js';
import { type Held, holdLock } from '../processes/pidLock.js';
import { entryPrinter } from './answers/entries.js';
import { repeat } from './book/arrivals.js';
import { createBook, draftOf, settle } from './book/book.js';
import { type Desk, keepEffect, type SandboxAccount } from './desk.js';
import { type FaultRule, openFaultRules } from './faults/faultRules.js';
import type { FaultPlan } from './faults/faults.js';
import { endTraffic, type House, handleOperation, openTraffic } from './handle.js';
import { type Inspected, inspect } from './inspect.js';
import { type Journal, type JournalLine, openJournal } from './journal.js';
import { type Notifier, openNotifier } from './notify.js';
import { planSeed, type SeedSettings } from './seed/seedPlan.js';
import {
  removeListening,
  type StateFiles,
  stateFiles,
  writeListening,
  writeSandboxSettings,
} from './state.js';
import { trackUsers } from './users.js';
import { sendText } from './wire.js';

const HOST = '127.0.0.1';

export interface SandboxOptions {
  readonly settings: SeedSettings;
  readonly accounts: readonly SandboxAccount[];
  readonly now: () => Date;
  readonly newId: () => string;
  /** Default: `profile: sandbox`. */
  readonly profile?: Profile;
  /** Remembers there what it did; without it everything is forgotten at the end. */
  readonly stateDir?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Every answer waits so long, after the effect. */
  readonly latencyMs?: number;
  readonly fault?: FaultPlan;
  /** Rules to begin with; more can come over /_sandbox/faults. */
  readonly faults?: readonly FaultRule[];
  /** Refuses the same refund and the same payout a second time; default: permissive. */
  readonly strict?: boolean;
  /** Addresses that may query; default: everyone who reaches the sandbox. */
  readonly allow?: readonly string[];
  /** Posts to notify_url; default: never. */
  readonly notify?: boolean;
  /** Given: watches its users (users.ts) and calls this when the last one has gone. */
  readonly onUnused?: () => void;
}

export interface Sandbox {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Starts a sandbox; a state folder that another process runs is a UsageError. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const files = options.stateDir === undefined ? null : stateFiles(options.stateDir);
  const held = files === null ? null : await holdState(files);
  try {
    if (files !== null) writeSandboxSettings(files.folder, options.settings);
    const notifier = options.notify === true ? openNotifier() : null;
    const desk = openDesk(options, files, notifier);
    return await serve(options, desk, files, () => {
      notifier?.stop();
      held?.release();
    });
  } catch (error) {
    held?.release();
    throw error;
  }
}

async function holdState(files: StateFiles): Promise<Extract<Held, { kind: 'held' }>> {
  const held = await holdLock(files.lock);
  if (held.kind === 'held') return held;
  throw new UsageError(`${files.folder}: process ${held.pid} already runs this sandbox`);
}

/** The book as seeded, and everything that the journal says happened since. */
function openDesk(
  options: SandboxOptions,
  files: StateFiles | null,
  notifier: Notifier | null,
): Desk {
  const book = createBook(planSeed(options.settings));
  const effects: string[] = [];
  const journal: Journal = openJournal(files?.effects ?? null, (line: JournalLine) => {
    const draft = draftOf(book);
    if (!repeat(draft, line)) {
      throw new TieoutError(`${files?.effects}: ${line.operation} ${line.order_no} does not fit`);
    }
    settle(draft);
    keepEffect(effects, line);
  });
  const profile = options.profile ?? sandboxProfile();
  return {
    profile,
    printer: entryPrinter(profile),
    book,
    journal,
    accounts: new Map(options.accounts.map((account) => [account.accountId, account])),
    effects,
    isStrict: options.strict === true,
    callers: options.allow === undefined ? null : new Set(options.allow),
    notify: (url, fields) => notifier?.notify(url, fields),
  };
}

async function serve(
  options: SandboxOptions,
  desk: Desk,
  files: StateFiles | null,
  release: () => void,
): Promise<Sandbox> {
  const { onUnused, now } = options;
  const users = onUnused === undefined ? null : trackUsers({ now, onUnused });
  const house = openHouse(options, desk);
  const inspected: Inspected = { house, users, stateDir: files?.folder ?? null };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const answered = path.startsWith('/_sandbox/')
      ? inspect(inspected, request, response)
      : handleOperation(house, path, request, response);
    answered.catch(() => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'the sandbox failed');
    });
  });
  const close = async (): Promise<void> => {
    users?.stop();
    endTraffic(house.traffic);
    await closeServer(server);
    desk.journal.close();
    if (files !== null) removeListening(files);
    release();
  };
  try {
    house.baseUrl = await listen(server, options.port ?? 0);
    if (files !== null) writeListening(files, { baseUrl: house.baseUrl, pid: process.pid });
    return { baseUrl: house.baseUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function openHouse(options: SandboxOptions, desk: Desk): House {
  const rules = openFaultRules(options.settings.seed);
  rules.add(options.faults ?? []);
  return {
    desk,
    now: options.now,
    newId: options.newId,
    latencyMs: options.latencyMs ?? 0,
    fault: options.fault ?? null,
    rules,
    traffic: openTraffic(),
    baseUrl: '',
  };
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const problem = 'code' in error && error.code === 'EADDRINUSE' ? 'is in use' : 'is refused';
      reject(new UnreachableError(`port ${port} ${problem}`, { cause: error }));
    });
    server.listen(port, HOST, () => {
      resolve(`http://${HOST}:${(server.address() as AddressInfo).port}`);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
