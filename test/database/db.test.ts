// The promises of the database door, kept against a real server.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError, UnreachableError } from '../../src/core/errors.js';
import { describeConnection } from '../../src/database/connection.js';
import type { LongReads } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;

beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
  await fresh.db.query('create table notes (id bigint primary key, text text)');
});

afterAll(() => fresh.drop());

/** Ends every other client of the test database, as a dying server would. */
function killOthers(text = '%'): Promise<unknown> {
  return fresh.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like $1`,
    [text],
  );
}

async function idsOf(prefix: string): Promise<bigint[]> {
  const { rows } = await fresh.db.query<{ id: bigint }>(
    'select id from notes where text like $1 order by id',
    [`${prefix}%`],
  );
  return rows.map((row) => row.id);
}

describe('values', () => {
  test.each([
    ['9007199254740993::int8', 9007199254740993n],
    ['array[9007199254740993, null]::int8[]', [9007199254740993n, null]],
    ["'2026-03-29'::date", '2026-03-29'],
    ["array['2026-03-29'::date]", ['2026-03-29']],
    ['12345678901234567.10::numeric(20,2)', '12345678901234567.10'],
    ['array[0.10, 2.00]::numeric(20,2)[]', ['0.10', '2.00']],
    ["'2026-03-29T01:30:00Z'::timestamptz", new Date('2026-03-29T01:30:00Z')],
    [`'{"a": [1, "b"]}'::jsonb`, { a: [1, 'b'] }],
    ['7::int4', 7],
    ['null::int8', null],
  ])('%s arrives whole', async (expression, expected) => {
    const { rows } = await fresh.db.query(`select ${expression} as value`);
    expect(rows[0]?.value).toEqual(expected);
    const chunks = fresh.db.stream<{ value: unknown }>(`select ${expression} as value`);
    for await (const chunk of chunks) expect(chunk[0]?.value).toEqual(expected);
  });

  test('a bigint goes out without loss', async () => {
    const { rows } = await fresh.db.query('select $1::int8 as one, $2::int8[] as many', [
      9007199254740993n,
      [1n, 9007199254740993n],
    ]);
    expect(rows[0]).toEqual({ one: 9007199254740993n, many: [1n, 9007199254740993n] });
  });

  test('of several statements the last one answers', async () => {
    const { rows, rowCount } = await fresh.db.query('select 1 as a; select 2 as b');
    expect({ rows, rowCount }).toEqual({ rows: [{ b: 2 }], rowCount: 1 });
  });

  test('the server knows our clients by name', async () => {
    const { rows } = await fresh.db.query('show application_name');
    expect(rows[0]).toEqual({ application_name: 'tieout' });
  });
});

describe('a transaction', () => {
  test('keeps everything when the work succeeds', async () => {
    await fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (1, 'kept a')");
      await tx.query("insert into notes values (2, 'kept b')");
    });
    expect(await idsOf('kept')).toEqual([1n, 2n]);
  });

  test('keeps nothing when the work throws, and throws the same error on', async () => {
    const reason = new Error('no');
    const work = fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (10, 'thrown')");
      throw reason;
    });
    await expect(work).rejects.toBe(reason);
    expect(await idsOf('thrown')).toEqual([]);
  });

  test('is an error when a failed statement was swallowed, since nothing was kept', async () => {
    const work = fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (11, 'swallowed')");
      await tx.query('select 1 / 0').catch(() => {});
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await idsOf('swallowed')).toEqual([]);
  });

  test('takes no statement after its end', async () => {
    const leaked = await fresh.db.transaction(async (tx) => tx);
    await expect(leaked.query('select 1')).rejects.toThrow('has ended');
  });

  test('ends as unreachable when the server drops it, and the pool goes on', async () => {
    const work = fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (12, 'dropped')");
      await killOthers('insert into notes values (12%');
      await tx.query('select 1');
    });
    await expect(work).rejects.toBeInstanceOf(UnreachableError);
    expect(await idsOf('dropped')).toEqual([]);
  });

  test('says that the outcome is open when the answer to COMMIT is lost', async () => {
    const work = fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (13, 'lost')");
      await killOthers('insert into notes values (13%');
    });
    await expect(work).rejects.toThrow(/COMMIT was lost/);
  });
});

describe('a bulk load', () => {
  const COPY = 'copy notes (id, text) from stdin';

  test('counts its rows and commits them', async () => {
    const copy = await fresh.db.copyIn(COPY);
    const writes = Array.from({ length: 200 }, (_, page) =>
      copy.write(
        Array.from({ length: 100 }, (__, row) => `${1000 + page * 100 + row}\tload\n`).join(''),
      ),
    );
    await Promise.all(writes);
    expect(await copy.end()).toBe(20_000);
    expect(await idsOf('load')).toHaveLength(20_000);
  });

  test('makes the writer wait while the server takes nothing', async () => {
    let written: Promise<void> = Promise.resolve();
    let taken = false;
    const copy = await fresh.db.transaction(async (tx) => {
      await tx.query('lock table notes in access exclusive mode');
      const blocked = await fresh.db.copyIn(COPY);
      written = blocked.write(`900001\twaiting ${'x'.repeat(4 << 20)}\n`).then(() => {
        taken = true;
      });
      await seenByServer('Lock');
      expect(taken).toBe(false);
      return blocked;
    });
    await written;
    expect(await copy.end()).toBe(1);
  });

  test('leaves no row behind when it is aborted', async () => {
    const copy = await fresh.db.copyIn(COPY);
    await copy.write('800001\taborted\n');
    await copy.abort('the page was cut off');
    await expect(copy.write('800002\taborted\n')).rejects.toThrow('already ended');
    await copy.abort('again');
    expect(await idsOf('aborted')).toEqual([]);
  });

  test.each([
    ['a row that does not fit', COPY, 'no number\tbad\n', /invalid input syntax/],
    ['a table that is not there', 'copy nowhere from stdin', '1\n', /does not exist/],
  ])('fails as a whole on %s', async (_, sql, row, expected) => {
    const copy = await fresh.db.copyIn(sql);
    const load = async (): Promise<number> => {
      await copy.write('810001\tbad\n'.repeat(sql === COPY ? 1 : 0));
      await copy.write(row);
      return copy.end();
    };
    await expect(load()).rejects.toThrow(expected);
    expect(await idsOf('bad')).toEqual([]);
  });

  test('within a transaction comes and goes with it', async () => {
    const load = (first: number, fails: boolean): Promise<number> =>
      fresh.db.transaction(async (tx) => {
        const rows = await tx.copy(COPY, [`${first}\tinside\n`, `${first + 1}\tinside\n`]);
        await tx.query("update notes set text = 'inside and seen' where id = $1", [first]);
        if (fails) throw new Error('after the load');
        return rows;
      });
    expect(await load(830_001, false)).toBe(2);
    await expect(load(830_003, true)).rejects.toThrow('after the load');
    expect(await idsOf('inside')).toEqual([830_001n, 830_002n]);
  });

  test.each([
    ['the source of its rows fails', false, /no more pages/],
    ['a row does not fit', true, /invalid input syntax/],
  ])('within a transaction undoes all of it when %s', async (_, bad, expected) => {
    async function* texts(): AsyncGenerator<string> {
      yield '840001\thalf\n'.repeat(1);
      if (bad) yield 'no number\thalf\n';
      else throw new Error('no more pages');
    }
    const work = fresh.db.transaction(async (tx) => {
      await tx.query("insert into notes values (840000, 'half')");
      await tx.copy(COPY, texts());
    });
    await expect(work).rejects.toThrow(expected);
    expect(await idsOf('half')).toEqual([]);
  });

  test('fails as a whole, and hurts nobody else, when much is still waiting to be sent', async () => {
    const rows = Array.from({ length: 40 }, (_, n) => `${845_000 + n}\t${'x'.repeat(60_000)}\n`);
    const work = fresh.db.transaction((tx) => tx.copy(COPY, ['no number\tbad\n', ...rows]));
    await expect(work).rejects.toThrow(/invalid input syntax/);
    expect(await fresh.db.transaction((tx) => tx.copy(COPY, ['846000\tafter\n']))).toBe(1);
  });

  test('takes many small rows at once', async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => `${n + 2_000_000}\tsmall\n`);
    const work = fresh.db.transaction((tx) => tx.copy(COPY, rows));
    expect(await work).toBe(30_000);
  });

  test('may be aborted after it has failed by itself', async () => {
    const copy = await fresh.db.copyIn('copy nowhere from stdin');
    await expect(copy.end()).rejects.toThrow(/does not exist/);
    await copy.abort('too late');
    const second = await fresh.db.copyIn('copy nowhere from stdin');
    await fresh.db.query('select 1');
    await second.abort('unseen failure');
  });

  test('ends as unreachable when the server drops it', async () => {
    const copy = await fresh.db.copyIn(COPY);
    await copy.write('820001\tgone\n');
    await seenByServer('ClientRead');
    await killOthers('copy notes%');
    await expect(copy.end()).rejects.toBeInstanceOf(UnreachableError);
    expect(await idsOf('gone')).toEqual([]);
  });

  /** Waits until the server has begun the COPY and itself waits: for a lock, or for more rows. */
  async function seenByServer(waitsFor: 'Lock' | 'ClientRead'): Promise<void> {
    const begun = (): Promise<{ rowCount: number }> =>
      fresh.db.query(
        `select 1 from pg_stat_activity
          where query like 'copy notes%' and state = 'active'
            and $1 in (wait_event, wait_event_type)`,
        [waitsFor],
      );
    await expect.poll(begun, { timeout: 30_000 }).toMatchObject({ rowCount: 1 });
  }
});

describe('a long read', () => {
  test('comes in chunks of the asked size', async () => {
    const sizes: number[] = [];
    const rows = fresh.db.stream<{ n: number }>(
      'select generate_series(1, $1::int) as n',
      [25],
      10,
    );
    for await (const chunk of rows) sizes.push(chunk.length);
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('of no rows gives no chunk', async () => {
    for await (const chunk of fresh.db.stream('select 1 where false')) expect(chunk).toBe('never');
  });

  test('may be left early and leaves no client behind', async () => {
    for await (const chunk of fresh.db.stream('select generate_series(1, 100000)', [], 10)) {
      expect(chunk).toHaveLength(10);
      break;
    }
    const open = async (): Promise<bigint | undefined> =>
      (
        await fresh.db.query<{ n: bigint }>(
          "select count(*) as n from pg_stat_activity where query like '%generate_series(1, 100000)%' and pid <> pg_backend_pid()",
        )
      ).rows[0]?.n;
    await expect.poll(open).toBe(0n);
  });

  test('cannot write', async () => {
    const read = async (): Promise<void> => {
      for await (const _ of fresh.db.stream("insert into notes values (5, 'x') returning id"));
    };
    await expect(read()).rejects.toThrow(/takes no writes/);
  });

  test('ends as unreachable when the server drops it', async () => {
    const read = async (): Promise<void> => {
      for await (const _ of fresh.db.stream('select generate_series(1, 500000)', [], 100)) {
        await killOthers('%generate_series(1, 500000)%');
      }
    };
    await expect(read()).rejects.toBeInstanceOf(UnreachableError);
  });
});

describe('long reads of one snapshot', () => {
  const NOTES = 'select text from notes where id < 0 order by id desc';

  test('see the same, whatever is written between them', async () => {
    const read = async (reads: LongReads): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const rows of reads.stream(NOTES, [], 1)) found.push(...rows);
      return found;
    };
    await fresh.db.query("insert into notes values (-1, 'one'), (-2, 'two')");
    const seen = await fresh.db.snapshot(async (reads) => {
      const first = await read(reads);
      await fresh.db.query("insert into notes values (-3, 'three')");
      return [first, await read(reads)];
    });
    expect(seen[0]).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(seen[1]).toEqual(seen[0]);
    expect(await read(fresh.db)).toHaveLength(3);
    await fresh.db.query('delete from notes where id < 0');
  });

  test('end where one is left early: the next one fails and does not wait', async () => {
    const reading = fresh.db.snapshot(async (reads) => {
      for await (const _ of reads.stream('select generate_series(1, 100000)', [], 10)) break;
      for await (const _ of reads.stream('select 1'));
    });
    await expect(reading).rejects.toBeInstanceOf(UnreachableError);
  });
});

describe('a server that cannot be used', () => {
  test('costs the pool its idle clients and nothing else', async () => {
    await Promise.all([fresh.db.query('select 1'), fresh.db.query('select 1')]);
    await killOthers();
    await expect.poll(() => fresh.db.pool.totalCount).toBe(1);
    await expect(fresh.db.query('select 1 as one')).resolves.toMatchObject({ rowCount: 1 });
  });

  test('is named without the password', async () => {
    const db = openDatabase({ connectionString: 'postgres://me:s3cret@127.0.0.1:1/books' });
    const failure = await db.query('select 1').catch((error: unknown) => error);
    await db.close();
    expect(failure).toBeInstanceOf(UnreachableError);
    expect(String(failure)).toContain('books at 127.0.0.1:1 cannot be used: nothing listens');
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('s3cret');
  });

  test('is unreachable for a transaction, a load and a read alike', async () => {
    const db = openDatabase({ host: '/nowhere', user: 'tieout', database: 'tieout' });
    const read = async (): Promise<void> => {
      for await (const _ of db.stream('select 1'));
    };
    const tries = [db.transaction(async () => 1), db.copyIn('copy x from stdin'), read()];
    for (const result of await Promise.allSettled(tries)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(UnreachableError) });
    }
    await db.close();
  });

  test('is unreachable when the database is not there', async () => {
    const missing = 'host' in fresh.connection ? { ...fresh.connection, database: 'none' } : null;
    if (missing === null) return;
    const db = openDatabase(missing);
    await expect(db.query('select 1')).rejects.toThrow(/there is no such database/);
    await db.close();
  });

  test.each(['mysql://a:s3cret@b/c', 'postgres://a:s3cret@b:port/c', 'localhost', ''])(
    'an address like %j is a mistake in the configuration, shown without its text',
    (connectionString) => {
      const open = (): unknown => openDatabase({ connectionString });
      expect(open).toThrow(ConfigurationError);
      expect(open).not.toThrow(/s3cret/);
    },
  );

  test('leaves errors of statements as they are', async () => {
    await expect(fresh.db.query('select nonsense')).rejects.toBeInstanceOf(pg.DatabaseError);
  });
});

test('a description names host and database only', () => {
  expect(describeConnection({ connectionString: 'postgres://u:p@h:5433/d?sslmode=require' })).toBe(
    'd at h:5433',
  );
  expect(describeConnection({ host: '/run/x', user: 'u', database: 'd' })).toBe('d at /run/x');
});
