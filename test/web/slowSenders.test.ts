// Whoever keeps connections busy without ever asking for something: heads and bodies that trickle
// in, more connections than there is room for. Row 116 of the list of faults.

import { connect } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database/db.js';
import { CONNECTION_LIMITS, createWebServer } from '../../src/web/server.js';
import { LOCALHOST } from '../gateway/certificates.js';

const LIMITS = { ...CONNECTION_LIMITS, headersMs: 200, requestMs: 400, checkMs: 50 };
const SECRET = 'sixteen-or-more-signs';
const HEAD = `POST /notify/${SECRET} HTTP/1.1\r\nhost: localhost\r\n`;
const EVERY_MS = 20;
const SLOW = 10;
const CONNECTIONS = 20;

/** Sends a little and then a little more for ever; what came back until it was cut off. */
function trickle(port: number, first: string, more: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(first);
  const timer = setInterval(() => socket.write(more), EVERY_MS);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  return new Promise((resolve) => {
    const end = (): void => {
      clearInterval(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.on('error', end).on('close', end);
  });
}

describe('slow senders (row 116)', () => {
  const said: string[] = [];
  let server: FastifyInstance;
  let port: number;

  // No request that is cut off comes as far as the database: there is none.
  const db = openDatabase({ host: '/nowhere', user: 'nobody', database: 'none' });
  const serverWith = (
    limits = CONNECTION_LIMITS,
    tls: { cert: Buffer; key: Buffer } | null = null,
  ): FastifyInstance => {
    const talk = { now: () => new Date(), log: (line: string) => void said.push(line) };
    const doors = { notifications: { secret: SECRET, from: [] }, proxies: [] };
    const deps = { db, accountIds: [], ...talk, ...doors, console: null, monitor: null, tls };
    return createWebServer(deps, limits);
  };

  beforeAll(async () => {
    server = serverWith({ ...LIMITS, connections: CONNECTIONS });
    port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(async () => {
    await server.close();
    await db.close();
  });

  const served = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/healthz`)).status;

  it.each([
    ['head', HEAD, 'x-slow: 1\r\n'],
    ['body', `${HEAD}content-length: 60000\r\n\r\n`, 'SO-1 '],
  ])(
    'who trickles a %s is cut off, and others are served meanwhile',
    async (_what, first, more) => {
      const slow = Array.from({ length: SLOW }, () => trickle(port, first, more));
      expect(await served()).toBe(200);
      for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(said).toEqual([]);
    },
  );

  it('connections beyond those that there is room for are closed at once', async () => {
    const all = Array.from({ length: CONNECTIONS + 5 }, () => trickle(port, HEAD, 'x-slow: 1\r\n'));
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => answer === '').length).toBeGreaterThanOrEqual(5);
    expect(await served()).toBe(200);
  });

  it('with a certificate of its own it speaks TLS 1.2 and newer, and nothing else', async () => {
    const pem = { cert: Buffer.from(LOCALHOST.cert), key: Buffer.from(LOCALHOST.key) };
    const own = serverWith(CONNECTION_LIMITS, pem);
    const at = new URL(await own.listen({ host: '127.0.0.1', port: 0 }));
    expect(at.protocol).toBe('https:');
    const ask = (options: ConnectionOptions): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectTls({ port: Number(at.port), host: '127.0.0.1', ...options });
        socket.on('error', (error) => resolve(error.message));
        socket.on('data', (part) =>
          resolve(`${socket.getProtocol()} ${part.toString().slice(0, 12)}`),
        );
        socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      });
    const trusted = { ca: LOCALHOST.cert, servername: 'localhost' };
    expect(await ask(trusted)).toBe('TLSv1.3 HTTP/1.1 200');
    expect(await ask({ ...trusted, maxVersion: 'TLSv1.2' })).toBe('TLSv1.2 HTTP/1.1 200');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
    expect(await ask({ ...trusted, ...old })).toMatch(
      /alert protocol version|unsupported protocol/,
    );
    await expect(fetch(`http://127.0.0.1:${at.port}/healthz`)).rejects.toThrow();
    const { headersTimeout, requestTimeout } = own.server;
    expect([headersTimeout, requestTimeout]).toEqual([
      CONNECTION_LIMITS.headersMs,
      CONNECTION_LIMITS.requestMs,
    ]);
    await own.close();
  });

  it('the limits are those of the server that listens', async () => {
    const own = serverWith();
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections } =
      own.server;
    await own.close();
    expect([headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections]).toEqual([
      CONNECTION_LIMITS.headersMs,
      CONNECTION_LIMITS.requestMs,
      CONNECTION_LIMITS.idleMs,
      CONNECTION_LIMITS.stalledMs,
      CONNECTION_LIMITS.connections,
    ]);
  });
});
