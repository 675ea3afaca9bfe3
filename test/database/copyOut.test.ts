// Rows by COPY as a report reads them: every text comes back as it was, and a reader that stops or a
// server that goes leaves nothing behind.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import type { CopiedRow } from '../../src/database/copy/copyOut.js';
import { literal, named } from '../../src/database/identifiers.js';
import { readAgain } from '../../src/database/readAgain.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;

beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
});

afterAll(() => fresh.drop());

const copyOf = (select: string): string => `copy (${select}) to stdout`;

async function allRows(select: string): Promise<CopiedRow[]> {
  const all: CopiedRow[] = [];
  for await (const rows of fresh.db.copyOut(copyOf(select))) all.push(...rows);
  return all;
}

describe('rows by COPY', () => {
  test.each([
    'plain',
    '',
    'tab\tnewline\nreturn\rback\bform\fvertical\v',
    'a\\b \\N \\t \\\\',
    'Łódź · Größe · œuvre · שלום · 中文 · 😀',
    '\\.',
  ])('bring %j back as it was', async (text) => {
    const quoted = `'${text}'`;
    expect(await allRows(`select ${quoted}::text, null, ${quoted} || 'x'`)).toEqual([
      [text, null, `${text}x`],
    ]);
  });

  test('are all there, in order, however the pieces fall', async () => {
    const rows = await allRows(
      `select n, repeat('ä', n::int % 50) from generate_series(1, 20000) as n order by n`,
    );
    expect(rows).toHaveLength(20_000);
    const wrong = rows.filter(([n, text], at) => {
      return n !== String(at + 1) || text !== 'ä'.repeat((at + 1) % 50);
    });
    expect(wrong).toEqual([]);
  });

  test('come a few at a time, one where its line is long', async () => {
    const text = (n: number): string => (n % 100 === 0 ? 'ü'.repeat(30_000) : 'x'.repeat(n % 200));
    const chunks: CopiedRow[][] = [];
    const select = `select n, case when n % 100 = 0 then repeat('ü', 30000)
      else repeat('x', n % 200) end from generate_series(1, 3000) as n order by n`;
    for await (const rows of fresh.db.copyOut(copyOf(select))) chunks.push(rows);
    const all = chunks.flat();
    expect(all).toHaveLength(3_000);
    expect(all.filter(([n, x], at) => n !== String(at + 1) || x !== text(at + 1))).toEqual([]);
    const several = chunks.filter((rows) => rows.length > 1);
    const most = Math.max(...several.map((rows) => Buffer.byteLength(rows.flat().join(' '))));
    expect(most).toBeLessThanOrEqual(16 * 1024);
  });

  test.each(["it's", 'back\\slash', '$1 $2', "'; drop table x; --", 'é😀'])(
    'take the text %j as a value and nothing else',
    async (text) => {
      const select = named`select ${literal(text)}::text, ${7n}::bigint`;
      expect(await allRows(select)).toEqual([[text, '7']]);
    },
  );

  test('of none are no chunk', async () => {
    expect(await allRows('select 1 where false')).toEqual([]);
  });

  test('cannot write', async () => {
    await fresh.db.query('create table notes (id int)');
    await expect(allRows('insert into notes values (1) returning id')).rejects.toThrow(
      /takes no writes/,
    );
  });

  test('may be left early and leave no client behind', async () => {
    for await (const _ of fresh.db.copyOut(copyOf('select generate_series(1, 3000001)'))) break;
    await expect.poll(() => readersOf('3000001')).toBe(0n);
  });

  test('end as unreachable when the server drops them', async () => {
    const read = async (): Promise<void> => {
      for await (const _ of fresh.db.copyOut(copyOf('select generate_series(1, 3000002)'))) {
        await fresh.db.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where query like '%3000002%' and pid <> pg_backend_pid()",
        );
      }
    };
    await expect(read()).rejects.toBeInstanceOf(UnreachableError);
  });

  test('read again are kept from the first time where they are few', async () => {
    const times = async (rows: number, keptMax?: number): Promise<number[]> => {
      let reads = 0;
      const again = readAgain(() => {
        reads += 1;
        return fresh.db.copyOut(copyOf(`select generate_series(1, ${rows})`));
      }, keptMax);
      const counts: number[] = [];
      for (let time = 0; time < 3; time += 1) {
        let count = 0;
        for await (const some of again()) count += some.length;
        counts.push(count);
      }
      return [...counts, reads];
    };
    expect(await times(2_500)).toEqual([2_500, 2_500, 2_500, 1]);
    expect(await times(2_501)).toEqual([2_501, 2_501, 2_501, 3]);
    expect(await times(2_501, 5_000)).toEqual([2_501, 2_501, 2_501, 1]);
  });

  async function readersOf(mark: string): Promise<bigint | undefined> {
    const { rows } = await fresh.db.query<{ n: bigint }>(
      'select count(*) as n from pg_stat_activity where query like $1 and pid <> pg_backend_pid()',
      [`%${mark}%`],
    );
    return rows[0]?.n;
  }
});
