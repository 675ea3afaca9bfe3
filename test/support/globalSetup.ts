// One PostgreSQL server for a whole vitest run, and in it one migrated template that every test
// database is copied from. TEST_DATABASE_URL names another server to run the tests against.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Connection } from '../../src/database/connection.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { migrateUp } from '../../src/database/migrate.js';
import { databaseOn } from './databaseOn.js';

declare module 'vitest' {
  export interface ProvidedContext {
    server: Connection;
    template: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { server, stop } = await openServer();
  const template = `tieout_template_${process.pid}`;
  const admin = openDatabase(server, { max: 1 });
  try {
    await admin.query(`drop database if exists ${template}`);
    await admin.query(`create database ${template}`);
    await migrateUp(databaseOn(server, template));
  } catch (error) {
    await admin.close();
    await stop();
    throw error;
  }
  project.provide('server', server);
  project.provide('template', template);
  return async () => {
    await admin.query(`drop database if exists ${template}`);
    await admin.close();
    await stop();
  };
}

async function openServer(): Promise<{ server: Connection; stop(): Promise<void> }> {
  const address = process.env.TEST_DATABASE_URL ?? '';
  if (address !== '') return { server: { connectionString: address }, stop: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'tieout-test-'));
  // Run as root, the server's account must be able to pass through.
  chmodSync(folder, 0o755);
  const { host, user, database, stop } = await startEmbedded({ dataDir: folder, unsafeFast: true });
  return {
    server: { host, user, database },
    stop: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
