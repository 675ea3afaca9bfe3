// The queues on a Redis server or a Redis Cluster. It owns the clients: one for enqueuing, which
// gives up soon, and one for the workers, which waits for the server to come back. It must never
// put a password into a message. Neighbours: backend.ts says what it has to offer.

import { isIP } from 'node:net';
import { Cluster, Redis } from 'ioredis';
import { ConfigurationError, UnreachableError } from '../src/core/errors.js';
import { tlsProblem } from '../src/core/text/tlsProblem.js';
import type { Backend, OnError, QueueConnection } from './backend.js';
import { within } from './backend.js';
import { Queue, Worker } from './bullmq.js';

const OPEN_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection on which a command has had no byte of answer for so long is given up, and made anew:
 * a host that vanishes says nothing, and the kernel would wait for it for a quarter of an hour. A
 * worker that waits for a job is answered by a server that lives after 10 s at most.
 */
const SILENT_MS = 20_000;
const RECONNECT_STEP_MS = 100;
const RECONNECT_MAX_MS = 5_000;
/** A call fails after this many reconnects; the sweep enqueues again. */
const ENQUEUE_RECONNECTS = 3;
/** The command that BullMQ needs for a worker to wait for several states came with it. */
const OLDEST_REDIS = 6;
const DEFAULT_NAMESPACE = 'tieout';
/** A key beside those of each queue, that is gone soon. */
const TRIED = 'tried';
const TRIED_MS = 60_000;

type Client = Redis | Cluster;

export async function openRedisBackend(
  onError: OnError,
  connection: QueueConnection & { kind: 'redis' },
): Promise<Backend> {
  const addresses = parseAddresses(connection.url);
  const { address, server } = await probeAny(addresses);
  const description = `redis at ${address.host}`;
  const open = (retries: number | null) => {
    const nodes = server.cluster ? addresses : null;
    return openClient(address, nodes, retries, onError);
  };
  const enqueuing = open(ENQUEUE_RECONNECTS);
  let working: Client | undefined;
  // The braces are a hash tag: all keys of a queue lie in one slot of a Redis Cluster.
  const prefixOf = (name: string) => `{${connection.namespace ?? DEFAULT_NAMESPACE}-${name}}`;
  return {
    description,
    warnings: server.warnings,
    queue: (name) => new Queue(name, { connection: enqueuing, prefix: prefixOf(name) }),
    worker(name, processor, settings) {
      working ??= open(null);
      return new Worker(name, processor, {
        ...settings,
        connection: working,
        prefix: prefixOf(name),
      });
    },
    // A full one, a replica and one whose disk is full answer all that is read.
    async tryToWrite(names) {
      const writing = names.map((name) =>
        enqueuing.set(`${prefixOf(name)}:${TRIED}`, '1', 'PX', TRIED_MS),
      );
      await Promise.all(writing);
    },
    async close() {
      enqueuing.disconnect();
      working?.disconnect();
    },
  };
}

/** With `nodes` a client of the cluster that each of them leads to. */
function openClient(
  address: URL,
  nodes: readonly URL[] | null,
  maxRetriesPerRequest: number | null,
  onError: OnError,
): Client {
  const options = { ...clientOptions(address), maxRetriesPerRequest, reconnectOnError: isReadOnly };
  const places = nodes?.map((node) => ({ host: hostOf(node), port: portOf(node) }));
  const client =
    places === undefined
      ? new Redis({ ...options, retryStrategy: reconnectDelay })
      : new Cluster(places, { redisOptions: options, clusterRetryStrategy: reconnectDelay });
  client.on('error', (error: Error) => onError('queue connection', error));
  return client;
}

/** The first address behind which a fit server answers; the error of the last where none does. */
async function probeAny(addresses: readonly URL[]): Promise<{ address: URL; server: Server }> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return { address, server: await probe(address, `redis at ${address.host}`) };
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      failure = error;
    }
  }
  throw failure;
}

interface Server {
  cluster: boolean;
  warnings: string[];
}

/** One try of the server with a client that never retries: is it there, and is it fit? */
async function probe(address: URL, description: string): Promise<Server> {
  const client = new Redis({
    ...clientOptions(address),
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  client.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await within(OPEN_TIMEOUT_MS, description, client.connect());
    await within(OPEN_TIMEOUT_MS, description, assertDatabase(client, address));
    const info = await within(OPEN_TIMEOUT_MS, description, client.info());
    return judgeServer(info, description);
  } catch (error) {
    if (error instanceof ConfigurationError || error instanceof UnreachableError) throw error;
    const why = reason ?? (error as Error);
    const words = tlsWords(why) ?? (why.message || 'no connection');
    throw new UnreachableError(`the queue cannot be used: ${description}: ${words}`, {
      cause: error,
    });
  } finally {
    client.disconnect();
  }
}

/** Else the client goes on in database 0, where another installation may be at work. */
async function assertDatabase(client: Redis, address: URL): Promise<void> {
  const database = databaseOf(address);
  if (database === 0) return;
  try {
    await client.select(database);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('ERR')) throw error;
    const why = `the server has no database ${database} (${error.message})`;
    throw new ConfigurationError('the configuration', 'queue.url', why, { cause: error });
  }
}

