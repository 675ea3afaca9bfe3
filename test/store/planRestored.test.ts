// What plan.sql makes of a database that came back from a backup: where a look tells whether it was
// done since, it goes on as ever; where none can tell, it waits for a person.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { planInstructions } from '../../src/store/instructions.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/lookStore.js';
import { LOOKED_AT, orderOf } from '../support/orders.js';
import { instructionTexts, lookAndPlan, policies } from '../support/planning.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const ORDERS = [
  { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] },
  { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 10.00'], refunds: ['R1 4.00'] },
  {
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 partially_refunded 10.00'],
    refunds: ['R1 4.00 age=12d', 'R2 3.00'],
  },
].map((text, index) => orderOf(`O${index + 1}`, text));

const PAYOUT = {
  requestId: '00000000-0000-4000-8000-000000000001',
  currency: 'EUR',
  amount: '120.00',
  requestedAt: LOOKED_AT,
  problem: null,
  payload: { payment_amount: '120' },
  isInTotals: true,
};

test.each([
  ['as ever where nothing was restored', '{}', 'planned'],
  ['held where no look can tell', '{"restoredFrom": {}}', 'held: restored'],
])('%s', async (_, found, outcome) => {
  const { db } = fresh;
  const accountId = outcome.slice(0, 4);
  const runId = await storeRun(db, accountId);
  await db.query(
    `insert into tieout.brakes (kind, is_on, reason, by, is_claim, found)
     values ('freeze', true, 'for a test', 'anna', true, $1)`,
    [found],
  );
  await lookAndPlan(db, { runId, accountId }, ORDERS);
  const payouts = policies('auto').map((rule) => ({ ...rule, operation: 'payout' as const }));
  const all = [...policies('auto'), ...payouts.slice(0, 1)];
  await planInstructions(db, runId, LOOKED_AT, all, false, [{ ...PAYOUT, accountId }]);
  expect(await instructionTexts(db, accountId)).toEqual([
    'O1 capture 10.00 planned',
    'O2 refund R1 4.00 planned',
    `O3 refund R2 3.00 ${outcome}`,
    expect.stringMatching(new RegExp(`payout .*${outcome}$`)),
  ]);
});
