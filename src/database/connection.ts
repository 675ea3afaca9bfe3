// How tieout reaches a PostgreSQL server: the address, the driver's settings, the types that come
// back, and which failures mean "the server cannot be reached". It must never put a password into
// a message. Neighbours: db.ts, copyIn.ts and migrate.ts open their clients through it.

import pg from 'pg';
import {
  ConfigurationError,
  DatabaseAwayError,
  DatabaseFullError,
  DatabaseRefusesError,
  TakenOverError,
  TieoutError,
  UnreachableError,
} from '../core/errors.js';
import { tlsProblem } from '../core/text/tlsProblem.js';
import { named } from './identifiers.js';
import type { Limits } from './limits.js';

/** An address of the configuration, or the socket folder of the embedded server. */
export type Connection =
  | { connectionString: string }
  | { host: string; user: string; database: string };

/** Also bounds the wait for a free client of the pool, hence generous. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** A server that vanished without a word is looked for after so long; by itself after hours. */
const KEEP_ALIVE_MS = 10_000;
export const APPLICATION_NAME = 'tieout';
/** Only a part of the socket's file name: the embedded server listens on no port. */
export const SOCKET_PORT = 5432;

/** The driver's settings for one client or a pool of them. */
export function clientSettings(
  connection: Connection,
  applicationName = APPLICATION_NAME,
  limits = NO_LIMITS,
) {
  return {
    ...addressOf(connection),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser: parserOf },
    Client: SettledClient,
    limits,
  } satisfies pg.PoolConfig & { Client: typeof pg.Client; limits: SessionLimits };
}

/** Of what is no transaction of ours; 0: none. */
export type SessionLimits = Pick<Limits, 'idleMs' | 'lockMs'>;
const NO_LIMITS: SessionLimits = { idleMs: 0, lockMs: 0 };

/**
 * What every session of ours relies on, whatever is set for the server, the database or the role:
 * how times are written, in which zone a fingerprint has them, what a backslash is. Of all else
 * that may be set there (intervals, floats, bytes, the search path) no statement depends.
 */
const SESSION = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
} as const;

type Told = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * For what is no transaction of ours (limits.ts says it of those, through a pooler too): a single
 * statement writes, is never refused since another one wrote, and is ended by no limit that is set
 * for the server, the database or the role. Older servers know none of a session's silence, nor of
 * a whole transaction.
 */
function ownSession({ idleMs, lockMs }: SessionLimits): string {
  return named`
    set session characteristics
      as transaction isolation level read committed, read write, not deferrable;
    set statement_timeout = 0; set lock_timeout = ${lockMs};
    set idle_in_transaction_session_timeout = ${idleMs}; set jit = off;
    select set_config(name, '0', false)
    from unnest('{idle_session_timeout,transaction_timeout}'::text[]) as name
    where current_setting(name, true) is not null`;
}

/** The same in the words of the `options` of an address. */
export const TRANSACTION_OPTIONS =
  '-c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off';

/**
 * Said as the connection opens: no further question, a pool's client has it before its first
 * statement, and a pooler that lends a session for a transaction keeps just these for each of its
 * clients, which it does of nothing that is set later.
 */
class SettledClient extends pg.Client {
  private readonly limits: SessionLimits;

  constructor(settings: pg.ClientConfig & { limits?: SessionLimits } = {}) {
    super(settings);
    this.limits = settings.limits ?? NO_LIMITS;
  }

  override connect(): Promise<this>;
  override connect(told: Told): void;
  override connect(told?: Told): Promise<this> | undefined {
    const settled = super.connect().then(async () => {
      await this.query(ownSession(this.limits));
      return this;
    });
    if (told === undefined) return settled;
    // Beside the promise: what the listener throws is no failure of the connection.
    settled.then(
      (client) => process.nextTick(told, null, client),
      (error) => process.nextTick(told, error),
    );
    return undefined;
  }

  getStartupConf(): Record<string, string> {
    const proto = pg.Client.prototype as unknown as { getStartupConf(): Record<string, string> };
    return { ...proto.getStartupConf.call(this), ...SESSION };
  }
}

