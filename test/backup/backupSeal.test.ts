// A backup in hands that it is not for: without the key nothing of it can be read, with another one
// nothing passes as ours, and what a manifest says of itself is not taken for more than it may be.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBackup, rowsOf, writeBackup } from '../../src/backup/backupFiles.js';
import type { BackupKey } from '../../src/backup/backupKey.js';
import { makeBackupKey, readBackupKey } from '../../src/backup/backupKey.js';
import { dumpTables } from '../../src/backup/backupStore.js';
import { checkManifest } from '../../src/backup/manifest.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-seal-'));
const NEEDLE = 'needle-of-an-order';
const about = { version: '0', migrations: [] };
let database: FreshDatabase;
let key: BackupKey;

beforeAll(async () => {
  database = await freshDatabase();
  await database.db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
     values ('A1', $1, 'EUR', 10, 'captured', now())`,
    [NEEDLE],
  );
  key = makeBackupKey(join(folder, 'key'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

async function backup(sealedBy: BackupKey | null): Promise<string> {
  const place = join(folder, randomUUID());
  await writeBackup(place, sealedBy, (draft, seal) => {
    return dumpTables(database.connection, draft, { ...about, seal }, () => {});
  });
  return place;
}

async function ordersIn(place: string, openedBy: BackupKey | null): Promise<string> {
  const { manifest } = await readBackup(place, openedBy);
  const table = manifest.tables.find((one) => one.table === 'ledger.orders');
  if (table === undefined) throw new Error('no orders');
  let text = '';
  for await (const piece of rowsOf(place, table, { manifest, key: openedBy })) text += piece;
  return text;
}

describe('a backup that is stolen', () => {
  it('tells nothing without its key, and all with it', async () => {
    const place = await backup(key);
    await expect(ordersIn(place, null)).rejects.toThrow(/is encrypted by the key [0-9a-f]{16}/);
    const other = makeBackupKey(join(folder, randomUUID()));
    await expect(ordersIn(place, other)).rejects.toThrow(/not by this key/);
    expect(await ordersIn(place, key)).toContain(NEEDLE);
    const [sealed] = readdirSync(place).filter((name) => name.startsWith('ledger.orders'));
    const bytes = readFileSync(join(place, sealed ?? ''));
    // The mark of gzip: an unsealed file begins with it.
    expect(bytes.subarray(0, 2)).not.toEqual(Buffer.from([0x1f, 0x8b]));
  });

  it('makes nobody wait or read without end: a pipe or a link is no manifest', async () => {
    const place = await backup(key);
    for (const file of ['manifest.code', 'manifest.json']) {
      rmSync(join(place, file));
      execFileSync('mkfifo', [join(place, file)]);
      await expect(readBackup(place, key)).rejects.toThrow(/was altered|is no backup/);
      rmSync(join(place, file));
      symlinkSync('/dev/zero', join(place, file));
      await expect(readBackup(place, key)).rejects.toThrow(/was altered|is no backup/);
    }
  });

  it('is not what it was once anything of it is changed', async () => {
    const place = await backup(key);
    const manifest = join(place, 'manifest.json');
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace('"rows": 1,', '"rows": 2,'));
    await expect(readBackup(place, key)).rejects.toThrow(/was altered/);
    writeFileSync(manifest, text.replace(/,\s*"sealing": \{[^}]*\}/, ''));
    await expect(readBackup(place, key)).rejects.toThrow(/bears no code of a key/);
    writeFileSync(manifest, text);
    await expect(readBackup(place, key)).resolves.toBeDefined();
    rmSync(join(place, 'manifest.code'));
    await expect(readBackup(place, key)).rejects.toThrow(/was altered/);
  });

  it("in plain is nobody's word where a key is given", async () => {
    const place = await backup(null);
    expect(await ordersIn(place, null)).toContain(NEEDLE);
    await expect(readBackup(place, key)).rejects.toThrow(/bears no code of a key/);
  });
});

describe('a key', () => {
  it('is refused where others can read it, or where it is none', () => {
    const file = join(folder, randomUUID());
    const made = makeBackupKey(file);
    expect(readBackupKey(file).mark).toBe(made.mark);
    expect(() => makeBackupKey(file)).toThrow(/EEXIST/);
    chmodSync(file, 0o644);
    expect(() => readBackupKey(file)).toThrow(/can be read by others/);
    writeFileSync(file, 'password');
    chmodSync(file, 0o600);
    expect(() => readBackupKey(file)).toThrow(/is no key/);
  });
});

describe('a manifest that somebody made', () => {
  const table = {
    ...{ table: 'ledger.orders', columns: ['a'], rows: 0, file: 'ledger.orders.copy.gz' },
    ...{ bytes: 0, sha256: '0'.repeat(64) },
  };
  const whole = {
    ...{ format: 'tieout backup 1', takenAt: '2026-11-20T00:00:00.000Z', version: '0' },
    ...{ migrations: [], tables: [table], sequences: [], views: [] },
  };
  const withTable = (given: object) => ({ ...whole, tables: [{ ...table, ...given }] });

  it('is taken where it is as ours are', () => {
    expect(checkManifest(whole)).toMatchObject({ kind: 'manifest' });
  });

  it.each([
    [
      'a table of another schema',
      withTable({ table: 'public.users', file: 'public.users.copy.gz' }),
    ],
    ['a table of the server', withTable({ table: 'pg_catalog.pg_authid' })],
    ['a quoted name', withTable({ table: 'tieout."a b"' })],
    ['a statement for a name', withTable({ table: "tieout.a; select 1 --'" })],
    ['a file elsewhere', withTable({ file: '../../etc/passwd' })],
    ['the file of another table', withTable({ file: 'tieout.users.copy.gz' })],
    ['a digest that is none', withTable({ sha256: 'x' })],
    ['rows below nothing', withTable({ rows: -1 })],
    ['no columns', withTable({ columns: [] })],
    ['a table twice', { ...whole, tables: [table, table] }],
    ['a month that is none', { ...whole, months: ["2026-11-01'); drop table x; --"] }],
    ['a sequence elsewhere', { ...whole, sequences: [{ sequence: 'public.s', lastValue: '1' }] }],
    ['a number that is none', { ...whole, sequences: [{ sequence: 'tieout.s', lastValue: '1;' }] }],
    ['a key that nobody knows', { ...whole, more: true }],
    ['a list', []],
  ])('is refused with %s', (_name, given) => {
    expect(checkManifest(given)).toMatchObject({ kind: 'refused' });
  });

  it('names no column that the catalogue does not have', async () => {
    const { restoreTables } = await import('../../src/backup/restoreStore.js');
    const place = await backup(null);
    const { manifest, sha256 } = await readBackup(place, null);
    const tables = manifest.tables.map((one) =>
      one.table === 'ledger.orders' ? { ...one, columns: [...one.columns, 'tableoid'] } : one,
    );
    const empty = await freshDatabase();
    const who = { name: 'test', isClaim: true };
    const journal = { journalId: randomUUID(), host: 'h', place: '/nowhere' };
    const order = { folder: place, manifest: { ...manifest, tables }, sha256, who, journal };
    try {
      await expect(restoreTables(empty.db, { ...order, key: null }, () => {})).rejects.toThrow(
        /ledger\.orders: there is no column tableoid/,
      );
    } finally {
      await empty.drop();
    }
  });
});
