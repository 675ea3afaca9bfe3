// The door for the gateway's notifications (notify_url). It is not there until the configuration
// describes it: under a path that only the gateway is told, for the addresses that may post, or
// both. What it is told is a hint to look again, never a fact: order numbers that the ledger knows
// and payouts that are not settled are noted, the rest is forgotten. A source has a limit of its
// own: none can use up another's.

import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sameSecret } from '../access/password.js';
import type { NotificationDoor } from '../config/web.js';
import { candidateWords } from '../core/instructions/hints.js';
import type { Log } from '../core/log.js';
import type { Database } from '../database/db.js';
import { noteHints } from '../ledger/notificationsStore.js';
import { forLog } from './format.js';
import { minuteLimit } from './minuteLimit.js';

interface NotificationDeps {
  db: Database;
  accountIds: readonly string[];
  now: () => Date;
  log: Log;
}

/** Of one source in a minute; more are refused. */
const A_MINUTE_MAX = 600;

export function addNotifications(
  server: FastifyInstance,
  deps: NotificationDeps,
  door: NotificationDoor,
): void {
  const isAllowed = allowing(door.from);
  const mayStore = minuteLimit(deps.now, A_MINUTE_MAX);
  const mayTell = minuteLimit(deps.now, 1);
  // Whatever media type is claimed: the bytes are taken as they are.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  const isAsked = ({ secret }: { secret?: string }): boolean =>
    door.secret === null || sameSecret(secret ?? '', door.secret);
  const refusal = (request: FastifyRequest): [number, string] | null => {
    const isKnown = isAsked(request.params as { secret?: string }) && isAllowed(request.ip);
    if (!isKnown) return [404, 'not found'];
    return mayStore(request.ip) ? null : [429, 'too many'];
  };
  server.post(door.secret === null ? '/notify' : '/notify/:secret', {
    // Before a byte of the body is read: a stranger learns nothing and costs nothing.
    onRequest: async (request, reply) => {
      const [code, words] = refusal(request) ?? [];
      if (code === undefined) return;
      if (mayTell(request.ip)) {
        const about = `a notification from ${forLog(request.ip)} was refused: ${words}`;
        deps.log(about, { level: 'warn', event: 'form_refused', address: request.ip });
      }
      return reply.code(code).type('text/plain').send(`${words}\n`);
    },
    handler: async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const words = candidateWords(body.toString('utf8'));
      const { orders, payouts } = await noteHints(deps.db, deps.accountIds, words, deps.now());
      const hints = `${orders} order(s) and ${payouts} payout(s)`;
      deps.log(`a notification of ${body.length} bytes hints at ${hints}`);
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
