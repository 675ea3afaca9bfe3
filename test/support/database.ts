// A migrated database for one test file or one test, on the server that globalSetup.ts started.

import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { Connection } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { databaseOn } from './databaseOn.js';

export interface FreshDatabase {
  db: Database;
  connection: Connection;
  drop(): Promise<void>;
}

/** A migrated database, with the queues' tables or without; or one without any of our schema. */
export async function freshDatabase(
  options: { empty?: boolean; queues?: boolean } = {},
): Promise<FreshDatabase> {
  const server = inject('server');
  const name = `tieout_test_${randomUUID().replaceAll('-', '')}`;
  const { bare, withQueues } = inject('templates');
  const migrated = options.queues === true ? withQueues : bare;
  const source = options.empty === true ? 'template0' : migrated;
  // The files as they are: through the log it costs five times as much.
  await onServer(server, `create database ${name} template ${source} strategy file_copy`);
  const connection = databaseOn(server, name);
  const db = openDatabase(connection);
  return {
    db,
    connection,
    async drop() {
      await db.close();
      await onServer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

let admin: Database | null = null;

/** On one session for as long as the process lives: every test comes here twice. */
async function onServer(server: Connection, statement: string): Promise<void> {
  admin ??= openDatabase(server, { max: 1 });
  await admin.query(statement);
}
