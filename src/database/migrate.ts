// Brings the schema to the state that migrations/*.sql describes, and back. The list of applied
// files and their checksums live in a schema of their own, tieout_meta: public may belong to
// another program, and the schemas of ours are themselves made by migrations. It must never apply
// a file twice or go on over one that was edited later. Neighbour: connection.ts.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { TieoutError } from '../core/errors.js';
import type { Connection } from './connection.js';
import { asOperatingFailure, openClient } from './connection.js';
import { packageRoot } from './statements.js';

export interface MigrationStatus {
  applied: string[];
  pending: string[];
  /** Applied, but the file was edited since. */
  changed: string[];
  /** Applied, but this tieout has no such file: the database belongs to a newer one. */
  missing: string[];
}

interface MigrationFile {
  name: string;
  sha256: string;
}

/** A migration bears a number; schema.sql beside them is for people to read. */
const NUMBERED = '\\d{4}_\\w+\\.sql$';
const META_SCHEMA = 'tieout_meta';
const META_TABLE = 'migrations';
/** Any number will do, as long as nothing else in the database locks it. */
const LOCK_KEY = 7_203_514_881;
const LOCK_POLL_MS = 100;
const LOCK_WAIT_MS_MAX = 600_000;

/**
 * Applies what is pending, all or nothing; starters at the same moment wait for each other. With
 * `upTo` no further than that: a database as an older backup knew it.
 */
export async function migrateUp(
  connection: Connection,
  log: (line: string) => void = () => {},
  folder = migrationsFolder(),
  upTo: string | null = null,
): Promise<string[]> {
  const due = async (client: pg.Client): Promise<string[]> => {
    const { pending } = await checked(client, folder, log);
    return upTo === null ? pending : pending.slice(0, pending.indexOf(upTo) + 1);
  };
  return withClient(connection, async (client) => {
    if ((await due(client)).length === 0) return [];
    return locked(connection, client, async () => {
      const pending = await due(client);
      if (pending.length === 0) return [];
      await requireServer(client);
      // Before the run, so that no applied file can ever be without its checksum.
      await recordChecksums(client, filesOf(folder), pending);
      return run(client, folder, { direction: 'up', count: pending.length }, log);
    });
  });
}

/** What our statements are written for. */
const SERVER_MIN = 15;

async function requireServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number; encoding: string }>(
    `select current_setting('server_version') as version,
       current_setting('server_version_num')::int / 10000 as major,
       current_setting('server_encoding') as encoding`,
  );
  const { version, major, encoding } = rows[0] ?? { version: 'unknown', major: 0, encoding: '' };
  if (major < SERVER_MIN) {
    throw new TieoutError(
      `the server is PostgreSQL ${version}: tieout needs ${SERVER_MIN} or newer`,
    );
  }
  const trouble = encodingTrouble(encoding);
  if (trouble !== null) throw new TieoutError(trouble);
}

/** Names and words of the ledger and of the gateway are any text; null: the database holds it. */
export function encodingTrouble(encoding: string): string | null {
  if (encoding === 'UTF8') return null;
  return (
    `the database is encoded in ${encoding}, which does not hold every text: tieout needs UTF8 ` +
    "(create database NAME encoding 'UTF8' template template0)"
  );
}

/** Takes back the newest `count` migrations; their data goes with them. */
export async function migrateDown(
  connection: Connection,
  count: number,
  log: (line: string) => void = () => {},
  folder = migrationsFolder(),
): Promise<string[]> {
  return withClient(connection, (client) =>
    locked(connection, client, async () => {
      await checked(client, folder, log);
      if (count < 1) return [];
      return run(client, folder, { direction: 'down', count }, log);
    }),
  );
}

export async function migrationStatus(
  connection: Connection,
  folder = migrationsFolder(),
): Promise<MigrationStatus> {
  return withClient(connection, (client) => readStatus(client, folder));
}

function migrationsFolder(): string {
  return join(packageRoot(), 'migrations');
}

