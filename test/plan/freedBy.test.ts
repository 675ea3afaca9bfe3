// Which night uses a changed setting up: none that did not weigh all that the setting bears on.
// Neighbour: faults/people/newlyFreed.test.ts, where whole nights show what waits for it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FreeingChange } from '../../src/core/instructions/freeing/freeingChange.js';
import type { Database } from '../../src/database/db.js';
import { weighedBy } from '../../src/instructions/freedStore.js';
import { noteWeighed } from '../../src/plan/planStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { snapshotAndPlan } from '../support/planning.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

const LEDGER = 'captured 10.00 EUR';
const PLAIN = { ledger: LEDGER, gateway: ['T1 captured 10.00'] };
const CONTRADICTORY = { ledger: LEDGER, gateway: ['T1 captured 10.00', 'T1 refunded 10.00'] };
const UNKNOWN: OrderText = { ...PLAIN, page: 'failed' };

test.each<[string, OrderText, FreeingChange['kind'] | null, boolean]>([
  ['compared', PLAIN, 'payment_status', true],
  ['not looked at', UNKNOWN, null, false],
  ['contradictory, and nothing means something else', CONTRADICTORY, null, true],
  ['contradictory, of a code that means something else', CONTRADICTORY, 'payment_status', false],
  ['contradictory, of a currency that is written otherwise', CONTRADICTORY, 'currency', false],
  ['contradictory, of no code that means something else', CONTRADICTORY, 'query_result', true],
])('an order that is %s', async (what, text, kind, isUsedUp) => {
  const accountId = `A ${what}`;
  const runId = await storeRun(db, accountId);
  await db.query(
    `insert into tieout.run_settings (run_id, settings, settings_sha256, version)
     values ($1, '{}', 'now', '0')`,
    [runId],
  );
  await snapshotAndPlan(db, { runId, accountId }, [orderOf('O1', text)]);
  const { rows } = await db.query<{ code: string }>(
    `select payment_status as code from tieout.look_entries
     where account_id = $1 and payment_status is not null`,
    [accountId],
  );
  const codes = { payment_status: rows.map(({ code }) => code), currency: ['EUR'] };
  const values = kind === 'payment_status' || kind === 'currency' ? codes[kind] : ['other'];
  const changes =
    kind === null ? [] : [{ accountId, change: { kind, values, words: '' } as FreeingChange }];
  const rules = [{ account_id: accountId, live_from: null }];
  await noteWeighed(db, runId, rules, SNAPSHOT_AT, { isWhole: true, changes });
  const weighed = await weighedBy(db, [accountId]);
  expect(weighed.map(({ settingsSha256 }) => settingsSha256)).toEqual(isUsedUp ? ['now'] : []);
});
