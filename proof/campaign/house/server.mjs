// A PostgreSQL server for one installation alone, as durable as a merchant's, that an operator or a
// crash takes away and brings back: its data folder is a copy of one that was migrated once. And
// what comes back in its place: a cold copy, a base backup, the server recovered to a point in time.
// Neighbour: restore.mjs has what is loaded into it.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeMovedDatabase } from '../../place.mjs';

const DATABASE = 'house';
const POINT_IN_TIME = 'recovery to a point in time';
/** In which ways the files of a server come back. */
export const COPIES = ['a base backup', 'a cold copy', POINT_IN_TIME];
const POINT = 'kept';
export const LONG_AGO = `update tieout_meta.checksums set recorded_at = recorded_at - interval '10 days'`;

/** Makes the one data folder that all others are copies of; answers what opens such a copy. */
export async function openServers(program, folder) {
  const dataDir = join(folder, 'migrated');
  const { host, user, database, stop } = await program.embedded.startEmbedded({ dataDir });
  const admin = program.db.openDatabase({ host, user, database }, { max: 1 });
  const connection = { host, user, database: DATABASE };
  await makeMovedDatabase(program, admin, connection);
  const db = program.db.openDatabase(connection, { max: 1 });
  // A night is owed at once.
  await db.query(LONG_AGO);
  await db.close();
  await admin.close();
  await stop();
  const migrated = realpathSync(join(dataDir, 'postgres'));
  return (own) => openServer(program, migrated, own);
}

async function openServer(program, migrated, own) {
  const dataDir = join(own, 'server');
  mkdirSync(dataDir, { recursive: true });
  const data = join(dataDir, 'postgres');
  copyFolder(migrated, data);
  const kept = join(dataDir, 'kept');
  const archive = join(dataDir, 'archive');
  let server = await program.embedded.startEmbedded({ dataDir });
  const connection = { host: server.host, user: server.user, database: DATABASE, port: 5432 };
  const url = `postgres://${server.user}@localhost/${DATABASE}?host=${encodeURIComponent(server.host)}`;
  let points = 0;
  const stop = () => server.stop();
  const start = async () => {
    server = await program.embedded.startEmbedded({ dataDir });
  };
  return {
    ...{ connection, url, start, stop },
    /** As by a crash: nothing is shut down. */
    kill() {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
    },
    /** Keeps the database as it stands, in one of the ways of an operator. */
    async keep(how) {
      if (how === 'a base backup') return baseBackup(program, connection, { data, kept });
      const isArchived = how === POINT_IN_TIME;
      if (isArchived) await keepLog(program, connection, archive);
      await stop();
      if (!isArchived) copyFolder(data, kept);
      await start();
      if (!isArchived) return;
      await baseBackup(program, connection, { data, kept });
      points += 1;
      await once(program, connection, `select pg_create_restore_point('${POINT}-${points}')`);
    },
    /** What has to be there before anything is forgotten. */
    async prepare(how) {
      if (how === POINT_IN_TIME) await patiently(() => archived(program, connection));
    },
    async putBack(how) {
      const isArchived = how === POINT_IN_TIME;
      await stop();
      copyFolder(kept, data);
      if (isArchived) recoverTo(data, archive, `${POINT}-${points}`);
      await start();
      while (isArchived && (await isRecovering(program, connection))) await sleep(100);
    },
  };
}

async function once(program, connection, text) {
  const db = program.db.openDatabase(connection, { max: 1 });
  try {
    return (await db.query(text)).rows;
  } finally {
    await db.close();
  }
}

/** From the next start on. */
async function keepLog(program, connection, archive) {
  mkdirSync(archive, { recursive: true });
  chmodSync(archive, 0o777);
  await once(program, connection, 'alter system set archive_mode = on');
  await once(program, connection, `alter system set archive_command = 'cp %p ${archive}/%f'`);
}

/** Waits until the log so far is in the archive. */
async function archived(program, connection) {
  const [{ file }] = await once(
    program,
    connection,
    'select pg_walfile_name(pg_switch_wal()) as file',
  );
  for (;;) {
    const [{ last }] = await once(
      program,
      connection,
      'select last_archived_wal as last from pg_stat_archiver',
    );
    if ((last ?? '') >= file) return;
    await sleep(100);
  }
}

function recoverTo(data, archive, point) {
  writeAs(data, join(data, 'recovery.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_name = '${point}'\n` +
      `recovery_target_action = 'promote'\n`,
  );
}

async function isRecovering(program, connection) {
  const [{ yes }] = await once(program, connection, 'select pg_is_in_recovery() as yes');
  return yes;
}

/** A file that the server's own account may read. */
function writeAs(folder, path, text) {
  writeFileSync(path, text);
  const { uid, gid } = statSync(folder);
  chownSync(path, uid, gid);
}

/** With owners and modes, and nothing of what was there before. */
function copyFolder(from, to) {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
}

/** While the server runs; the log that makes it whole comes last. */
async function baseBackup(program, connection, { data, kept }) {
  const db = program.db.openDatabase(connection, { max: 1 });
  try {
    await db.transaction(async (tx) => {
      await tx.query(`select pg_backup_start('kept', true)`);
      copyFolder(data, kept);
      const { rows } = await tx.query('select labelfile from pg_backup_stop(false)');
      writeAs(data, join(kept, 'backup_label'), rows[0].labelfile);
    });
    copyFolder(join(data, 'pg_wal'), join(kept, 'pg_wal'));
    rmSync(join(kept, 'postmaster.pid'), { force: true });
  } finally {
    await db.close();
  }
}

/** Comes back to a server that is away for a moment; for what the schedules themselves ask. */
export async function patiently(work, triesMax = 120) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= triesMax) throw error;
      await sleep(250);
    }
  }
}

/** What the schedules themselves ask of a database that may be away. */
export const asked = (db, text, values) => patiently(() => db.query(text, values));
