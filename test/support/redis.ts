// A real Redis server for tests: a private one on a free port in a temporary folder, with its
// append-only file on, or the one that REDIS_URL names. It must never flush or stop a server that
// it did not start. Where there is neither, `redisMissing` says why, for the title of a skipped
// test.

import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const START_ATTEMPTS = 3;
const READY_POLLS = 200;
const READY_POLL_MS = 50;

const given = process.env.REDIS_URL ?? '';
const installed = spawnSync('redis-server', ['--version']).status === 0;

/** Null where the tests can run; else the reason, fit for a title. */
export const redisMissing: string | null =
  given !== '' || installed ? null : 'no redis-server on PATH and no REDIS_URL';

/** Null where a test may stop, restart and flush the server. */
export const privateRedisMissing: string | null = installed ? null : 'no redis-server on PATH';

export interface TestRedis {
  url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops it in its tracks, with its connections open, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Starts it again with what its file holds. */
  start(): Promise<void>;
  command(...words: string[]): Promise<unknown>;
  end(): Promise<void>;
}

/** The address to test against: REDIS_URL, else a private server, ended by `end`. */
export async function sharedRedis(): Promise<{ url: string; end(): Promise<void> }> {
  return given === '' ? startRedis() : { url: given, end: async () => {} };
}

/** A private server; `settings` are further options of redis-server. */
export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'tieout-redis-'));
  let lastError: unknown;
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    // Another process may take the port between the search and the start, hence the attempts.
    const port = await freePort();
    try {
      return await serve(dir, port, settings);
    } catch (error) {
      lastError = error;
    }
  }
  await rm(dir, { recursive: true, force: true });
  throw new Error('redis-server did not start', { cause: lastError });
}

async function serve(dir: string, port: number, settings: readonly string[]): Promise<TestRedis> {
  let server = await launch(dir, port, settings);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async start() {
      server = await launch(dir, port, settings);
    },
    command: (...words) => run(port, words),
    async end() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function launch(
  dir: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''];
  const server = spawn('redis-server', [...args, '--appendonly', 'yes', ...settings], {
    stdio: 'ignore',
  });
  for (let poll = 1; poll <= READY_POLLS; poll += 1) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    // A server with a password answers that it wants one; it is ready, too.
    if (/^(\+PONG|-NOAUTH)/.test(await ping(port))) return server;
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  server.kill('SIGKILL');
  throw new Error('redis-server did not answer');
}

/** The first words of the server's answer; empty while nobody listens. */
async function ping(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    return String(answer);
  } catch {
    return '';
  } finally {
    socket.destroy();
  }
}

async function run(port: number, words: readonly string[]): Promise<unknown> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const [command = 'PING', ...rest] = words;
    return await client.call(command, ...rest);
  } finally {
    client.disconnect();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
