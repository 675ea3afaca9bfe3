// What is loaded into the database of an installation, where its files do not come back: a backup of
// the program's own by `tieout restore`, or a dump of which nothing says a word. As the handbook has
// it every process is stopped first, the database is made empty, and whoever watches over them
// starts them again afterwards.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ASKED_TRIGGERS } from '../../asked.mjs';
import { LONG_AGO, patiently } from './server.mjs';

const RESTORE = '`tieout restore`';
const DUMP = 'a dump loaded anew';
export const LOADS = [RESTORE, DUMP];

export async function keepRows(house, how) {
  const { program, server, crew } = house;
  const folder = folderOf(house);
  rmSync(folder, { recursive: true, force: true });
  if (how === RESTORE) return typed(crew, ['backup', folder]);
  const { applied: migrations } = await program.migrate.migrationStatus(server.connection);
  const about = { version: 'as kept', migrations, seal: null };
  await program.backupFiles.writeBackup(folder, null, (draft) =>
    program.backup.dumpTables(server.connection, draft, about, () => {}),
  );
}

/** Nobody is at work. */
export async function loadRows(house, how) {
  const { crew, db } = house;
  await patiently(() => db.query('drop schema tieout, tieout_meta, ledger cascade'));
  if (how === RESTORE) await typed(crew, ['restore', folderOf(house)]);
  else await load(house);
  await db.query(ASKED_TRIGGERS);
  await db.query(LONG_AGO);
  await db.query('select sim.note_asked(account_id, order_no) from ledger.orders');
  await db.query('select sim.note_disputes()');
}

const folderOf = ({ folder }) => join(folder, 'backup');

async function typed(crew, words) {
  const { code, stderr } = await crew.type(words);
  if (code !== 0) throw new Error(`tieout ${words[0]} ended with ${code}: ${stderr}`);
}

/** As another program loads it: without the word that `tieout restore` has of it. */
async function load({ program, server, db, ...house }) {
  await program.migrate.migrateUp(server.connection);
  const folder = folderOf(house);
  const { manifest, sha256 } = await program.backupFiles.readBackup(folder, null);
  const journal = { journalId: randomUUID(), host: 'none', place: 'none' };
  const who = { name: 'pg_restore', isClaim: true };
  const order = { folder, manifest, key: null, sha256, who, journal };
  await program.restore.restoreTables(db, order, () => {});
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`delete from tieout.brakes where by = 'pg_restore'`);
  });
}
