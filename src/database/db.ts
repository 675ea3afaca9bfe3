// The one door to PostgreSQL: queries, transactions, bulk loads and long reads. It owns the pool
// and the promise that a dead server ends a query, never the process. It knows no table. It must
// never run a network call of another kind inside a transaction. Neighbours: connection.ts below,
// every *Store.ts above.

import pg from 'pg';
import Cursor from 'pg-cursor';
import { DatabaseAwayError } from '../core/errors.js';
import {
  asOperatingFailure,
  type Connection,
  clientSettings,
  hearing,
  openClient,
  type SessionLimits,
  wasRefused,
} from './connection.js';
import { type CopyIn, type CopyTexts, copyAll, startCopy } from './copy/copyIn.js';
import { type CopiedRow, copyOut } from './copy/copyOut.js';
import { type Guard, isSetting, queryBehind } from './fence.js';
import { type Lent, openLending } from './lending.js';
import { BEGIN_DURABLY, beginSql, type Limits, READING, WORK_LIMITS } from './limits.js';
import type { Relations } from './relations.js';

/** Where statements go: the pool, or the one client of a transaction. */
export interface Db {
  /**
   * A statement with a name is planned once a connection instead of each time it runs. Behind a
   * pooler the name is left out: the next transaction has another session, which does not know it.
   */
  query<R extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<{ rows: R[]; rowCount: number }>;
  /** where the relations lie that a statement names with a colon; none: in our own schema */
  readonly relations?: Relations;
}

/** A transaction: the same statements, and COPY among them. */
export interface Tx extends Db {
  /** A whole COPY ... FROM STDIN inside this transaction; answers the number of rows. */
  copy(copySql: string, texts: CopyTexts): Promise<number>;
}

/** Where long reads go: each on a client of its own, or all of one snapshot. */
export interface LongReads {
  /** Rows in chunks from a server-side cursor: one snapshot, flat memory. */
  stream<R extends object>(
    text: string,
    values?: readonly unknown[],
    chunk?: number,
    settings?: PlannerSettings,
  ): AsyncIterable<R[]>;
}

export interface Database extends Db, LongReads {
  /** One client, BEGIN to COMMIT; any throw rolls back and is thrown on. */
  transaction<T>(work: (tx: Tx) => Promise<T>, limits?: Limits): Promise<T>;
  /** The same, and COMMIT waits for the disk whatever the session's default says. */
  durably<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A COPY fed piece by piece on a client of its own: a transaction of its own, too. */
  copyIn(copySql: string): Promise<CopyIn>;
  /** Rows of a COPY ... TO STDOUT as text, in chunks of any size: the fast way for very many. */
  copyOut(copySql: string, settings?: PlannerSettings): AsyncIterable<CopiedRow[]>;
  /** Long reads one after the other that all see the same, whatever is written meanwhile. */
  snapshot<T>(work: (reads: LongReads) => Promise<T>): Promise<T>;
  /** The same database, where the guard goes ahead of every statement and transaction. */
  guardedBy(guard: Guard): Database;
  pool: pg.Pool;
  close(): Promise<void>;
}

/** Settings of the planner by name. */
export type PlannerSettings = Readonly<Record<string, string>>;

/** Until the transaction ends, statements are planned by these settings. */
export async function plannedBy(tx: Db, settings: PlannerSettings): Promise<void> {
  if (Object.keys(settings).length === 0) return;
  await tx.query(
    'select set_config(name, value, true) from unnest($1::text[], $2::text[]) as s (name, value)',
    [Object.keys(settings), Object.values(settings)],
  );
}

/** Runs the work in a transaction: its own, or the one that `db` already is. */
export function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return isDatabase(db) ? db.transaction(work) : work(db);
}

/** False while the server is away, and while it is a replica, which may yet be promoted. */
export async function isThere(db: Db): Promise<boolean> {
  try {
    const { rows } = await db.query<{ replica: boolean }>('select pg_is_in_recovery() as replica');
    return rows[0]?.replica === false;
  } catch (error) {
    if (error instanceof DatabaseAwayError) return false;
    throw error;
  }
}

function isDatabase(db: Db): db is Database {
  return 'transaction' in db;
}

