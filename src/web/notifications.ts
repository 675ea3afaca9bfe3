// The door for the gateway's notifications (notify_url). It is not there until the configuration
// describes it, under a path that only the gateway is told, for the addresses that may post. What
// it is told is a hint to look again, never a fact: order numbers that the ledger knows are noted,
// the rest is forgotten. A source has a limit of its own, so that none can use up another's.

import { BlockList, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sameSecret } from '../access/password.js';
import type { NotificationDoor } from '../config/web.js';
import { candidateWords } from '../core/instructions/hints.js';
import type { Log } from '../core/log.js';
import type { Database } from '../database/db.js';
import { noteHints } from '../ledger/notificationsStore.js';
import { forLog } from './format.js';

interface NotificationDeps {
  db: Database;
  accountIds: readonly string[];
  now: () => Date;
  log: Log;
}

/** Of one source in a minute; more are refused. */
const A_MINUTE_MAX = 600;
/** Sources that are counted at a time; further ones wait for the next minute. */
const SOURCES_MAX = 10_000;
const MINUTE_MS = 60_000;

export function addNotifications(
  server: FastifyInstance,
  deps: NotificationDeps,
  door: NotificationDoor,
): void {
  const isAllowed = allowing(door.from);
  const mayStore = minuteLimit(deps.now);
  // Whatever media type is claimed: the bytes are taken as they are.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.post('/notify/:secret', {
    // Before a byte of the body is read: a stranger learns nothing and costs nothing.
    onRequest: async (request, reply) => {
      const { secret } = request.params as { secret: string };
      if (!sameSecret(secret, door.secret) || !isAllowed(request.ip)) {
        return reply.code(404).type('text/plain').send('not found\n');
      }
      if (!mayStore(request.ip)) return reply.code(429).type('text/plain').send('too many\n');
    },
    handler: async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const words = candidateWords(body.toString('utf8'));
      const hints = await noteHints(deps.db, deps.accountIds, words, deps.now());
      deps.log(`a notification of ${body.length} bytes hints at ${hints} order(s)`);
      return reply.type('text/plain').send('stored\n');
    },
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

/** Whether an address is one of these, or in one of these networks; of none of them any is. */
function allowing(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => true;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function minuteLimit(now: () => Date): (source: string) => boolean {
  let minute = 0;
  const counts = new Map<string, number>();
  return (source) => {
    const present = Math.floor(now().getTime() / MINUTE_MS);
    if (present !== minute) counts.clear();
    minute = present;
    const count = (counts.get(source) ?? 0) + 1;
    if (count === 1 && counts.size >= SOURCES_MAX) return false;
    counts.set(source, count);
    return count <= A_MINUTE_MAX;
  };
}
