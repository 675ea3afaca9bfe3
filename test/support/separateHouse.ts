// A house for the built program: a sandbox gateway as a process of its own that outlives whatever
// dies, a ledger, and a tieout.yaml that points at both. Neighbours: night.ts runs nights in this
// process, cli.ts runs the program.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrateQueues } from '../../jobs/queues.js';
import type { Connection } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { migrateUp } from '../../src/database/migrate.js';
import { loadLedger } from '../../src/ledger/ledgerStore.js';
import type { SeededOrder } from '../../src/sandbox/seed/seed.js';
import { seedOrders } from '../../src/sandbox/seed/seed.js';
import { planSeed } from '../../src/sandbox/seed/seedPlan.js';
import { readSandboxSettings } from '../../src/sandbox/state.js';
import { ensureBuilt, startTieout } from './cli.js';
import { freshDatabase } from './database.js';
import type { Effect } from './night.js';
import { ledgerRows, readEffects, settingsOf } from './night.js';
import { prepareData } from './preparedData.js';

export interface SeparateHouse {
  folder: string;
  file: string;
  sandboxUrl: string;
  seeded: SeededOrder[];
  connection: Connection;
  db: Database;
  /** Where the database has a server of its own: it is shut down, and started after so long. */
  restartServer(downMs: number): Promise<void>;
  effects(): Promise<Effect[]>;
  end(): Promise<void>;
}

export interface SeparateOptions {
  orders: number;
  seed: number;
  /**
   * `own`: an embedded database under the folder; `server`: a given one, on a server of its own
   * that can be restarted; `empty`: a given one without any table.
   */
  database?: 'shared' | 'own' | 'server' | 'empty';
  settings?: Record<string, unknown>;
}

export async function buildSeparateHouse(options: SeparateOptions): Promise<SeparateHouse> {
  await ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'tieout-cli-'));
  chmodSync(folder, 0o755);
  const state = join(folder, 'gateway');
  const { orders, seed } = options;
  const words = ['--port', '0', '--orders', `${orders}`, '--seed', `${seed}`, '--state', state];
  const sandbox = startTieout(['sandbox', '--json', ...words], { cwd: folder });
  const line = await sandbox.line();
  const { baseUrl } = JSON.parse(line) as { baseUrl: string };
  const night = readSandboxSettings(state);
  if (night === null) throw new Error('the sandbox has no night');
  const { db, connection, drop, restart } = await databaseOf(options, folder);
  const seeded = [...seedOrders(planSeed(night))];
  if (options.database !== 'empty') {
    await db.transaction((tx) => loadLedger(tx, ledgerRows(seeded)));
  }
  const file = join(folder, 'tieout.yaml');
  const settings = { ...settingsOf(connection, baseUrl, night), ...options.settings };
  const database = options.database === 'own' ? { url: 'embedded' } : settings.database;
  writeFileSync(file, JSON.stringify({ ...settings, database }));
  return {
    folder,
    file,
    sandboxUrl: baseUrl,
    seeded,
    connection,
    db,
    restartServer: restart ?? (() => Promise.reject(new Error('its server is shared'))),
    effects: () => readEffects(baseUrl),
    end: async () => {
      sandbox.signal('SIGTERM');
      await sandbox.ended;
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface HousedDatabase {
  db: Database;
  connection: Connection;
  drop(): Promise<void>;
  restart?: (downMs: number) => Promise<void>;
}

async function databaseOf(options: SeparateOptions, folder: string): Promise<HousedDatabase> {
  if (options.database === 'empty') return freshDatabase({ empty: true });
  if (options.database === 'own') return ownDatabase(folder);
  if (options.database === 'server') return ownServer(folder);
  return freshDatabase({ queues: true });
}

/** As durable as for a merchant: it is there to be killed. */
async function ownDatabase(folder: string) {
  const dataDir = join(folder, 'var');
  prepareData(dataDir);
  const server = await startEmbedded({ dataDir });
  await migrateUp(server);
  const db = openDatabase(server, { max: 2 });
  return {
    db,
    connection: server,
    drop: async () => {
      await db.close();
      await server.stop();
    },
  };
}

/** Its clients know only its address, as those of a server that an operator restarts. */
async function ownServer(folder: string): Promise<HousedDatabase> {
  const dataDir = join(folder, 'server');
  prepareData(dataDir);
  let server = await startEmbedded({ dataDir, unsafeFast: true });
  const { host, user, database } = server;
  const connection = { host, user, database };
  await migrateUp(connection);
  await migrateQueues({ kind: 'database', connection });
  const db = openDatabase(connection, { max: 2 });
  return {
    db,
    connection,
    restart: async (downMs) => {
      await server.stop();
      await sleep(downMs);
      server = await startEmbedded({ dataDir, unsafeFast: true });
    },
    drop: async () => {
      await db.close();
      await server.stop();
    },
  };
}
