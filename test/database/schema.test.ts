// migrations/schema.sql says what the schema is without reading fifty migrations one upon the
// other. It is written by a program and held here, so that it is never out of date.

import { afterAll, beforeAll, expect, test } from 'vitest';
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
