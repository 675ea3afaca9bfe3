// The chain is checked while a night seals and signs: what is looked at is the database of one
// moment, and the file of signed ends as it was before. Neighbour: chain.test.ts.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownKey } from '../../src/audit/headsKey.js';
import { headsPath } from '../../src/audit/signedHeads.js';
import type { Database, Db, Tx } from '../../src/database/db.js';
import { statement } from '../../src/database/statements.js';
import { checkDatabase } from '../../src/verify/checkDatabase.js';
import { checkHeads } from '../../src/verify/signedHeadsStore.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 240, seed: 3 });
  await house.run();
});
afterAll(() => house.end());

test('what is sealed and signed while it is checked breaks nothing', async () => {
  const { dataDir } = (await house.open()).config;
  let sealed = 0;
  const meanwhile: Database = {
    ...house.db,
    transaction: (work, limits) =>
      house.db.transaction((tx) => {
        const query: Tx['query'] = async (text, values, name) => {
          const answer = await tx.query<never>(text, values, name);
          if (text === statement('verify/checkLinks') && sealed++ === 0) await house.run();
          return answer;
        };
        return work({ ...tx, query });
      }, limits),
  };
  const heads = (tx: Db) => checkHeads(tx, headsPath(dataDir), () => ownKey(dataDir));
  const links = async () => (await house.db.query('select 1 from tieout.chain_links')).rowCount;
  const before = await links();
  const { checked } = await checkDatabase(meanwhile, heads, null);
  expect(await links()).toBeGreaterThan(before ?? 0);
  expect(checked).toMatchObject({ chain: { broken: [], unsealed: [] }, heads: { broken: [] } });
});
