// The HTTP face of tieout: the door for the gateway's notifications, signs of life for a
// supervisor, and the console for people. They share nothing but the port. Who a visitor is says
// the connection, and a proxy only where the configuration names it.

import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import type { NotificationDoor } from '../config/web.js';
import type { Log } from '../core/log.js';
import type { Database } from '../database/db.js';
import { addConsole } from './console.js';
import { forLog } from './format.js';
import type { MonitorDeps } from './health.js';
import { addHealth } from './health.js';
import { addNotifications } from './notifications.js';
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
  /** null: there is no such door */
  notifications: NotificationDoor | null;
  /** Whose X-Forwarded-* is believed. */
  proxies: readonly string[];
  /** In PEM; null: plain HTTP. */
  tls?: { cert: Buffer; key: Buffer } | null;
}

const BODY_BYTES_MAX = 65_536;
/** An order number of 128 characters, each written as up to nine in an address. */
const PARAMETER_LENGTH_MAX = 1_200;

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
  const times = {
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkMs,
  };
  const server = fastify({
    bodyLimit: BODY_BYTES_MAX,
    logger: false,
    trustProxy: deps.proxies.length > 0 ? [...deps.proxies] : false,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionTimeout: limits.stalledMs,
    ...(deps.tls
      ? { https: { ...deps.tls, ...times, minVersion: 'TLSv1.2' as const } }
      : { http: times }),
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
  });
  server.server.maxConnections = limits.connections;
  tellUnknownProxy(server, deps.log);
  const { notifications: door } = deps;
  if (door !== null) server.register(async (scope) => addNotifications(scope, deps, door));
  server.register(async (scope) => addHealth(scope, deps.monitor));
  const { console: people, monitor } = deps;
  if (people !== null) server.register(async (scope) => addConsole(scope, people, monitor));
  return server;
}

/** Once: whoever forgot to name a proxy has all visitors at one address, and none over https. */
function tellUnknownProxy(server: FastifyInstance, log: Log): void {
  let isTold = false;
  server.addHook('onRequest', async (request) => {
    const given = request.headers['x-forwarded-for'];
    if (isTold || given === undefined || (request.ips?.length ?? 1) > 1) return;
    isTold = true;
    log(
      `${forLog(request.ip)} sends X-Forwarded-For and is not believed: if it is your proxy, ` +
        'name it in web.proxies',
      { level: 'warn' },
    );
  });
}
