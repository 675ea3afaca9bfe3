// What a backup takes out of the database: every row of tieout and of the ledger as they stand at
// one moment, table by table as COPY writes them. Left out: the queue, which holds only hints, and
// browsers that are signed in and links to sign in, which nobody should find in a copy. Neighbours:
// backupFiles.ts keeps it, restoreStore.ts puts it back.

import { join } from 'node:path';
import type pg from 'pg';
import { to } from 'pg-copy-streams';
import type { Connection } from '../database/connection.js';
import { asOperatingFailure, openClient } from '../database/connection.js';
import { asWritten, list, named } from '../database/identifiers.js';
import { READING } from '../database/limits.js';
import type { Seal } from './backupFiles.js';
import { writeRows } from './backupFiles.js';
import type { BackupManifest, BackupTable } from './manifest.js';
import { FORMAT } from './manifest.js';

const BACKED_UP = ['tieout', 'ledger'];
/** Their tables come back with whoever signs in again. */
export const LEFT_OUT = ['tieout.sessions', 'tieout.sign_in_links'];

/** Writes all tables into the folder; they show one moment, while the program goes on. */
export async function dumpTables(
  connection: Connection,
  folder: string,
  { seal, ...about }: { version: string; migrations: string[]; seal: Seal | null },
  progress: (done: number, total: number) => void,
): Promise<BackupManifest> {
  const client = await openClient(connection, 'tieout backup');
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query(READING);
    const { rows: moment } = await client.query<{ at: Date }>('select clock_timestamp() as at');
    const wanted = await tablesOf(client);
    const tables: BackupTable[] = [];
    for (const table of wanted) {
      tables.push(await dumpTable(client, { folder, seal }, table));
      progress(tables.length, wanted.length);
    }
    return {
      format: FORMAT,
      takenAt: (moment[0]?.at ?? new Date(0)).toISOString(),
      ...about,
      months: await monthsOf(client),
      tables,
      sequences: await sequencesOf(client),
      views: await viewsOf(client),
      ...(seal === null ? {} : { sealing: seal.sealing }),
    };
  } catch (error) {
    throw asOperatingFailure(error, connection);
  } finally {
    await client.end().catch(() => {});
  }
}

interface TableShape {
  table: string;
  columns: string[];
}

async function tablesOf(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `select n.nspname || '.' || c.relname as table,
       array_agg(quote_ident(a.attname) order by a.attnum)::text[] as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
       and not a.attisdropped and a.attgenerated = ''
     where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition
       and c.relpersistence = 'p'
       and n.nspname || '.' || c.relname <> all ($2)
     group by 1 order by 1`,
    [BACKED_UP, LEFT_OUT],
  );
  return rows;
}

async function dumpTable(
  client: pg.ClientBase,
  { folder, seal }: { folder: string; seal: Seal | null },
  { table, columns }: TableShape,
): Promise<BackupTable> {
  const file = `${table}.copy.gz${seal === null ? '' : '.sealed'}`;
  const cipher = seal?.key.encrypt(seal.sealing, file) ?? null;
  // Selected, since COPY itself reads no table that has partitions.
  const all = list(columns.map(asWritten));
  const copy = named`copy (select ${all} from ${asWritten(table)}) to stdout`;
  const written = await writeRows(join(folder, file), client.query(to(copy)), cipher);
  return { table, columns, file, ...written };
}

/** Months that have partitions. */
async function monthsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ month: string }>(
    `select replace(substring(relname from '\\d{4}_\\d\\d$'), '_', '-') || '-01' as month
     from pg_inherits join pg_class on oid = inhrelid
     where inhparent = 'tieout.verdicts'::regclass and relname ~ '_\\d{4}_\\d\\d$' order by 1`,
  );
  return rows.map((row) => row.month);
}

async function sequencesOf(client: pg.ClientBase): Promise<BackupManifest['sequences']> {
  const { rows } = await client.query<{ sequence: string; last_value: string }>(
    `select schemaname || '.' || sequencename as sequence, last_value::text
     from pg_sequences where schemaname = any ($1) and last_value is not null order by 1`,
    [BACKED_UP],
  );
  return rows.map((row) => ({ sequence: row.sequence, lastValue: row.last_value }));
}

async function viewsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ view: string }>(
    `select schemaname || '.' || viewname as view from pg_views
     where schemaname = 'ledger' order by 1`,
  );
  return rows.map((row) => row.view);
}
