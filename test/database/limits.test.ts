// A session that goes past its limits is ended by the server: its locks are free, its work is rolled
// back, and whoever had it hears why. Small limits here; those of the program are src/database/limits.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { DRY_LIMITS, SHORT_LIMITS, WORK_LIMITS } from '../../src/database/limits.js';
import { freshDatabase } from '../support/database.js';
import { latch } from '../support/latch.js';

const WORDS = /the server ended a transaction in which this process had said nothing for too long/;

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
  await db.query('create table public.things (id int primary key, what text)');
});

afterAll(() => fresh.drop());

/** A test that is tried once more has a key of its own. */
let nextId = 1_000;

describe('a transaction in which nothing is said for too long', () => {
  it.each([4, 12, 30, 200])('of %i ms is ended, and its process told why', async (idleMs) => {
    nextId += 1;
    const id = nextId;
    const key = latch();
    const silent = db.transaction(
      async (tx) => {
        await tx.query('insert into public.things values ($1, $2)', [id, 'silent']);
        key.open();
        await sleep(idleMs + 150);
        await tx.query('select 1');
      },
      { ...WORK_LIMITS, idleMs },
    );
    // On a busy machine it may be ended before it has the key; the other one waits for nothing then.
    silent.catch(() => key.open());
    // Waits for the key that the silent one holds, and gets it.
    const other = key.promise.then(() =>
      db.query('insert into public.things values ($1, $2)', [id, 'other']),
    );
    await expect(silent).rejects.toThrow(WORDS);
    await other;
    const { rows } = await db.query('select what from public.things where id = $1', [id]);
    expect(rows).toEqual([{ what: 'other' }]);
  });

  it('and then only commits, is told the same', async () => {
    const silent = db.transaction(
      async (tx) => {
        await tx.query(`insert into public.things values (1, 'silent')`);
        await sleep(200);
      },
      { ...WORK_LIMITS, idleMs: 20 },
    );
    await expect(silent).rejects.toThrow(WORDS);
    expect((await db.query('select 1 from public.things where id = 1')).rowCount).toBe(0);
  });
});

describe('every transaction', () => {
  const limits = async (tx: Pick<Database, 'query'>): Promise<unknown> => {
    const { rows } = await tx.query(
      `select current_setting('idle_in_transaction_session_timeout') as idle,
         current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`,
    );
    return rows[0];
  };

  it('has limits, by the kind of its work', async () => {
    expect(await db.transaction(limits)).toEqual({ idle: '1min', lock: '15min', statement: '2h' });
    expect(await db.transaction(limits, DRY_LIMITS)).toMatchObject({ idle: '10s' });
    expect(await db.durably(limits)).toEqual({ idle: '10s', lock: '1min', statement: '5min' });
    const reading = db.stream<Record<string, string>>(
      `select current_setting('idle_in_transaction_session_timeout') as idle,
         current_setting('statement_timeout') as statement`,
    );
    for await (const rows of reading) expect(rows).toEqual([{ idle: '1h', statement: '2h' }]);
    // They go with it.
    expect(await limits(db)).toEqual({ idle: '0', lock: '0', statement: '0' });
  });

  it('waits for a lock no longer than that', async () => {
    await db.query(`insert into public.things values (2, 'two')`);
    await db.transaction(async (tx) => {
      await tx.query('update public.things set what = $1 where id = 2', ['held']);
      const second = db.transaction(
        (other) => other.query('update public.things set what = $1 where id = 2', ['late']),
        { ...SHORT_LIMITS, lockMs: 50 },
      );
      await expect(second).rejects.toThrow(/lock timeout/);
    });
  });
});