function addressOf(connection: Connection): pg.ClientConfig {
  if ('connectionString' in connection) {
    parseAddress(connection.connectionString);
    return { connectionString: connection.connectionString };
  }
  const { host, user, database } = connection;
  // Named outright, or PGPORT and PGSSLMODE of the environment would lead past our own socket.
  return host.startsWith('/')
    ? { host, user, database, port: SOCKET_PORT, ssl: false }
    : { host, user, database };
}

/** A client outside the pool, connected; long streams use one so that they never starve it. */
export async function openClient(
  connection: Connection,
  applicationName?: string,
): Promise<pg.Client> {
  const client = new SettledClient(clientSettings(connection, applicationName));
  hearing(client);
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => {});
    throw asOperatingFailure(error, connection);
  }
  return client;
}

/** What the server said last to a client that asked nothing: why it ended the session. */
const lastWords = new WeakMap<object, Error>();

/** Without a listener a dead server would end the process (an 'error' event nobody hears). */
export function hearing(client: pg.ClientBase): void {
  client.on('error', (error) => {
    if ('code' in error && !lastWords.has(client)) lastWords.set(client, error);
  });
}

/** Names host and database for a message; never the user's password. */
export function describeConnection(connection: Connection): string {
  if (!('connectionString' in connection)) {
    return `${connection.database} at ${connection.host}`;
  }
  const url = parseAddress(connection.connectionString);
  const host = url.searchParams.get('host') ?? url.hostname;
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${url.pathname.slice(1) || 'its default database'} at ${host || 'localhost'}${port}`;
}

/** The same error, or a DatabaseAwayError where the server, not the statement, is the trouble. */
export function asOperatingFailure(
  thrown: unknown,
  connection: Connection,
  client: object = connection,
): unknown {
  if (thrown instanceof UnreachableError || !(thrown instanceof Error)) return thrown;
  const error = (isLostConnection(thrown.message) && lastWords.get(client)) || thrown;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === TAKEN_OVER) return new TakenOverError(error.message, { cause: error });
  if (code === NO_RIGHT) return new TieoutError(`${error.message}: ${OF_ROLES}`, { cause: error });
  if (code === CANCELLED)
    return new TieoutError(`the server ended a statement: ${error.message}`, { cause: error });
  if (code === TOO_LONG) return new TieoutError(`${error.message}: ${OF_TIME}`, { cause: error });
  const tls = tlsReason(code, error.message);
  const isFull = code === FULL || ('severity' in error && FULL_WORDS.test(error.message));
  const reason =
    tls ??
    (isFull ? 'a disk of the server is full: make room there' : null) ??
    SERVER_REFUSALS[code] ??
    (error.message.endsWith(IN_RECOVERY) ? SERVER_REFUSALS[READ_ONLY] : null) ??
    NETWORK_FAILURES[code] ??
    (isLostConnection(error.message) ? 'the connection was lost' : null) ??
    (error.message.endsWith(SHUT) ? 'it lets nobody in now' : null) ??
    (code.startsWith('08') ? 'the connection failed' : null);
  if (reason === null) return error;
  const isLockedOut = tls !== null || LOCKED_OUT.has(code);
  const Other = isFull ? DatabaseFullError : DatabaseAwayError;
  const Failure = isLockedOut ? DatabaseRefusesError : Other;
  return new Failure(`the database ${describeConnection(connection)} cannot be used: ${reason}`, {
    cause: error,
  });
}

/** The driver gives a server without TLS no code. */
function tlsReason(code: string, message: string): string | null {
  const none = NO_TLS.includes(message) ? 'the server speaks no TLS: switch `ssl` on there' : null;
  const problem = none ?? tlsProblem(code, 'the server');
  return problem && `${problem}; what is asked of it says database.url (sslmode, sslrootcert)`;
}

/** Whether the server said no, and why: a COMMIT that it refused has not happened. */
export function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(40|53)/.test(String(error.code));
}

/** Whether a statement failed by what it was given, and would by the same again. */
export function isOfValues(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OF_VALUES.test(String(error.code));
}

/** Data that are none, a limit of the program, a column that has to be given, a check. */
const OF_VALUES = /^(?:22|54|23502|23514)/;

/** Whether it tells of a statement that the server ended: after its time, or by a person's word. */
export function wasEnded(error: unknown): boolean {
  if (!(error instanceof TieoutError) || !(error.cause instanceof Error)) return false;
  return 'code' in error.cause && error.cause.code === CANCELLED;
}

/** What the server refused for want of a right, in its own words; null: it was something else. */
export function refusedRight(error: unknown): string | null {
  const cause = error instanceof TieoutError ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === NO_RIGHT
    ? cause.message
    : null;
}

const NO_TLS = [
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
];

/** SQLSTATE of a write for which there is no room. */
const FULL = '53100';
/** Older servers give a new session's own file no such code; none knows that of a quota. */
const FULL_WORDS = /^could not write init file|No space left on device|Disk quota exceeded/;

/** A server that says so will say so again: of user, password and the name of the database. */
const LOCKED_OUT: ReadonlySet<string> = new Set(['28000', '28P01', '3D000']);

/** SQLSTATE of tieout.hold_run, which goes ahead of all that a run writes. */
const TAKEN_OVER = 'TO001';

/** SQLSTATE of a write that a replica refuses, and the end of what it says to a transaction. */
const READ_ONLY = '25006';
const IN_RECOVERY = 'during recovery';

/** SQLSTATE of whatever the role may not do. */
const NO_RIGHT = '42501';
/** Of a database with `allow_connections false`; its SQLSTATE says less. */
const SHUT = 'is not currently accepting connections';
/** SQLSTATE of a statement that was cancelled, by a limit of somebody else or by a person. */
const CANCELLED = '57014';
/** SQLSTATE of a transaction that lasted longer than somebody else allows, at whatever it was. */
const TOO_LONG = '25P04';
const OF_ROLES =
  'the role of database.user lacks that right; migrate and restore sign in as the owner of the ' +
  'tables, who gives the others theirs (docs/OPERATIONS.md, Roles of the database)';
const OF_TIME =
  'the server, the database, its role or a pooler sets transaction_timeout, and a night has ' +
  'transactions that take longer; set it to 0 for the role of database.user';

const NETWORK_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no server socket',
  EACCES: 'this user may not open the server socket',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
};

// SQLSTATE codes, from the error codes appendix of the PostgreSQL manual.
const SERVER_REFUSALS: Record<string, string> = {
  [READ_ONLY]:
    'it takes no writes: is it a replica? database.url has to lead to the primary server, or the ' +
    'replica has to be promoted',
  '25P03':
    'the server ended a transaction in which this process had said nothing for too long ' +
    '(was it stopped, or its machine asleep?); nothing of it was kept',
  '28000': 'the server does not accept this user',
  '28P01': 'the server does not accept this user and password',
  '3D000': 'there is no such database on the server',
  // Done again, it meets the other one no more.
  '40P01':
    'two transactions waited for each other, and the server ended this one; nothing of it was kept',
  '53300': 'the server has no connection left',
  '57P01': 'the server was shut down, or somebody there ended the session',
  '57P02': 'the server crashed and is recovering',
  '57P03': 'the server is starting up or shutting down',
};

// The driver gives these no code.
const LOST_CONNECTION = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Client has encountered a connection error',
  'Client was closed',
];

function isLostConnection(message: string): boolean {
  return LOST_CONNECTION.some((start) => message.startsWith(start));
}

function parseAddress(address: string): URL {
  if (/^postgres(ql)?:\/\//.test(address)) {
    try {
      return new URL(address);
    } catch {
      // Falls through: the parser's own error repeats the address, password included.
    }
  }
  throw new ConfigurationError('the configuration', 'database.url', 'not a postgres:// address');
}

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;
const DATE_ARRAY = 1182;
const NUMERIC_ARRAY = 1231;
const TEXT_ARRAY: number = 1009;

const asText = (text: string): string => text;
const textArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY);

// The driver's defaults would lose digits (int8, numeric[]) or shift a date by the time zone.
const PARSERS = new Map<number, (text: string) => unknown>([
  [INT8, BigInt],
  [INT8_ARRAY, (text) => textArray(text).map((item) => (item === null ? null : BigInt(item)))],
  [DATE, asText],
  [DATE_ARRAY, textArray],
  [NUMERIC_ARRAY, textArray],
]);

function parserOf(oid: number, format?: string): ReturnType<typeof pg.types.getTypeParser> {
  const own = format === 'binary' ? undefined : PARSERS.get(oid);
  return own ?? pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text');
}
