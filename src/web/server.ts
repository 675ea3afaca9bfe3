// The HTTP face of tieout: for now the address that the gateway's notifications go to (notify_url),
// and a sign of life. Whoever can reach it can say anything, so what it is told is kept and used as
// a hint to look again, and never as a fact.

import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { candidateWords } from '../core/hints.js';
import type { Database } from '../store/db.js';
import { storeNotification } from '../store/notifications.js';

export interface WebDeps {
  db: Database;
  accountIds: readonly string[];
  now: () => Date;
  log: (line: string) => void;
}

const BODY_BYTES_MAX = 65_536;
/** More are refused, so that a flood cannot fill the disk. */
const NOTIFICATIONS_A_MINUTE_MAX = 600;
const MINUTE_MS = 60_000;

export function createWebServer(deps: WebDeps): FastifyInstance {
  const server = fastify({ bodyLimit: BODY_BYTES_MAX, logger: false });
  const mayStore = minuteLimit(deps.now);
  // Whatever media type is claimed: the bytes are taken as they are.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.get('/healthz', async (_request, reply) => {
    await deps.db.query('select 1');
    return reply.type('text/plain').send('ok\n');
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
    if (status >= 500) deps.log(`a request failed: ${error.message}`);
    return reply
      .code(status)
      .type('text/plain')
      .send(status < 500 ? 'refused\n' : 'failed\n');
  });
  return server;
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
