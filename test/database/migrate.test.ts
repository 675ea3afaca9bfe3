// Migrations against a real server: once, whole, in order, and never over an edited file.

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TieoutError, UnreachableError } from '../../src/core/errors.js';
import { migrateDown, migrateUp, migrationStatus } from '../../src/database/migrate.js';
import { packageRoot, statement } from '../../src/database/statements.js';
import { queueReports } from '../../src/report/reportsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

const FIRST = `-- Up Migration
create schema shop;
create table shop.a (n int);
create function shop.f() returns int language sql as $$ select 1; $$;
-- Down Migration
drop schema shop cascade;
`;
const NOW = new Date('2026-11-20T04:15:00Z');
const SECOND =
  '-- Up Migration\ncreate table shop.b (n int);\n-- Down Migration\ndrop table shop.b;';

let fresh: FreshDatabase;
let folder: string;
const silent = (): void => {};

beforeEach(async () => {
  fresh = await freshDatabase({ empty: true });
  folder = mkdtempSync(join(tmpdir(), 'tieout-migrations-'));
});

afterEach(async () => {
  await fresh.drop();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function tables(): Promise<string[]> {
  const { rows } = await fresh.db.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'shop' order by 1",
  );
  return rows.map((row) => row.name);
}

/** What an older process that goes on may name: docs/OPERATIONS.md, Two versions side by side. */
async function namesOfOurs(): Promise<string[]> {
  const { rows } = await fresh.db.query<{ name: string }>(
    `select format('function %s.%s(%s)', nspname, proname, oidvectortypes(proargtypes)) as name
     from pg_proc join pg_namespace n on n.oid = pronamespace
     where nspname in ('tieout', 'ledger')
     union all
     select format('column %s.%s.%s %s', nspname, relname, attname,
       format_type(atttypid, atttypmod))
     from pg_attribute join pg_class c on c.oid = attrelid
     join pg_namespace n on n.oid = relnamespace
     where nspname in ('tieout', 'ledger') and relkind in ('r', 'p', 'v') and attnum > 0 and not attisdropped
     order by 1`,
  );
  return rows.map((row) => row.name);
}

describe('migrations', () => {
  // Before the first release anything could change. What goes for good has a version of its own,
  // after the one that stopped naming it: then the migration before that one stands here.
  test('take away nothing that a process names which is older and goes on', async () => {
    const ours = join(packageRoot(), 'migrations');
    await migrateUp(fresh.connection, silent, ours, '1020_numbers_of_readers');
    const before = await namesOfOurs();
    expect(before).toContain('column tieout.movements.reference text');
    await migrateUp(fresh.connection);
    const after = new Set(await namesOfOurs());
    expect(before.filter((name) => !after.has(name))).toEqual([]);
  });

  test('go up once, come down, and go up again', async () => {
    write('0001_first.sql', FIRST);
    write('0002_second.sql', SECOND);
    write('README.md', 'no migration');
    write('schema.sql', 'the schema as it stands: no migration either');
    const lines: string[] = [];
    const up = await migrateUp(fresh.connection, (line) => lines.push(line), folder);
    expect(up).toEqual(['0001_first', '0002_second']);
    expect(lines).toEqual(['migrated up: 0001_first', 'migrated up: 0002_second']);
    expect(await migrateUp(fresh.connection, silent, folder)).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
    expect(await migrateDown(fresh.connection, 1, silent, folder)).toEqual(['0002_second']);
    expect(await tables()).toEqual(['a']);
    expect(await migrateDown(fresh.connection, 5, silent, folder)).toEqual(['0001_first']);
    expect(await tables()).toEqual([]);
    expect(await migrateUp(fresh.connection, silent, folder)).toHaveLength(2);
  });

  test('are applied once by starters at the same moment', async () => {
    write('0001_first.sql', FIRST);
    const starters = Array.from({ length: 5 }, () => migrateUp(fresh.connection, silent, folder));
    const applied = await Promise.all(starters);
    expect(applied.flat()).toEqual(['0001_first']);
  });

  test('are applied once also where a server ends transactions that idle', async () => {
    await fresh.db.query(
      `do $$ begin execute format('alter database %I set idle_in_transaction_session_timeout = 200',
         current_database()); end $$`,
    );
    write('0001_first.sql', FIRST.replace('-- Down', 'select pg_sleep(1);\n-- Down'));
    const starters = [1, 2].map(() => migrateUp(fresh.connection, silent, folder));
    expect((await Promise.all(starters)).flat()).toEqual(['0001_first']);
  });

  test('leave nothing of a run in which one of them fails', async () => {
    write('0001_first.sql', FIRST);
    write('0002_second.sql', '-- Up Migration\ncreate table shop.b (n int); select 1 / 0;');
    const run = migrateUp(fresh.connection, silent, folder);
    await expect(run).rejects.toThrow('division by zero');
    expect(await tables()).toEqual([]);
    expect((await migrationStatus(fresh.connection, folder)).applied).toEqual([]);
    write('0002_second.sql', SECOND);
    expect(await migrateUp(fresh.connection, silent, folder)).toHaveLength(2);
    expect((await migrationStatus(fresh.connection, folder)).changed).toEqual([]);
  });

  test('say what is applied, pending, changed and missing', async () => {
    write('0001_first.sql', FIRST);
    const before = await migrationStatus(fresh.connection, folder);
    expect(before).toEqual({ applied: [], pending: ['0001_first'], changed: [], missing: [] });
    await migrateUp(fresh.connection, silent, folder);
    write('0001_first.sql', FIRST.replaceAll('\n', '\r\n'));
    expect((await migrationStatus(fresh.connection, folder)).changed).toEqual([]);
    write('0001_first.sql', `${FIRST} -- edited`);
    write('0002_second.sql', SECOND);
    expect(await migrationStatus(fresh.connection, folder)).toEqual({
      applied: ['0001_first'],
      pending: ['0002_second'],
      changed: ['0001_first'],
      missing: [],
    });
    rmSync(join(folder, '0001_first.sql'));
    expect((await migrationStatus(fresh.connection, folder)).missing).toEqual(['0001_first']);
  });

  test('do not go on over an edited file, but do not block a start without news', async () => {
    write('0001_first.sql', FIRST);
    await migrateUp(fresh.connection, silent, folder);
    write('0001_first.sql', `${FIRST} -- edited`);
    const lines: string[] = [];
    expect(await migrateUp(fresh.connection, (line) => lines.push(line), folder)).toEqual([]);
    expect(lines).toEqual(['migrations were edited after they were applied: 0001_first']);
    write('0002_second.sql', SECOND);
    const run = migrateUp(fresh.connection, silent, folder);
    await expect(run).rejects.toThrow('edited after they were applied: 0001_first');
    await expect(run).rejects.toBeInstanceOf(TieoutError);
  });

  test('of a newer tieout are not touched by an older one', async () => {
    write('0001_first.sql', FIRST);
    write('0002_second.sql', SECOND);
    await migrateUp(fresh.connection, silent, folder);
    rmSync(join(folder, '0002_second.sql'));
    const run = migrateUp(fresh.connection, silent, folder);
    await expect(run).rejects.toThrow(/0002_second.*newer/);
  });

  test('that lack one below those they have are said to, in words', async () => {
    write('0002_second.sql', SECOND);
    write('0001_first.sql', FIRST);
    await migrateUp(fresh.connection, silent, folder);
    write('0000_between.sql', FIRST.replaceAll('first', 'between'));
    const run = migrateUp(fresh.connection, silent, folder);
    await expect(run).rejects.toBeInstanceOf(TieoutError);
    await expect(run).rejects.toThrow(/has 0002_second, and lacks 0000_between\. .*program/);
  });

  test('may be none at all', async () => {
    expect(await migrateUp(fresh.connection, silent, folder)).toEqual([]);
    const none = join(folder, 'none');
    expect(await migrateUp(fresh.connection, silent, none)).toEqual([]);
    mkdirSync(none);
    expect(await migrateDown(fresh.connection, 1, silent, none)).toEqual([]);
  });

  test('of a database that cannot be reached fail as unreachable', async () => {
    const nowhere = { host: '/nowhere', user: 'tieout', database: 'tieout' };
    await expect(migrateUp(nowhere, silent, folder)).rejects.toBeInstanceOf(UnreachableError);
  });

  test('of this tieout go all the way up, down and up again', async () => {
    const up = await migrateUp(fresh.connection);
    if (up.length === 0) return;
    expect(await migrateDown(fresh.connection, up.length)).toEqual(up.toReversed());
    expect(await migrateUp(fresh.connection)).toEqual(up);
  });

  test('of this tieout begin in no database that does not hold every text', async () => {
    const name = `latin_${randomUUID().replaceAll('-', '')}`;
    await fresh.db.query(
      `create database ${name} encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'`,
    );
    try {
      const connection = { ...fresh.connection, database: name } as typeof fresh.connection;
      await expect(migrateUp(connection)).rejects.toThrow(
        'the database is encoded in LATIN1, which does not hold every text: tieout needs UTF8',
      );
      expect((await migrationStatus(connection)).applied).toEqual([]);
    } finally {
      await fresh.db.query(`drop database ${name} with (force)`);
    }
  });

  test('of this tieout leave reports as they are that two nights wrote of one month', async () => {
    await migrateUp(fresh.connection, silent, undefined, '0031_months');
    const runIds = [await storeRun(fresh.db, 'A1'), await storeRun(fresh.db, 'A1')];
    const written = `insert into tieout.reports (run_id, kind, period, format, revision, state,
      created_at) select unnest($1::bigint[]), 'activity', '2026-11', 'xlsx', 1, 'queued', now()`;
    await fresh.db.query(written, [runIds]);
    await migrateUp(fresh.connection);
    const [next] = await queueReports(fresh.db, runIds[1] ?? 0n, ['activity'], NOW, '2026-11');
    const { rows } = await fresh.db.query('select revision from tieout.reports order by report_id');
    expect(rows).toEqual([{ revision: 1 }, { revision: 1 }, { revision: 2 }]);
    expect(next).toBeDefined();
  });
});

describe('statement files', () => {
  test.each(['noSuchStatement', '../../../package', ''])('%j is not one', (name) => {
    expect(() => statement(name)).toThrow('there is no statement file');
  });

  test('lie below the folder of package.json', () => {
    expect(packageRoot()).toBe(process.cwd());
  });
});