const POOL_CLIENTS = 10;
/** Of one process, with those that COPY and long reads take beside the pool for a while. */
export const PROCESS_CONNECTIONS_MAX = POOL_CLIENTS + 8;
const CHUNK_ROWS = 5_000;
export function openDatabase(connection: Connection, options: PoolOptions = {}): Database {
  const pool = openPool(connection, options);
  const lasting = namesThatLast(pool, connection);
  const { lend, lendOwn, endAll } = openLending(pool, () =>
    openClient(connection, options.applicationName),
  );
  const door = { pool, connection, lasting };
  const database: Database = {
    query: async (text, values, name) =>
      queryOn(pool, connection, text, values, await lasting(name, null)),
    transaction: (work, limits = WORK_LIMITS) => runTransaction(door, beginSql(limits), work),
    durably: (work) => runTransaction(door, BEGIN_DURABLY, work),
    guardedBy: (guard) => ({
      ...database,
      // Planned anew: where the guard refuses, nobody knows what of it the server keeps by name.
      query: (text, values) => queryOn(pool, connection, text, values, undefined, guard),
      transaction: (work, limits = WORK_LIMITS) =>
        runTransaction(door, beginSql(limits), work, guard),
      durably: (work) => runTransaction(door, BEGIN_DURABLY, work, guard),
      copyIn: () => Promise.reject(new Error('a COPY of its own has no guard')),
    }),
    copyIn: async (copySql) => {
      const { client, giveBack } = await lendOwn();
      return startCopy(client, copySql, connection, () => giveBack(false));
    },
    stream: (text, values, chunk, settings) =>
      readChunks(lend, connection, text, { values, chunk, settings }),
    snapshot: (work) => readSnapshot(lend, connection, work),
    copyOut: (copySql, settings = {}) => readCopy(lend, connection, copySql, settings),
    pool,
    async close() {
      await endAll();
      if (!pool.ended) await pool.end();
    },
  };
  return database;
}

type PoolOptions = { max?: number; applicationName?: string; limits?: SessionLimits };

function openPool(connection: Connection, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...clientSettings(connection, options.applicationName, options.limits),
    max: options.max ?? POOL_CLIENTS,
  });
  // The pool hears only of idle clients; a client in use needs a listener of its own. Both stay
  // silent: the query that meets the dead client tells the story, in the server's words.
  pool.on('error', () => {});
  pool.on('connect', hearing);
  return pool;
}

/** The name, where a later statement on the same connection finds what was planned under it. */
type LastingName = (
  name: string | undefined,
  client: pg.PoolClient | null,
) => Promise<string | undefined>;

/**
 * Asked once: a pooler tells its clients other numbers than those of the sessions that it lends
 * them, one for each transaction.
 */
function namesThatLast(pool: pg.Pool, connection: Connection): LastingName {
  let isDirect: boolean | null = null;
  const ask = async (client: pg.PoolClient): Promise<boolean> => {
    const { rows } = await queryOn<{ pid: number }>(client, connection, BACKEND_PID);
    return rows[0]?.pid === (client as pg.PoolClient & { processID: number | null }).processID;
  };
  return async (name, given) => {
    if (name === undefined) return undefined;
    if (isDirect === null) {
      const client = given ?? (await pool.connect().catch((error) => fail(error, connection)));
      isDirect = await ask(client).finally(() => {
        if (given === null) client.release();
      });
    }
    return isDirect ? name : undefined;
  };
}

const BACKEND_PID = 'select pg_backend_pid() as pid';

function fail(error: unknown, connection: Connection): never {
  throw asOperatingFailure(error, connection);
}

async function queryOn<R extends object>(
  target: pg.Pool | pg.ClientBase,
  connection: Connection,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
  guard?: Guard,
): Promise<{ rows: R[]; rowCount: number }> {
  try {
    // Without values the simple protocol is used, which takes several statements at once; the
    // driver then answers with a list, of which the last is the answer.
    const answer: pg.QueryResult | pg.QueryResult[] = await (guard !== undefined
      ? queryBehind(target, guard, text, values)
      : values.length === 0
        ? target.query(text)
        : target.query({ text, values: [...values], ...(name === undefined ? {} : { name }) }));
    const result = Array.isArray(answer) ? answer.at(-1) : answer;
    return { rows: (result?.rows ?? []) as R[], rowCount: result?.rowCount ?? 0 };
  } catch (error) {
    throw asOperatingFailure(error, connection, target);
  }
}

interface Door {
  pool: pg.Pool;
  connection: Connection;
  lasting: LastingName;
}

