// A snapshot that was begun before an answer came: it may show that something was done, never that
// what was accepted was not. Neighbour: settle.test.ts, all else that a snapshot proves.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test.each([
  [1, 'authorised', 'accepted'],
  [1, 'captured', 'confirmed'],
  [-1, 'authorised', 'unknown'],
])('the answer came %i s after it was begun, and it shows %s', async (at, shown, outcome) => {
  const { db } = fresh;
  const accountId = `A${randomUUID().slice(0, 8)}`;
  const runId = await storeRun(db, accountId);
  const gateway = [`T1 ${shown} 10.00`];
  const text = { ledger: 'captured 10.00 EUR', gateway, did: ['capture T1 accepted'] };
  const orders = [orderOf('O1', text)];
  await storeInstructions(db, runId, accountId, orders);
  const { pullId } = await storeSnapshot(db, runId, accountId, orders);
  await db.query(
    `with batch as (
       insert into tieout.batches (run_id, account_id, operation, state, created_at)
       values ($1, $2, 'capture', 'answered', now()) returning batch_id),
     moved as (
       update tieout.instructions set batch_id = batch.batch_id from batch where account_id = $2)
     insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries, body_sha256,
       host, boot_id, pid, process_started, claimed_at, send_by, outcome, finished_at)
     select gen_random_uuid(), batch_id, 1, $2, '[]', '', '', '', 1, '',
       $3::timestamptz - interval '2 s', $3, 'answered', $3 + make_interval(secs => $4) from batch`,
    [runId, accountId, SNAPSHOT_AT, at],
  );
  await settleBySnapshot(db, runId, pullId, SNAPSHOT_AT);
  const { rows } = await db.query('select state from tieout.instructions where account_id = $1', [
    accountId,
  ]);
  expect(rows).toEqual([{ state: outcome }]);
});
