// The same server, another database of it.

import type { Connection } from '../../src/database/connection.js';

export function databaseOn(server: Connection, database: string): Connection {
  if (!('connectionString' in server)) return { ...server, database };
  const url = new URL(server.connectionString);
  url.pathname = `/${database}`;
  return { connectionString: url.href };
}