async function withClient<T>(
  connection: Connection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await openClient(connection, 'tieout migrate');
  try {
    return await work(client);
  } catch (error) {
    throw asOperatingFailure(error, connection);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Held by a transaction beside the work: behind a pooler, what a session holds is lost. */
async function locked<T>(
  connection: Connection,
  client: pg.Client,
  work: () => Promise<T>,
): Promise<T> {
  const holder = await openClient(connection, 'tieout migrate');
  try {
    await takeLock(holder);
    await client.query('create schema if not exists tieout_meta');
    await client.query(
      `create table if not exists tieout_meta.checksums (
         name text primary key, sha256 text not null, recorded_at timestamptz not null
       )`,
    );
    return await work();
  } finally {
    // Its transaction ends with it, and the lock with that.
    await holder.end().catch(() => {});
  }
}

/** Waits between tries without a transaction, so that a pooler has sessions left for the holder. */
async function takeLock(holder: pg.Client): Promise<void> {
  const until = performance.now() + LOCK_WAIT_MS_MAX;
  for (;;) {
    // It idles for as long as the work lasts: a server that ends such a transaction must not here.
    await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
    const { rows } = await holder.query('select pg_try_advisory_xact_lock($1) as mine', [LOCK_KEY]);
    if (rows[0].mine) return;
    await holder.query('rollback');
    if (performance.now() > until) {
      throw new TieoutError(
        'another tieout is still changing the tables: try again when it has ended',
      );
    }
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * Migrations are applied in their order and in no other. A database that lacks one below those it
 * has is of a version between two releases; null: none is lacking.
 */
export function skippedWords({ applied, pending }: MigrationStatus): string | null {
  const newest = [...applied].sort().at(-1) ?? '';
  const skipped = pending.filter((name) => name < newest);
  if (skipped.length === 0) return null;
  return (
    `the database was made by a tieout between two versions: it has ${newest}, and lacks ` +
    `${skipped.join(', ')}. This version cannot bring it further; the program that made it still ` +
    'works with it'
  );
}

/** The status, when it allows to go on; an edited file stops only where more would follow it. */
async function checked(
  client: pg.Client,
  folder: string,
  log: (line: string) => void,
): Promise<MigrationStatus> {
  const status = await readStatus(client, folder);
  if (status.missing.length > 0) {
    throw new TieoutError(
      `the database has migrations this tieout does not know (${status.missing.join(', ')}): ` +
        'it was used by a newer one',
    );
  }
  const skipped = skippedWords(status);
  if (skipped !== null) throw new TieoutError(skipped);
  if (status.changed.length === 0) return status;
  const edited = `migrations were edited after they were applied: ${status.changed.join(', ')}`;
  if (status.pending.length > 0) throw new TieoutError(edited);
  log(edited);
  return status;
}

async function readStatus(client: pg.Client, folder: string): Promise<MigrationStatus> {
  const files = filesOf(folder);
  const recorded = await readRecorded(client);
  const known = new Set(files.map((file) => file.name));
  return {
    applied: [...recorded.keys()],
    pending: files.filter((file) => !recorded.has(file.name)).map((file) => file.name),
    changed: files
      .filter((file) => recorded.has(file.name) && recorded.get(file.name) !== file.sha256)
      .map((file) => file.name),
    missing: [...recorded.keys()].filter((name) => !known.has(name)),
  };
}

/** Applied migrations in their order, each with the checksum it was applied under. */
async function readRecorded(client: pg.Client): Promise<Map<string, string>> {
  const known = await client.query('select to_regclass($1) is not null as exists', [
    `${META_SCHEMA}.${META_TABLE}`,
  ]);
  if (known.rows[0]?.exists !== true) return new Map();
  const { rows } = await client.query<{ name: string; sha256: string }>(
    `select m.name, coalesce(c.sha256, '') as sha256
       from tieout_meta.migrations m
       left join tieout_meta.checksums c on c.name = m.name
      order by m.id`,
  );
  return new Map(rows.map((row) => [row.name, row.sha256]));
}

function filesOf(folder: string): MigrationFile[] {
  return namesIn(folder).map((file) => {
    // Line ends may differ from checkout to checkout without a change of meaning.
    const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    return {
      name: file.slice(0, -'.sql'.length),
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => new RegExp(`^${NUMBERED}`).test(name))
      .sort();
  } catch {
    // Git keeps no empty folder: a tree without migrations has none at all.
    return [];
  }
}

async function recordChecksums(
  client: pg.Client,
  files: readonly MigrationFile[],
  pending: readonly string[],
): Promise<void> {
  const wanted = files.filter((file) => pending.includes(file.name));
  await client.query(
    `insert into tieout_meta.checksums (name, sha256, recorded_at)
     select name, sha256, now() from unnest($1::text[], $2::text[]) as new (name, sha256)
     on conflict (name) do update
       set sha256 = excluded.sha256, recorded_at = excluded.recorded_at`,
    [wanted.map((file) => file.name), wanted.map((file) => file.sha256)],
  );
}

async function run(
  client: pg.Client,
  folder: string,
  what: { direction: 'up' | 'down'; count: number },
  log: (line: string) => void,
): Promise<string[]> {
  const { runner } = await import('node-pg-migrate');
  const silent = (): void => {};
  const done = await runner({
    ...what,
    dbClient: client,
    dir: folder,
    ignorePattern: `(?!${NUMBERED}).*`,
    migrationsSchema: META_SCHEMA,
    migrationsTable: META_TABLE,
    singleTransaction: true,
    // Our own lock, held by the caller, also covers the checksums.
    noLock: true,
    logger: { debug: silent, info: silent, warn: log, error: log },
  });
  for (const migration of done) log(`migrated ${what.direction}: ${migration.name}`);
  return done.map((migration) => migration.name);
}
