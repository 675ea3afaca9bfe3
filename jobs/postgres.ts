// The queues on PostgreSQL: BullMQ's own tables in the schema `bullmq` of tieout's database. It
// owns one pool for all queues and workers of the process, apart from the pool of the ledger, so
// that waiting workers never starve it. It must never touch a table of tieout. Neighbours:
// backend.ts says what it has to offer; database/db.ts opens the pool.

import type { PgPool } from 'bullmq';
import { TieoutError } from '../src/core/errors.js';
import type { Connection } from '../src/database/connection.js';
import {
  asOperatingFailure,
  describeConnection,
  TRANSACTION_OPTIONS,
} from '../src/database/connection.js';
import type { Database } from '../src/database/db.js';
import { openDatabase } from '../src/database/db.js';
import { SHORT_LIMITS } from '../src/database/limits.js';
import type { Backend, OnError } from './backend.js';
import { within } from './backend.js';
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  SchemaMigrationRequiredError,
  withBackend,
} from './bullmq.js';

const SCHEMA = 'bullmq';
const APPLICATION_NAME = 'tieout queue';
const OPEN_TIMEOUT_MS = 30_000;
const Classes = withBackend(createPostgresBackend);

/** A worker keeps one connection to listen on; a running job needs one now and then. */
export async function openPostgresBackend(
  onError: OnError,
  connection: Connection,
  size: { workers: number; concurrency: number },
): Promise<Backend> {
  const database = openDatabase(onSchema(connection), {
    max: size.workers + size.concurrency,
    applicationName: APPLICATION_NAME,
    limits: SHORT_LIMITS,
  });
  const { pool } = database;
  pool.on('error', (error) => onError('queue connection', error));
  const shared = lentPool(pool);
  const description = `the queue in ${describeConnection(connection)}`;
  await within(OPEN_TIMEOUT_MS, description, checkSchema(database, connection)).catch(
    async (error) => {
      await database.close().catch(() => {});
      throw error;
    },
  );
  return {
    description,
    warnings: [],
    queue: (name) => new Classes.Queue(name, { connection: shared }),
    worker: (name, processor, settings) =>
      new Classes.Worker(name, processor, { ...settings, connection: shared }),
    // Whether the database takes rows is asked of the database itself.
    tryToWrite: async () => {},
    close: () => database.close(),
  };
}

/**
 * The pool as each queue and worker sees it: what its idle sessions meet is heard once, above, and
 * not once more by every one of them.
 */
function lentPool(pool: Database['pool']): PgPool {
  const lent = {
    connect: () => pool.connect(),
    query: (text: string, values?: unknown[]) => pool.query(text, values),
    end: async () => {},
    on: () => lent,
    removeAllListeners: () => lent,
    options: pool.options,
  };
  // The driver does not declare its parameters readonly, as BullMQ's type of a pool does.
  return lent as unknown as PgPool;
}

/** Creates or updates the tables of the queue; many may call it at once. */
export async function migratePostgresQueues(connection: Connection): Promise<void> {
  const database = openDatabase(connection, { max: 1, applicationName: APPLICATION_NAME });
  try {
    const client = await database.pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } catch (error) {
    throw asOperatingFailure(error, connection);
  } finally {
    await database.close();
  }
}

const BEHIND_POOLER =
  'the queue needs sessions of its own, and a pooler stands before the database: ' +
  'give the queue a Redis (queue.url), or name the server itself (database.url)';

/** A pooler refuses what a session is to begin with, or leaves it out. */
async function checkSchema(database: Database, connection: Connection): Promise<void> {
  try {
    const { rows } = await database.pool.query<{ search_path: string }>('show search_path');
    if (rows[0]?.search_path !== SCHEMA) throw new TieoutError(BEHIND_POOLER);
    await assertSchemaCompatibility(database.pool, SCHEMA);
  } catch (error) {
    if (error instanceof Error && error.message.includes('startup parameter')) {
      throw new TieoutError(BEHIND_POOLER, { cause: error });
    }
    if (error instanceof SchemaMigrationRequiredError) {
      const cure = 'run `tieout migrate up`';
      throw new TieoutError(`the database has no tables for the queue yet: ${cure}`, {
        cause: error,
      });
    }
    throw asOperatingFailure(error, connection);
  }
}

/**
 * The same server with the queue's schema as search path, which BullMQ's statements rely on. It is
 * said in the address, since a connection of a pool has no other way to begin with it. What its
 * functions ask is planned once a session and not five times: no plan depends on the values, and a
 * night of few orders ends before the fifth.
 */
function onSchema(connection: Connection): Connection {
  const address =
    'connectionString' in connection
      ? new URL(connection.connectionString)
      : socketAddress(connection);
  const given = address.searchParams.get('options');
  const path = `-c search_path=${SCHEMA} -c plan_cache_mode=force_generic_plan`;
  const words = `${path} ${TRANSACTION_OPTIONS}`;
  address.searchParams.set('options', given === null ? words : `${given} ${words}`);
  return { connectionString: address.href };
}

function socketAddress(connection: { host: string; user: string; database: string }): URL {
  const address = new URL('postgres://localhost');
  address.username = encodeURIComponent(connection.user);
  address.pathname = `/${encodeURIComponent(connection.database)}`;
  address.searchParams.set('host', connection.host);
  return address;
}
