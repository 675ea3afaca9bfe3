// An instruction that is called not done, and that the next look shows as done: what is said names
// who had called it so, the gateway or a person. On a real PostgreSQL.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeDecisions } from '../../src/instructions/decisionsStore.js';
import { settleBySnapshot } from '../../src/instructions/instructionsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const FOUND = {
  kind: 'resolve',
  finding: 'not_happened',
  reason: 'asked them',
  reference: 'case 7',
  who: { name: 'opa', isClaim: false },
} as const;

test.each([
  ['unknown', 'opa found that it did not happen, yet the gateway shows partially_refunded'],
  ['rejected', 'the gateway refused it, yet shows partially_refunded'],
])('%s before', async (state, reason) => {
  const { db } = fresh;
  const accountId = `A-${state}`;
  const runId = await storeRun(db, accountId);
  const order = orderOf(`O-${state}`, {
    ledger: 'captured 10.00 EUR',
    gateway: [`T-${state} partially_refunded 10.00`],
    did: [`refund T-${state} R-${state} 4.00 ${state}`],
  });
  await storeInstructions(db, runId, accountId, [order]);
  const one = async () => {
    const { rows } = await db.query<{ id: bigint; state: string; reason: string | null }>(
      `select instruction_id as id, state, reason from tieout.instructions where account_id = $1`,
      [accountId],
    );
    return rows[0];
  };
  if (state === 'unknown') {
    const { id = 0n } = (await one()) ?? {};
    await db.transaction((tx) => writeDecisions(tx, [id], FOUND));
  }
  expect((await one())?.state).toBe('rejected');
  const snapshot = await storeSnapshot(db, runId, accountId, [order]);
  await settleBySnapshot(db, snapshot.runId, snapshot.pullId, SNAPSHOT_AT);
  expect(await one()).toMatchObject({ state: 'unknown', reason });
});
