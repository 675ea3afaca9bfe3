// A PostgreSQL server of its own that several hosts share, and the ways in which such a database
// comes back older than it was: a cold copy, a base backup that is simply started, recovery to a
// point in time, a dump beside it or in its place. Each host has its own data folder, and so its own journal of permits.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrateQueues } from '../../jobs/queues.js';
import { readBackup, writeBackup } from '../../src/backup/backupFiles.js';
import { dumpTables } from '../../src/backup/backupStore.js';
import { restoreTables } from '../../src/backup/restoreStore.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { migrateUp, migrationStatus } from '../../src/database/migrate.js';
import { prepareData } from './preparedData.js';

export const PUT_BACK = [
  'a cold copy',
  'a base backup',
  'recovery to a point in time',
  'a dump that is loaded anew',
  'a dump that is loaded in place',
] as const;
export type PutBack = (typeof PUT_BACK)[number];

export interface SharedServer {
  connection: { host: string; user: string; database: string };
  /** Does something on connections of its own: a restart cuts all others. */
  at<T>(work: (db: Database) => Promise<T>): Promise<T>;
  restart(): Promise<void>;
  /** Keeps the database as it stands. */
  keep(how: PutBack): Promise<void>;
  /** Puts it back as it was kept, in that way. */
  putBack(how: PutBack): Promise<void>;
  end(): Promise<void>;
}

const POINT = 'kept';
/** Without a restart: the server runs on. */
const LOADED = 'a dump that is loaded anew';
/** The same, and the database keeps its number: only what is in it is dropped and made again. */
const IN_PLACE = 'a dump that is loaded in place';

export async function startSharedServer(): Promise<SharedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-shared-'));
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'server');
  const archive = join(folder, 'archive');
  const dump = join(folder, 'dump');
  const copy = join(folder, 'copy');
  mkdirSync(archive);
  chmodSync(archive, 0o777);
  prepareData(dataDir);
  let server = await startEmbedded({ dataDir, unsafeFast: true });
  const { host, user, database } = server;
  const connection = { host, user, database };
  const data = realpathSync(join(dataDir, 'postgres'));
  await migrateUp(connection);
  await migrateQueues({ kind: 'database', connection });
  const at = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    const db = openDatabase(connection, { max: 2 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  const beside = async (work: (db: Database) => Promise<unknown>): Promise<void> => {
    const db = openDatabase({ ...connection, database: 'template1' }, { max: 1 });
    try {
      await work(db);
    } finally {
      await db.close();
    }
  };
  const start = async (): Promise<void> => {
    server = await startEmbedded({ dataDir, unsafeFast: true });
    while (await at((db) => isRecovering(db))) await sleep(50);
  };
  const restart = async (): Promise<void> => {
    await server.stop();
    await start();
  };
  await at(async (db) => {
    await db.query('alter system set archive_mode = on');
    await db.query(`alter system set archive_command = 'cp %p ${archive}/%f'`);
  });
  await restart();
  return {
    connection,
    at,
    restart,
    keep: async (how) => {
      if (how === LOADED)
        return beside((db) => db.query(`create database kept template ${database}`));
      if (how === IN_PLACE) return dumpAll(connection, dump);
      if (how === 'a cold copy') {
        await server.stop();
        copyFolder(data, copy);
        return start();
      }
      await at((db) => baseBackup(db, data, copy));
    },
    putBack: async (how) => {
      if (how === LOADED) {
        return beside(async (db) => {
          await db.query(`drop database ${database} with (force)`);
          await db.query(`create database ${database} template kept`);
        });
      }
      if (how === IN_PLACE) return at((db) => loadInPlace(connection, db, dump));
      if (how === 'recovery to a point in time') await at((db) => archived(db));
      await server.stop();
      copyFolder(copy, data);
      if (how === 'recovery to a point in time') recoverTo(data, archive);
      await start();
    },
    end: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function dumpAll(connection: SharedServer['connection'], folder: string): Promise<void> {
  const { applied: migrations } = await migrationStatus(connection);
  const about = { version: 'as kept', migrations, seal: null };
  await writeBackup(folder, null, (draft) => dumpTables(connection, draft, about, () => {}));
}

/** As pg_restore leaves it: without the word that `tieout restore` has of it. */
async function loadInPlace(
  connection: SharedServer['connection'],
  db: Database,
  folder: string,
): Promise<void> {
  await db.query('drop schema tieout, tieout_meta, ledger cascade');
  await migrateUp(connection);
  const { manifest, sha256 } = await readBackup(folder, null);
  const journal = { journalId: randomUUID(), host: 'none', place: 'none' };
  const who = { name: 'pg_restore', isClaim: true };
  await restoreTables(db, { folder, manifest, key: null, sha256, who, journal }, () => {});
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`delete from tieout.brakes where by = 'pg_restore'`);
  });
}

/** With owners and modes, and nothing of what was there before. */
function copyFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
}

async function isRecovering(db: Database): Promise<boolean> {
  const { rows } = await db.query<{ yes: boolean }>('select pg_is_in_recovery() as yes');
  return rows[0]?.yes !== false;
}

/** While the server runs; the log that makes it whole comes last. */
async function baseBackup(db: Database, data: string, copy: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`select pg_backup_start('kept', true)`);
    copyFolder(data, copy);
    const { rows } = await tx.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    );
    writeAs(data, join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  });
  copyFolder(join(data, 'pg_wal'), join(copy, 'pg_wal'));
  rmSync(join(copy, 'postmaster.pid'), { force: true });
  await db.query(`select pg_create_restore_point('${POINT}')`);
}

/** Waits until the log so far is in the archive. */
async function archived(db: Database): Promise<void> {
  const { rows } = await db.query<{ file: string }>(
    'select pg_walfile_name(pg_switch_wal()) as file',
  );
  for (;;) {
    const told = await db.query<{ last: string | null }>(
      'select last_archived_wal as last from pg_stat_archiver',
    );
    if ((told.rows[0]?.last ?? '') >= (rows[0]?.file ?? '')) return;
    await sleep(50);
  }
}

function recoverTo(data: string, archive: string): void {
  writeAs(data, join(data, 'recovery.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_name = '${POINT}'\n` +
      `recovery_target_action = 'promote'\n`,
  );
}

/** A file that the server's own account may read. */
function writeAs(folder: string, path: string, text: string): void {
  writeFileSync(path, text);
  const { uid, gid } = statSync(folder);
  chownSync(path, uid, gid);
}
