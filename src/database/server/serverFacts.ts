// What a PostgreSQL server says of itself, for `tieout doctor`: is it durable, and does its clock
// agree with ours? It changes no setting and judges nothing. Neighbour: cli/setup/doctor.ts.

import type { Database, Db } from '../db.js';
import { rolledBack } from '../rolledBack.js';

export interface ServerFacts {
  version: string;
  /** that of the database */
  encoding: string;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  /** a standby that follows another server: it takes no claims */
  isReplica: boolean;
  /** the server's clock less ours */
  skewSeconds: number;
  /** that the server grants to ordinary users, and those that are taken by anybody */
  connections: { max: number; used: number };
}

export async function serverFacts(db: Db, now: Date): Promise<ServerFacts> {
  const { rows } = await db.query<{
    version: string;
    encoding: string;
    fsync: string;
    full_page_writes: string;
    synchronous_commit: string;
    is_replica: boolean;
    skew: number;
    max: number;
    used: number;
  }>(
    `select current_setting('server_version') as version,
       current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as synchronous_commit,
       current_setting('full_page_writes') as full_page_writes, pg_is_in_recovery() as is_replica,
       current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int as max,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
       extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as skew`,
    [now],
  );
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  return {
    version: row.version,
    encoding: row.encoding,
    fsync: row.fsync,
    fullPageWrites: row.full_page_writes,
    synchronousCommit: row.synchronous_commit,
    isReplica: row.is_replica,
    skewSeconds: row.skew,
    connections: { max: row.max, used: row.used },
  };
}

/** A standby that follows another server: it answers, and takes no rows. */
export async function isReplica(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>('select pg_is_in_recovery() as is');
  return rows[0]?.is === true;
}

/** Lays out a megabyte that nobody keeps; where the disk is full it fails, whatever is answered. */
export async function tryRoom(db: Database): Promise<void> {
  await rolledBack(db, async (tx) => {
    await tx.query("set local temp_tablespaces = ''");
    await tx.query(
      `create temp table room_tried on commit drop as
       select md5(n::text) as filler from generate_series(1, 16000) as n`,
    );
  });
}

/** Whether what we sign in as may do anything on the server, whatever guards and grants say. */
export async function isSuperuser(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    "select current_setting('is_superuser') = 'on' as may",
  );
  return rows[0]?.may === true;
}