async function runTransaction<T>(
  { pool, connection, lasting }: Door,
  begin: string,
  work: (tx: Tx) => Promise<T>,
  guard?: Guard,
): Promise<T> {
  const client = await pool.connect().catch((error) => fail(error, connection));
  let open = true;
  const assertOpen = (): void => {
    if (!open) throw new Error('this transaction has ended');
  };
  /** Goes ahead of what comes first, and no more. */
  let ahead = guard;
  const tx: Tx = {
    query: async (text, values, name) => {
      assertOpen();
      if (ahead === undefined || isSetting(text)) {
        return queryOn(client, connection, text, values, await lasting(name, client));
      }
      const first = ahead;
      ahead = undefined;
      return queryOn(client, connection, text, values, undefined, first);
    },
    copy: async (copySql, texts) => {
      assertOpen();
      if (ahead !== undefined) await queryOn(client, connection, ahead.whole);
      ahead = undefined;
      return copyAll(
        startCopy(client, copySql, connection, async () => {}),
        texts,
      );
    },
  };
  let broken = false;
  try {
    await queryOn(client, connection, begin);
    const result = await work(tx);
    open = false;
    await commit(client, connection);
    return result;
  } catch (error) {
    open = false;
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function commit(client: pg.PoolClient, connection: Connection): Promise<void> {
  const answer = await client.query('commit').catch((error) => {
    const failure = asOperatingFailure(error, connection, client);
    if (!(failure instanceof DatabaseAwayError) || wasRefused(error)) throw failure;
    throw new DatabaseAwayError(
      `${failure.message}; the answer to COMMIT was lost, so the transaction may have happened`,
      { cause: error },
    );
  });
  // A failed statement whose error was swallowed turns COMMIT into a silent rollback.
  if (answer.command !== 'COMMIT') {
    throw new Error('the transaction was rolled back: one of its statements had failed');
  }
}

async function* readChunks<R extends object>(
  lend: () => Promise<Lent>,
  connection: Connection,
  text: string,
  how: {
    values: readonly unknown[] | undefined;
    chunk: number | undefined;
    settings: PlannerSettings | undefined;
  },
): AsyncGenerator<R[]> {
  const { values = [], chunk = CHUNK_ROWS, settings = {} } = how;
  const lent = await lend().catch((error) => fail(error, connection));
  let isWhole = false;
  try {
    await beginReading(lent.client, connection, settings);
    yield* readCursor<R>(lent, connection, text, values, chunk);
    isWhole = true;
  } finally {
    await lent.giveBack(isWhole);
  }
}

async function readSnapshot<T>(
  lend: () => Promise<Lent>,
  connection: Connection,
  work: (reads: LongReads) => Promise<T>,
): Promise<T> {
  const lent = await lend().catch((error) => fail(error, connection));
  let isWhole = false;
  try {
    await queryOn(
      lent.client,
      connection,
      `begin isolation level repeatable read read only; ${READING}`,
    );
    const query: Db['query'] = (text, values) => queryOn(lent.client, connection, text, values);
    const result = await work({
      stream: (text, values = [], chunk = CHUNK_ROWS, settings) => {
        const rows = readCursor<never>(lent, connection, text, values, chunk);
        return settings === undefined ? rows : readPlanned(query, settings, rows);
      },
    });
    isWhole = true;
    return result;
  } finally {
    await lent.giveBack(isWhole);
  }
}

/** Planned by these settings, and what follows in the transaction is not. */
async function* readPlanned<R>(query: Db['query'], how: PlannerSettings, all: AsyncIterable<R>) {
  await query('savepoint planned');
  await plannedBy({ query }, how);
  yield* all;
  await query('rollback to savepoint planned');
}

/** In the transaction that the client is in. Left before its end, nothing can follow it there. */
async function* readCursor<R extends object>(
  { client, giveBack }: Lent,
  connection: Connection,
  text: string,
  values: readonly unknown[],
  chunk: number,
): AsyncGenerator<R[]> {
  const { types } = clientSettings(connection);
  const cursor = client.query(new Cursor<R>(text, [...values], { types }));
  let isOver = false;
  try {
    for (let rows = await cursor.read(chunk); rows.length > 0; rows = await cursor.read(chunk)) {
      yield rows;
    }
    isOver = true;
  } catch (error) {
    isOver = true;
    throw asOperatingFailure(error, connection);
  } finally {
    // To close it would be to wait for a server that may be gone.
    if (!isOver) await giveBack(false);
  }
}

async function* readCopy(
  lend: () => Promise<Lent>,
  connection: Connection,
  copySql: string,
  settings: PlannerSettings,
): AsyncGenerator<CopiedRow[]> {
  const lent = await lend().catch((error) => fail(error, connection));
  let isWhole = false;
  try {
    await beginReading(lent.client, connection, settings);
    yield* copyOut(lent.client, copySql, connection);
    isWhole = true;
  } finally {
    await lent.giveBack(isWhole);
  }
}

async function beginReading(
  client: pg.ClientBase,
  connection: Connection,
  settings: PlannerSettings,
): Promise<void> {
  await queryOn(client, connection, `begin read only; ${READING}`);
  const query: Db['query'] = (text, values) => queryOn(client, connection, text, values);
  await plannedBy({ query }, settings);
}
