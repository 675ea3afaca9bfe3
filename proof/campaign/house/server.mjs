// A PostgreSQL server for one installation alone, as durable as a merchant's, that an operator or a
// crash takes away and brings back: its data folder is a copy of one that was migrated once. And
// the copies that come back in its place: a cold one, and a base backup.

import { execFileSync } from 'node:child_process';
import {
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
const LONG_AGO = `update tieout_meta.checksums set recorded_at = recorded_at - interval '10 days'`;

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
  let server = await program.embedded.startEmbedded({ dataDir });
  const connection = { host: server.host, user: server.user, database: DATABASE, port: 5432 };
  const url = `postgres://${server.user}@localhost/${DATABASE}?host=${encodeURIComponent(server.host)}`;
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
      await stop();
      copyFolder(data, kept);
      await start();
    },
    async putBack() {
      await stop();
      copyFolder(kept, data);
      await start();
    },
  };
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
      const label = join(kept, 'backup_label');
      writeFileSync(label, rows[0].labelfile);
      const { uid, gid } = statSync(data);
      chownSync(label, uid, gid);
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
