// Which client a long read has: one of the pool or its own, and in which state it goes back.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;

beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
});
afterAll(() => fresh.drop());

describe('the client of a long read', () => {
  const PID = 'select pg_backend_pid() as pid';

  async function reading<T>(db: Database, work: (pid: number) => Promise<T>): Promise<T[]> {
    const done: T[] = [];
    for await (const rows of db.stream<{ pid: number }>(PID)) {
      for (const { pid } of rows) done.push(await work(pid));
    }
    return done;
  }

  test('is one of the pool that is idle, and goes back to it without a transaction', async () => {
    const db = openDatabase(fresh.connection);
    const { rows } = await db.query<{ pid: number }>(PID);
    expect(await reading(db, async (pid) => pid)).toEqual([rows[0]?.pid]);
    expect(await db.snapshot(async () => 'read')).toBe('read');
    const later = await db.query<{ pid: number; reads: string }>(
      "select pg_backend_pid() as pid, current_setting('transaction_read_only') as reads",
    );
    expect(later.rows).toEqual([{ pid: rows[0]?.pid, reads: 'off' }]);
    expect(db.pool.totalCount).toBe(1);
    await db.close();
  });

  test('is its own where the pool is small, or two of ten are lent', async () => {
    const small = openDatabase(fresh.connection, { max: 1 });
    await small.query('select 1');
    const asked = await reading(small, () => small.query('select 1'));
    expect(asked).toHaveLength(1);
    await small.close();
    const db = openDatabase(fresh.connection);
    await Promise.all(Array.from({ length: 4 }, () => db.query('select pg_sleep(0.05)')));
    const idle = await reading(db, () =>
      reading(db, () => reading(db, async () => db.pool.idleCount)),
    );
    expect(idle.flat(2)).toEqual([2]);
    await db.close();
  });

  test('is ended with its database while it is read', async () => {
    const db = openDatabase(fresh.connection);
    await db.query('select 1');
    const rows = db.stream('select generate_series(1, 100000)', [], 10);
    const reader = rows[Symbol.asyncIterator]();
    await reader.next();
    await db.close();
    expect(db.pool.totalCount).toBe(0);
    await expect(reader.next()).rejects.toBeInstanceOf(UnreachableError);
  });
});
