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
