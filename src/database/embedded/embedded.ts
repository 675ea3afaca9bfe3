// The embedded database: a real PostgreSQL under dataDir, shared by every tieout process that
// uses the same folder, with no port and no password. The first process starts it, the last one
// turns it off. It must never stop a server that another process uses, nor start a second one on
// the same data. Neighbours: embeddedPlace.ts, embeddedBinaries.ts, embeddedProcess.ts below,
// db.ts connects to what it returns.

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { DatabaseFullError, isDiskFull, UnreachableError } from '../../core/errors.js';
import { withLock } from '../../processes/pidLock.js';
import { openClient } from '../connection.js';
import { identifier, literal, named } from '../identifiers.js';
import { findBinaries } from './embeddedBinaries.js';
import type { Place } from './embeddedPlace.js';
import { findPlace } from './embeddedPlace.js';
import { initialise, launch, START_CAP_MS, SUPERUSER } from './embeddedProcess.js';
import { isServerOf, readPostmaster } from './postmaster.js';

/** Serves as a Connection as it is. */
export interface EmbeddedServer {
  /** The folder of the socket. */
  host: string;
  user: string;
  database: string;
  /** True when the server was running already. */
  adopted: boolean;
  /** Stops the server unless another process uses it; true when it was stopped. */
  stopIfUnused(): Promise<boolean>;
  stop(): Promise<void>;
}

const DATABASE = 'tieout';
/** Whom the program signs in as; the tables are the superuser's, who migrates. */
export const WRITER = 'tieout_writer';
/** Every process that uses the server keeps one connection of this name as long as it does. */
const PRESENCE = 'tieout presence';
const POLL_MS = 25;
const STOP_CAP_MS = 60_000;
/** A closed connection is gone from pg_stat_activity only a moment later. */
const LEAVING_POLLS = 40;
const STAYING_POLLS = 4;
const PRESENCE_RETRY_MS = 1_000;
const PRESENCE_RETRIES = 600;
const UNSAFE_SERVER = 'the running embedded database does not write durably (fsync is off)';

export async function startEmbedded(options: {
  dataDir: string;
  unsafeFast?: boolean;
  log?: (line: string) => void;
}): Promise<EmbeddedServer> {
  const { dataDir, unsafeFast = false, log = () => {} } = options;
  const place = usable(dataDir, () => findPlace(dataDir));
  const started = await withLock(place.lockFile, async () => {
    const running = await adopt(place);
    const client = running ?? (await startServer(place, unsafeFast, log));
    if (!unsafeFast) await assertDurable(client);
    await createDatabase(client);
    return { client, adopted: running !== null };
  }).catch((error: unknown) => {
    throw isDiskFull(error) ? fullDisk(dataDir, error) : error;
  });
  const host = started.client.host;
  const presence = keepPresence(started.client, host);
  return {
    host,
    user: SUPERUSER,
    database: DATABASE,
    adopted: started.adopted,
    stopIfUnused: () =>
      withLock(place.lockFile, async () => {
        const used = await isUsed(presence);
        if (!used) await stopServer(place);
        await presence.leave();
        return !used;
      }),
    stop: () =>
      withLock(place.lockFile, async () => {
        await stopServer(place);
        await presence.leave();
      }),
  };
}

/** A connection to the server that runs already; null once it is sure that none does. */
async function adopt(place: Place): Promise<pg.Client | null> {
  const deadline = AbortSignal.timeout(START_CAP_MS);
  for (;;) {
    const found = readPostmaster(place.dataFolder);
    if (found === null) return null;
    const client = await greet(found.socketFolder, place);
    if (client !== null) return client;
    // Starting up, shutting down, or dead and its pid perhaps another's by now.
    if (!isServerOf(found.pid, place.dataFolder)) return null;
    if (deadline.aborted) {
      throw new UnreachableError(`the server ${found.pid} of ${place.dataFolder} does not answer`);
    }
    await sleep(POLL_MS);
  }
}

async function startServer(
  place: Place,
  unsafeFast: boolean,
  log: (line: string) => void,
): Promise<pg.Client> {
  const binaries = await findBinaries(place);
  log(`starting the embedded database in ${place.dataFolder}`);
  await initialise(place, binaries, unsafeFast);
  return launch(place, binaries, unsafeFast, () => greet(place.socketFolder, place));
}