function tlsWords(error: Error): string | null {
  const code = 'code' in error ? String(error.code) : '';
  const problem = tlsProblem(code, 'the server');
  return problem && `${problem}; queue.url asks for TLS (docs/OPERATIONS.md, Redis)`;
}

/** Reads INFO. A queue that forgets loses no money, but it makes a run wait for the sweep. */
function judgeServer(info: string, description: string): Server {
  const fields = new Map<string, string>();
  for (const [, key, value] of info.matchAll(/^([a-z_]+):(.*?)\r?$/gm)) {
    fields.set(key ?? '', value ?? '');
  }
  const version = fields.get('redis_version') ?? '';
  if (Number.parseInt(version, 10) < OLDEST_REDIS) {
    const wanted = `version ${OLDEST_REDIS} or newer is needed`;
    throw new ConfigurationError('the configuration', 'queue.url', `Redis ${version}; ${wanted}`);
  }
  const warnings: string[] = [];
  const isCluster = fields.get('cluster_enabled') === '1';
  if (fields.get('role') === 'slave' && !isCluster) {
    warnings.push(
      `${description}: a replica, which takes no jobs: give the address of the primary`,
    );
  }
  const policy = fields.get('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction') {
    warnings.push(`${description}: maxmemory-policy is ${policy}; it should be noeviction`);
  }
  const figure = (key: string): number => Number(fields.get(key) ?? 0);
  const most = figure('maxmemory');
  if (most > 0 && figure('used_memory') >= most) {
    warnings.push(`${description}: its memory is full: it takes no jobs until maxmemory is raised`);
  }
  if (fields.get('aof_enabled') === '0') {
    warnings.push(`${description}: appendonly is off; a restart forgets what was enqueued`);
  }
  return { cluster: isCluster, warnings };
}

function clientOptions(address: URL) {
  const host = hostOf(address);
  const tls = isIP(host) === 0 ? { servername: host } : {};
  const database = databaseOf(address);
  return {
    host,
    port: portOf(address),
    ...(address.username === '' ? {} : { username: decodeURIComponent(address.username) }),
    ...(address.password === '' ? {} : { password: decodeURIComponent(address.password) }),
    ...(address.protocol === 'rediss:' ? { tls } : {}),
    ...(database === 0 ? {} : { db: database }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENT_MS,
  };
}

const databaseOf = (address: URL): number => Number.parseInt(address.pathname.slice(1) || '0', 10);
const hostOf = (address: URL): string => address.hostname.replace(/^\[(.*)\]$/, '$1');
const portOf = (address: URL): number => Number(address.port || 6379);
const reconnectDelay = (times: number): number =>
  Math.min(RECONNECT_STEP_MS * 2 ** Math.min(times, 10), RECONNECT_MAX_MS);

/** After a failover the same address may lead to the new primary, but only anew. */
const isReadOnly = (error: Error): boolean => error.message.startsWith('READONLY');

/** A first address, and further nodes of a cluster as `?node=host:port&node=host:port`. */
function parseAddresses(url: string): URL[] {
  const first = parseAddress(url);
  return [first, ...first.searchParams.getAll('node').map((node) => otherNode(first, node))];
}

/** The same user, password and kind of connection at another host. */
function otherNode(first: URL, node: string): URL {
  if (/^[^/@?#]+:\d{1,5}$/.test(node) && URL.canParse(`redis://${node}`)) {
    const address = new URL(first.href);
    const { hostname, port } = new URL(`redis://${node}`);
    address.hostname = hostname;
    address.port = port;
    return address;
  }
  throw new ConfigurationError('the configuration', 'queue.url', 'node= takes host:port');
}

function parseAddress(url: string): URL {
  // The parser's own error would repeat the address, password included.
  if (/^rediss?:\/\/[^/]/.test(url) && URL.canParse(url)) {
    const address = new URL(url);
    if (/^\/?\d{0,4}$/.test(address.pathname)) return address;
  }
  const wanted = 'not an address of the form redis://host:port or rediss://host:port';
  throw new ConfigurationError('the configuration', 'queue.url', wanted);
}
