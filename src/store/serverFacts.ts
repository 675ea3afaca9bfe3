// What a PostgreSQL server says of itself, for `tieout doctor`: is it durable, and does its clock
// agree with ours? It changes no setting and judges nothing. Neighbour: cli/doctor.ts.

import type { Db } from './db.js';

export interface ServerFacts {
  version: string;
  fsync: string;
  synchronousCommit: string;
  /** the server's clock less ours */
  skewSeconds: number;
}

export async function serverFacts(db: Db, now: Date): Promise<ServerFacts> {
  const { rows } = await db.query<{
    version: string;
    fsync: string;
    synchronous_commit: string;
    skew: number;
  }>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as synchronous_commit,
       extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as skew`,
    [now],
  );
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  return {
    version: row.version,
    fsync: row.fsync,
    synchronousCommit: row.synchronous_commit,
    skewSeconds: row.skew,
  };
}
