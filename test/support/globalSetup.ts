// One PostgreSQL server for a whole vitest run, and in it two migrated templates that every test
// database is copied from, one with the queues' tables and one without; and beside it a data folder
// for tests that start a server of their own. TEST_DATABASE_URL names another server to run the
// tests against. Whatever the tests write lies in memory where there is
// room: ext4 is slow to give a file's number out again that was just given back, so that a database
// made and dropped for one test took most of a second there.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrateQueues } from '../../jobs/queues.js';
import type { Connection } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { migrateUp } from '../../src/database/migrate.js';
import { databaseOn } from './databaseOn.js';

export interface Templates {
  bare: string;
  withQueues: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    server: Connection;
    templates: Templates;
    /** Null where no server of ours was started. */
    preparedData: string | null;
  }
}

const MEMORY = '/dev/shm';
/** Several times what a whole run has been seen to hold at once. */
const ROOM_BYTES_MIN = 4 * 2 ** 30;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { folder, remove } = takeFolder();
  const { server, migrated, preparedData, stop } = await openServer(folder);
  const templates = {
    bare: `tieout_template_${process.pid}`,
    withQueues: `tieout_template_${process.pid}_queues`,
  };
  const admin = openDatabase(server, { max: 1 });
  const end = async (): Promise<void> => {
    await admin.close();
    await stop();
    remove();
  };
  try {
    await makeTemplates(admin, server, templates, migrated);
  } catch (error) {
    await end();
    throw error;
  }
  project.provide('server', server);
  project.provide('templates', templates);
  project.provide('preparedData', preparedData);
  return async () => {
    await dropTemplates(admin, templates);
    await end();
  };
}

/** For the server and for every file of the tests, which ask for a temporary folder as any does. */
function takeFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), 'tieout-test-'));
  // Others pass through and write there, too: run as root, the server has an account of its own.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A bare container has 64 MB there, and macOS no such folder. */
function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}

async function makeTemplates(
  admin: Database,
  server: Connection,
  { bare, withQueues }: Templates,
  migrated: string,
): Promise<void> {
  await dropTemplates(admin, { bare, withQueues });
  await admin.query(`create database ${bare} template ${migrated}`);
  await migrateUp(databaseOn(server, bare));
  await admin.query(`create database ${withQueues} template ${bare}`);
  const played = databaseOn(server, withQueues);
  await migrateQueues({ kind: 'database', connection: played });
  await makeMonth(played);
}

/**
 * The partitions of this month, which the first run of each database would make: a tenth of what a
 * small night costs the server.
 */
async function makeMonth(connection: Connection): Promise<void> {
  const db = openDatabase(connection, { max: 1 });
  try {
    await db.query(`select tieout.make_month((now() at time zone 'UTC')::date)`);
  } finally {
    await db.close();
  }
}

async function dropTemplates(admin: Database, { bare, withQueues }: Templates): Promise<void> {
  for (const name of [withQueues, bare]) await admin.query(`drop database if exists ${name}`);
}

interface TestServer {
  server: Connection;
  /** A database with our schema, or the server's own template where there is none yet. */
  migrated: string;
  preparedData: string | null;
  stop(): Promise<void>;
}

async function openServer(folder: string): Promise<TestServer> {
  const address = process.env.TEST_DATABASE_URL ?? '';
  if (address !== '') {
    const server = { connectionString: address };
    return { server, migrated: 'template1', preparedData: null, stop: async () => {} };
  }
  const dataDir = join(folder, 'server');
  const preparedData = join(folder, 'prepared');
  const first = await startEmbedded({ dataDir, unsafeFast: true });
  await migrateUp(first);
  // Copied while nobody writes to it.
  await first.stop();
  execFileSync('cp', ['-a', realpathSync(join(dataDir, 'postgres')), preparedData]);
  const { host, user, database, stop } = await startEmbedded({ dataDir, unsafeFast: true });
  return { server: { host, user, database }, migrated: database, preparedData, stop };
}