/** A client of the server behind this socket, if it is ours and answers now. */
async function greet(socketFolder: string, place: Place): Promise<pg.Client | null> {
  if (socketFolder === '') return null;
  let client: pg.Client;
  try {
    client = await openPresence(socketFolder);
  } catch {
    return null;
  }
  const answer = await client.query('show data_directory').catch(() => null);
  if (answer?.rows[0]?.data_directory === place.dataFolder) return client;
  await client.end().catch(() => {});
  return null;
}

function openPresence(socketFolder: string): Promise<pg.Client> {
  return openClient({ host: socketFolder, user: SUPERUSER, database: 'postgres' }, PRESENCE);
}

async function assertDurable(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show fsync');
  if (rows[0]?.fsync === 'on') return;
  await client.end();
  throw new UnreachableError(UNSAFE_SERVER);
}

async function createDatabase(client: pg.Client): Promise<void> {
  const known = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
  if (known.rowCount === 0) await client.query(named`create database ${identifier(DATABASE)}`);
  const role = await client.query('select 1 from pg_roles where rolname = $1', [WRITER]);
  if (role.rowCount === 0) await client.query(named`create role ${identifier(WRITER)} login`);
}

interface Presence {
  ask<R extends object>(sql: string): Promise<R | null>;
  leave(): Promise<void>;
}

/** Holds the place of this process at the server; renews it should the server restart inside. */
function keepPresence(first: pg.Client, socketFolder: string): Presence {
  let client: pg.Client | null = null;
  /** One at a time: of two that are open the server would lose one alone. */
  let opening: Promise<pg.Client | null> | null = null;
  let left = false;
  let retries = 0;
  const hold = (held: pg.Client): pg.Client => {
    client = held;
    // It must not keep this process alive by itself; the driver's types do not know this method.
    (held as pg.Client & { unref(): void }).unref();
    held.once('end', () => {
      client = null;
      renew();
    });
    return held;
  };
  const present = async (): Promise<pg.Client | null> => {
    if (client !== null) return client;
    opening ??= openPresence(socketFolder)
      .then(hold, () => null)
      .finally(() => {
        opening = null;
      });
    return opening;
  };
  const renew = (): void => {
    if (left || retries >= PRESENCE_RETRIES) return;
    retries += 1;
    setTimeout(() => {
      if (left) return;
      present().then((held) => {
        if (held === null) renew();
      });
    }, PRESENCE_RETRY_MS).unref();
  };
  hold(first);
  return {
    async ask<R extends object>(sql: string) {
      const held = await present();
      (held as (pg.Client & { ref(): void }) | null)?.ref();
      const answer = await held?.query(sql).catch(() => null);
      return (answer?.rows[0] as R | undefined) ?? null;
    },
    async leave() {
      left = true;
      await opening;
      await client?.end().catch(() => {});
    },
  };
}

/** Whether another process is at the server; a server that does not answer is used by nobody. */
async function isUsed(presence: Presence): Promise<boolean> {
  let staying = 0;
  for (let poll = 0; poll < LEAVING_POLLS; poll += 1) {
    const others = await presence.ask<{ clients: bigint; presences: bigint }>(
      named`select count(*) as clients,
              count(*) filter (where application_name = ${literal(PRESENCE)}) as presences
         from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    if (others === null || others.clients === 0n) return false;
    // One that is just leaving is still listed: only one that stays is a user.
    staying = others.presences > 0n ? staying + 1 : 0;
    if (staying === STAYING_POLLS) return true;
    await sleep(POLL_MS);
  }
  return true;
}

/** Fast shutdown (SIGINT); the pid file goes last, when everything is written. */
async function stopServer(place: Place): Promise<void> {
  const found = readPostmaster(place.dataFolder);
  if (found === null || !isServerOf(found.pid, place.dataFolder)) return;
  process.kill(found.pid, 'SIGINT');
  const deadline = AbortSignal.timeout(STOP_CAP_MS);
  while (readPostmaster(place.dataFolder) !== null && isServerOf(found.pid, place.dataFolder)) {
    if (deadline.aborted) {
      throw new UnreachableError(`the embedded database ${found.pid} does not stop`);
    }
    await sleep(POLL_MS);
  }
}

function fullDisk(dataDir: string, cause: Error): DatabaseFullError {
  const words = `the embedded database cannot be used: the disk of dataDir ${dataDir} is full: `;
  return new DatabaseFullError(`${words}make room there`, { cause });
}

/** Errors of the file system as plain sentences. */
function usable<T>(dataDir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isDiskFull(error)) throw fullDisk(dataDir, error);
    if (error instanceof UnreachableError || !(error instanceof Error)) throw error;
    throw new UnreachableError(`dataDir ${dataDir} cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}
