// Puts a backup into an empty database, in one transaction: all rows of it or none. Triggers and
// foreign keys step aside while the rows come in as they were, and every foreign key is checked
// again at the end. In the same transaction all sending is frozen: the database has forgotten what
// was sent after the backup, and a person has to let it go. Neighbours: backupStore.ts took it
// out, cli/setup/restore.ts says what was found.

import { InputError, TieoutError } from '../core/errors.js';
import type { Decider } from '../core/instructions/decider.js';
import type { Database, Db, Tx } from '../database/db.js';
import { asWritten, list, named } from '../database/identifiers.js';
import { statement } from '../database/statements.js';
import { sayBrake } from '../send/batches/sendingStatusStore.js';
import type { JournalPlace } from '../send/journal/journalsStore.js';
import {
  holdWaiting,
  IDS_SEEN_OUTSIDE,
  IDS_SKIPPED,
  putBackFound,
} from '../send/journal/putBacksStore.js';
import { rowsOf } from './backupFiles.js';
import type { BackupKey } from './backupKey.js';
import { LEFT_OUT } from './backupStore.js';
import type { BackupManifest, BackupTable } from './manifest.js';

interface RestoreOrder {
  folder: string;
  manifest: BackupManifest;
  /** of an encrypted one */
  key: BackupKey | null;
  sha256: string;
  who: Decider;
  /** the journal of permits of this host, which may know more than the backup */
  journal: JournalPlace;
}

/** Throws unless the tables are there and hold nothing of anybody. */
export async function assertEmpty(db: Db): Promise<void> {
  const { rows } = await db.query<{ kind: string }>(
    `select 'runs' as kind from tieout.runs union all
     select 'orders' from ledger.orders union all
     select 'instructions' from tieout.instructions union all
     select 'people' from tieout.users limit 1`,
  );
  const [found] = rows;
  if (found) {
    throw new TieoutError(`the database holds ${found.kind} already: restore needs an empty one`);
  }
}

export async function restoreTables(
  db: Database,
  order: RestoreOrder,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const { folder, manifest, key } = order;
  await db.durably(async (tx) => {
    // Foreign keys are checked over whole tables here.
    await tx.query('set local enable_seqscan = on');
    const names = [...manifest.tables.map(({ table }) => table), ...LEFT_OUT];
    const known = await knownTables(tx, names);
    const strange = manifest.tables.find(({ table }) => !known.has(table));
    if (strange) throw new InputError(`${strange.table}: this version has no such table`);
    for (const table of manifest.tables) await refuseColumns(tx, table);
    await tx.query(statement('backup/dropKeys'));
    for (const month of manifest.months ?? [])
      await tx.query('select tieout.make_month($1)', [month]);
    const guarded = [...known, ...(await partitionsOf(tx))].map(asWritten);
    for (const table of guarded) await tx.query(named`alter table ${table} disable trigger user`);
    // What migrations put in is in the backup as well.
    await tx.query(named`truncate ${list([...known].map(asWritten))}`);
    let done = 0;
    for (const table of manifest.tables) {
      const columns = list(table.columns.map(asWritten));
      const into = named`copy ${asWritten(table.table)} (${columns}) from stdin`;
      const rows = await tx.copy(into, rowsOf(folder, table, { manifest, key }));
      if (rows !== table.rows) {
        throw new InputError(`${table.file}: ${rows} rows instead of ${table.rows}`);
      }
      done += 1;
      progress(done, manifest.tables.length);
    }
    for (const table of guarded) await tx.query(named`alter table ${table} enable trigger user`);
    await tx.query(statement('backup/putKeysBack'));
    await setSequences(tx, manifest);
    await freezeRestored(tx, order);
  });
  for (const table of await filledTables(db)) await db.query(named`analyze ${asWritten(table)}`);
}

/** The names of a manifest are held against the catalogue: they become part of a statement. */
async function refuseColumns(tx: Tx, { table, columns }: BackupTable): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    `select name from unnest($2::text[]) as name
     where not exists (select from pg_attribute a
       where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
         and quote_ident(a.attname) = name) limit 1`,
    [table, columns],
  );
  if (rows[0]) throw new InputError(`${table}: there is no column ${rows[0].name}`);
}

async function partitionsOf(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits join pg_class on oid = inhrelid
     where relkind = 'r' and relnamespace = 'tieout'::regnamespace order by 1`,
  );
  return rows.map((row) => row.name);
}

/** Those that hold rows themselves: of a whole with partitions these, and never the whole. */
async function filledTables(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace in ('tieout'::regnamespace, 'ledger'::regnamespace)
     order by 1`,
  );
  return rows.map((row) => row.name);
}

/** As the text of SQL, quoted where that is needed; only tables that are there. */
async function knownTables(tx: Tx, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where exists (select from pg_class c
       where c.oid = to_regclass(name) and c.relkind in ('r', 'p'))`,
    [names],
  );
  return new Set(rows.map((row) => row.name));
}

async function setSequences(tx: Tx, { sequences }: BackupManifest): Promise<void> {
  const { rows } = await tx.query<{ sequence: string }>(
    `select pg_get_serial_sequence(name, case name
       when 'tieout.instructions' then 'instruction_id' else 'batch_id' end) as sequence
     from unnest($1::text[]) as name`,
    [IDS_SEEN_OUTSIDE],
  );
  const outside = new Set(rows.map((row) => row.sequence));
  for (const { sequence, lastValue } of sequences) {
    const skipped = outside.has(sequence) ? BigInt(IDS_SKIPPED) : 0n;
    await tx.query('select setval($1::regclass, $2::bigint)', [
      sequence,
      (BigInt(lastValue) + skipped).toString(),
    ]);
  }
}

/** Nothing that waited to be sent goes by itself, and nothing at all until a person lets it go. */
async function freezeRestored(tx: Tx, order: RestoreOrder): Promise<void> {
  await holdWaiting(tx);
  const { takenAt } = order.manifest;
  await sayBrake(tx, {
    kind: 'freeze',
    accountId: null,
    isOn: true,
    reason: `restored from the backup of ${takenAt}: what was sent since is not in it`,
    who: order.who,
    found: {
      restoredFrom: { takenAt, sha256: order.sha256 },
      journals: [order.journal],
      ...(await putBackFound(tx)),
    },
  });
}

/** The last number of what the shop was told, so that it can read on from there. */
export async function lastOutcome(db: Db): Promise<string> {
  const { rows } = await db.query<{ seq: string }>(
    `select coalesce(max(seq), 0)::text as seq from tieout.outcomes`,
  );
  return rows[0]?.seq ?? '0';
}
