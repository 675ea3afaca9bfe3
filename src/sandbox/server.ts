// The sandbox as a server on the loopback address: opens book and journal, listens, lets faults
// happen, and ends. It never answers before the journal has the effects (desk.ts), and is never
// reachable from another machine. Neighbours: wire.ts reads and writes, inspect.ts shows.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TieoutError, UnreachableError, UsageError } from '../core/errors.js';
import { type Profile, sandboxProfile } from '../gateway/profile.js';
import { createBook, draftOf, repeat, settle } from './book.js';
import { type Desk, keepEffect, type SandboxAccount } from './desk.js';
import { entryPrinter } from './entries.js';
import { bareAnswer, distort, type FaultAction, type FaultPlan } from './faults.js';
import { type Inspected, inspect } from './inspect.js';
import { type Journal, type JournalLine, openJournal } from './journal.js';
import { type Held, holdLock } from './lock.js';
import { layOutNight, type NightSettings } from './night.js';
import {
  removeListening,
  type StateFiles,
  stateFiles,
  writeListening,
  writeSandboxSettings,
} from './state.js';
import { trackUsers } from './users.js';
import { bytesOf, operatorOf, readBody, readMessage, send, sendText } from './wire.js';

const HOST = '127.0.0.1';

export interface SandboxOptions {
  readonly settings: NightSettings;
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
    const desk = openDesk(options, files);
    return await serve(options, desk, files, held);
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
function openDesk(options: SandboxOptions, files: StateFiles | null): Desk {
  const book = createBook(layOutNight(options.settings));
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
  };
}

async function serve(
  options: SandboxOptions,
  desk: Desk,
  files: StateFiles | null,
  held: { release(): void } | null,
): Promise<Sandbox> {
  const { onUnused, now } = options;
  const users = onUnused === undefined ? null : trackUsers({ now, onUnused });
  const inspected: Inspected = { desk, users, stateDir: files?.folder ?? null };
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    handle(options, inspected, seen, request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'the sandbox failed');
    });
  });
  const close = async (): Promise<void> => {
    users?.stop();
    await closeServer(server);
    desk.journal.close();
    if (files !== null) removeListening(files);
    held?.release();
  };
  try {
    const baseUrl = await listen(server, options.port ?? 0);
    if (files !== null) writeListening(files, { baseUrl, pid: process.pid });
    return { baseUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function handle(
  options: SandboxOptions,
  inspected: Inspected,
  seen: Map<string, number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? '';
  if (path.startsWith('/_sandbox/')) return inspect(inspected, request, response);
  const operator = operatorOf(path);
  if (operator === null) return sendText(response, 404, 'Record not found');
  if (request.method !== 'POST') return sendText(response, 405, 'POST only');
  const body = await readBody(request);
  if (body === null) return sendText(response, 413, 'the body is too large');

  const text = body.toString('utf8');
  const operation = path.slice('/v1/'.length);
  const number = (seen.get(operation) ?? 0) + 1;
  seen.set(operation, number);
  const fault = options.fault?.({ number, operation, body: text }) ?? null;
  if (fault !== null && failsBefore(fault, request, response)) return;

  const message = readMessage(request.headers['content-type'] ?? '', text);
  const hash = createHash('sha256').update(body).digest('hex');
  const received = { request: `${options.newId()}.${hash}`, at: options.now() };
  const answer =
    message === null
      ? bareAnswer(400, 'text/plain', 'Invalid input')
      : operator(inspected.desk, { ...received, message });
  if (options.latencyMs !== undefined) await sleep(options.latencyMs);
  if (fault === null) return send(response, answer);
  if (fault.kind === 'drop') return void request.socket.resetAndDestroy();
  if (fault.kind === 'truncate') return sendHalf(response, bytesOf(answer), answer.contentType);
  send(response, distort(answer, fault));
}

/** True: the request ended here and nothing happened. */
function failsBefore(
  fault: FaultAction,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (!('when' in fault) || fault.when !== 'before') return false;
  if (fault.kind === 'drop') request.socket.resetAndDestroy();
  else send(response, distort(bareAnswer(200, 'text/plain', ''), fault));
  return true;
}

function sendHalf(response: ServerResponse, body: Buffer, contentType: string): void {
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  const half = body.subarray(0, Math.floor(body.length / 2));
  response.write(half, () => response.destroy());
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
