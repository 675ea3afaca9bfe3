// Works shared out among sessions: all see the same, and what they write stays together or not at
// all. Where that cannot be they are done one after the other, and nobody waits for ever.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/database/connection.js';
import type { Database, Db } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { ofOneSnapshot } from '../../src/database/oneSnapshot.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { latch } from '../support/latch.js';
import { pgbouncerMissing, startPgbouncer } from '../support/pgbouncer.js';

/** Long enough for the other one to begin. */
const LATE_MS = 20;

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
  await fresh.db.query('create table notes (note text)');
});
afterAll(() => fresh.drop());
beforeEach(() => fresh.db.query('truncate notes'));

describe('two works at once', () => {
  test('see the same, whatever is written meanwhile, and keep what each of them wrote', () =>
    expectToSeeTheSame(fresh.db));

  test.skipIf(pgbouncerMissing !== null)('do so through a pooler, too', async () => {
    const pooler = await startPgbouncer(fresh.connection);
    const pooled = openDatabase(pooler.connection);
    await expectToSeeTheSame(pooled).finally(async () => {
      await pooled.close();
      await pooler.end();
    });
  });

  test.each([0, 1])('keep nothing when number %i of them fails', async (at) => {
    const failure = new Error('of this work');
    const works = ['one', 'two'].map((note, index) => async (tx: Db) => {
      await seenAndNoted(tx, note);
      if (index === at) throw failure;
    });
    await expect(ofOneSnapshot(fresh.db, works)).rejects.toBe(failure);
    expect(await notes(fresh.db)).toEqual([]);
    expect(fresh.db.pool.idleCount).toBe(fresh.db.pool.totalCount);
  });

  test('wait for one another longer than the server lets idle transactions live', async () => {
    const begun = latch();
    const works = [
      async (tx: Db) => {
        await begun.promise;
        return seenAndNoted(tx, 'one');
      },
      async (tx: Db) => {
        begun.open();
        await tx.query('select pg_sleep(0.2)');
        return seenAndNoted(tx, 'two');
      },
    ];
    const hasty = openDatabase(fresh.connection);
    hasty.pool.on('connect', (client) => {
      client.query('set idle_in_transaction_session_timeout = 50').catch(() => {});
    });
    const [one, two] = await ofOneSnapshot(hasty, works).finally(() => hasty.close());
    expect(one?.pid).not.toBe(two?.pid);
    expect(await notes(fresh.db)).toEqual(['one', 'two']);
  });

  test('keep nothing when a session is lost', async () => {
    const works = [
      (tx: Db) => seenAndNoted(tx, 'one'),
      async (tx: Db) => {
        await seenAndNoted(tx, 'two');
        return tx.query('select pg_terminate_backend(pg_backend_pid())');
      },
    ];
    await expect(ofOneSnapshot<unknown>(fresh.db, works)).rejects.toThrow(/cannot be used/);
    expect(await notes(fresh.db)).toEqual([]);
  });
});

describe('one after the other, in one transaction', () => {
  const works = ['one', 'two'].map((note) => (tx: Db) => seenAndNoted(tx, note));

  // As behind a pooler that lends one session at a time.
  test.each([0, 1])('where number %i gets no session before the other has ended', async (late) => {
    let begun = -1;
    let last: Promise<unknown> = Promise.resolve();
    const transaction: Database['transaction'] = async (work) => {
      begun += 1;
      if (begun === late) await new Promise((resolve) => setTimeout(resolve, LATE_MS));
      const before = last;
      const own = before.catch(() => {}).then(() => fresh.db.transaction(work));
      last = own;
      return own;
    };
    const db: Database = { ...fresh.db, transaction };
    const [one, two] = await ofOneSnapshot(db, works);
    expect([one?.seen, two?.seen]).toEqual([[], ['one']]);
    expect(two?.pid).toBe(one?.pid);
    expect(await notes(fresh.db)).toEqual(['one', 'two']);
  });

  test('where the server takes one session alone; where it takes none, it is said', async () => {
    const full = new Error('no session left');
    let left = 1;
    const transaction: Database['transaction'] = (work) => {
      left -= 1;
      return left < 0 ? Promise.reject(full) : fresh.db.transaction(work);
    };
    const db: Database = { ...fresh.db, transaction };
    const [one, two] = await ofOneSnapshot(db, works);
    expect(two?.pid).toBe(one?.pid);
    await expect(ofOneSnapshot(db, works)).rejects.toBe(full);
    expect(await notes(fresh.db)).toEqual(['one', 'two']);
  });

  test('where the server refuses to share a snapshot, which is said', async () => {
    const user = `tieout_test_${randomUUID().replaceAll('-', '')}`;
    await fresh.db.query(`create role ${user} login; grant select, insert on notes to ${user};
      revoke execute on function pg_export_snapshot() from public`);
    const forbidden = openDatabase({ ...fresh.connection, user } as Connection);
    const told: string[] = [];
    const done = ofOneSnapshot(forbidden, works, (why) => told.push(why));
    const [one, two] = await done.finally(async () => {
      await forbidden.close();
      await fresh.db.query(`drop owned by ${user}; drop role ${user};
        grant execute on function pg_export_snapshot() to public`);
    });
    expect([one?.seen, two?.seen]).toEqual([[], ['one']]);
    expect(two?.pid).toBe(one?.pid);
    expect(told).toEqual(['permission denied for function pg_export_snapshot']);
    expect(await notes(fresh.db)).toEqual(['one', 'two']);
  });

  test('where the pool lends one client', async () => {
    const narrow = openDatabase(fresh.connection, { max: 1 });
    const [one, two] = await ofOneSnapshot(narrow, works);
    await narrow.close();
    expect([one?.seen, two?.seen]).toEqual([[], ['one']]);
    expect(two?.pid).toBe(one?.pid);
  });

  test('where there is a transaction already', async () => {
    const undo = new Error('undone');
    const inside = fresh.db.transaction(async (tx) => {
      const [one, two] = await ofOneSnapshot(tx, works);
      expect(two?.pid).toBe(one?.pid);
      throw undo;
    });
    await expect(inside).rejects.toBe(undo);
    expect(await notes(fresh.db)).toEqual([]);
  });
});

async function expectToSeeTheSame(db: Database): Promise<void> {
  const [begun, written] = [latch(), latch()];
  const works = [
    async (tx: Db) => {
      await begun.promise;
      await fresh.db.query(`insert into notes values ('of somebody else')`);
      written.open();
      return seenAndNoted(tx, 'one');
    },
    async (tx: Db) => {
      begun.open();
      await written.promise;
      return seenAndNoted(tx, 'two');
    },
  ];
  const [one, two] = await ofOneSnapshot(db, works);
  expect([one?.seen, two?.seen]).toEqual([[], []]);
  expect(one?.pid).not.toBe(two?.pid);
  expect(await notes(fresh.db)).toEqual(['of somebody else', 'one', 'two']);
}

async function seenAndNoted(tx: Db, note: string): Promise<{ seen: string[]; pid: unknown }> {
  const seen = await notes(tx);
  await tx.query('insert into notes values ($1)', [note]);
  const { rows } = await tx.query('select pg_backend_pid() as pid');
  return { seen, pid: rows[0]?.pid };
}

async function notes(db: Db | Database): Promise<string[]> {
  const { rows } = await db.query<{ note: string }>('select note from notes order by note');
  return rows.map(({ note }) => note);
}
