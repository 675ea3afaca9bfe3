// migrations/schema.sql says what the schema is without reading fifty migrations one upon the
// other. It is written by a program and held here, so that it is never out of date.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { shippedText } from '../../src/verify/definitions/definitions.js';
import {
  readDefinitions,
  trustNobodysNames,
} from '../../src/verify/definitions/definitionsStore.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { schemaText } from '../support/schemaText.js';
import { textOf } from '../support/sourceFiles.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test('migrations/schema.sql is what the migrations make; `npm run schema` writes it anew', async () => {
  const schema = await schemaText(fresh.db);
  await expect(schema).toMatchFileSnapshot('../../migrations/schema.sql');
});

test('migrations/definitions.tsv has the digests of what the migrations make', async () => {
  const found = await fresh.db.transaction(async (tx) => {
    await trustNobodysNames(tx);
    return readDefinitions(tx);
  });
  const path = '../../migrations/definitions.tsv';
  await expect(shippedText(found)).toMatchFileSnapshot(path);
});

test('what is sealed of a kind of fact is what the view of facts reads of it', async () => {
  const found = await fresh.db.transaction(async (tx) => {
    const viewOf = async (name: string): Promise<string> => {
      const { rows } = await tx.query<{ text: string }>(
        'select pg_get_viewdef($1::regclass) as text',
        [name],
      );
      return rows[0]?.text ?? '';
    };
    const shipped = await viewOf('tieout.facts');
    const kinds = [...shipped.matchAll(/'(\w+)'::text AS what/g)].map(([, what]) => what);
    const { rows } = await tx.query<{ sealed: string }>(
      `select string_agg(facts, ' union all ' order by array_position($1, what::text)) as sealed
       from tieout.fact_sources`,
      [kinds],
    );
    await tx.query(`create view tieout.sealed_facts as ${rows[0]?.sealed}`);
    const sealed = await viewOf('tieout.sealed_facts');
    await tx.query('drop view tieout.sealed_facts');
    return { kinds, shipped, sealed };
  });
  expect(found.kinds.length).toBeGreaterThan(20);
  expect(found.sealed).toBe(found.shipped);
});

test('docs/AUDIT.md says of every table what proves it, and what could be changed unnoticed', () => {
  const made = textOf('migrations/schema.sql').matchAll(
    /^create (?:unlogged )?table tieout\.(\w+) \(/gm,
  );
  const tables = [...made].map(([, name = '']) => name);
  expect(tables.length).toBeGreaterThan(60);
  const [, rows = ''] = textOf('docs/AUDIT.md').split('## Row by row');
  expect(tables.filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
});
