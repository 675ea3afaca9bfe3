// The HTTP face of tieout: the address that the gateway's notifications go to (notify_url), signs
// of life for a supervisor, and the console for people. Whoever can reach the first can say
// anything, so what it is told is kept and used as a hint to look again, never as a fact. They
// share nothing but the port.

import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { candidateWords } from '../core/instructions/hints.js';
import type { Log } from '../core/log.js';
import type { Database } from '../database/db.js';
import { storeNotification } from '../ledger/notificationsStore.js';
import { addConsole } from './console.js';
import { forLog } from './format.js';
import type { MonitorDeps } from './health.js';
import { addHealth } from './health.js';
import type { ConsoleDeps } from './visit.js';

interface WebDeps {
  db: Database;
  accountIds: readonly string[];
  now: () => Date;
  log: Log;
  /** null: notifications only */
  console: ConsoleDeps | null;
  /** null: nothing is known of the parts that it stands on */
  monitor: MonitorDeps | null;
}

const BODY_BYTES_MAX = 65_536;
/** More are refused, so that a flood cannot fill the disk. */
const NOTIFICATIONS_A_MINUTE_MAX = 600;
const MINUTE_MS = 60_000;
/** An order number of 128 characters, each written as up to nine in an address. */
const PARAMETER_LENGTH_MAX = 1_200;

/** Only a proxy on this machine or in a private network is asked who the visitor is. */
const PROXIES = 'loopback, linklocal, uniquelocal';

export interface ConnectionLimits {
  /** The head of a request that trickles in is cut off after so long. */
  headersMs: number;
  /** So is a whole request, its body included. */
  requestMs: number;
  /** How often the two above are looked at. */
  checkMs: number;
  /** A connection without a request is closed. */
  idleMs: number;
  /** So is one on which no byte went either way: a download that nobody takes. */
  stalledMs: number;
  /** Further ones are closed at once. */
  connections: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 2_000,
  idleMs: 30_000,
  stalledMs: 600_000,
  connections: 1_000,
};

export function createWebServer(
  deps: WebDeps,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): FastifyInstance {
  const server = fastify({
    bodyLimit: BODY_BYTES_MAX,
    logger: false,
    trustProxy: PROXIES,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionTimeout: limits.stalledMs,
    http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: limits.checkMs },
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
  });
  server.server.maxConnections = limits.connections;
  server.register(async (scope) => addNotifications(scope, deps));
  server.register(async (scope) => addHealth(scope, deps.monitor));
  const { console: people, monitor } = deps;
  if (people !== null) server.register(async (scope) => addConsole(scope, people, monitor));
  return server;
}

function addNotifications(server: FastifyInstance, deps: WebDeps): void {
  const mayStore = minuteLimit(deps.now);
  // Whatever media type is claimed: the bytes are taken as they are.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.post('/notify', async (request, reply) => {
    if (!mayStore()) return reply.code(429).type('text/plain').send('too many\n');
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const hints = await storeNotification(deps.db, deps.accountIds, {
      receivedAt: deps.now(),
      contentType: request.headers['content-type'] ?? null,
      body,
      sha256: createHash('sha256').update(body).digest('hex'),
      words: candidateWords(body.toString('utf8')),
    });
    deps.log(`a notification of ${body.length} bytes hints at ${hints} order(s)`);
    return reply.type('text/plain').send('stored\n');
  });
  server.setErrorHandler(async (error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) deps.log(`a request failed: ${forLog(error.message)}`, { level: 'error' });
    return reply
      .code(status)
      .type('text/plain')
      .send(status < 500 ? 'refused\n' : 'failed\n');
  });
}

function minuteLimit(now: () => Date): () => boolean {
  let minute = 0;
  let count = 0;
  return () => {
    const present = Math.floor(now().getTime() / MINUTE_MS);
    if (present !== minute) {
      minute = present;
      count = 0;
    }
    count += 1;
    return count <= NOTIFICATIONS_A_MINUTE_MAX;
  };
}
