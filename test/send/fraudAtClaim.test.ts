// What the gateway's fraud check says of an order is asked once more as its batch is claimed: the
// look that is made then may be the first that knows. Each test ends with what really moved.

import { afterEach, expect, test } from 'vitest';
import { sendBatch } from '../../src/send/sendBatch.js';
import { showing } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { prepareRun } from '../faults/preparedRun.js';
import { approveHeld } from '../support/approveHeld.js';
import { instructionCounts, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const REJECTED = [{ check_items: 'ip', status: 'REJECT' }];

test.each([
  ['REJECT', { fraud_check_result: REJECTED }, 'held'],
  ['nothing', { fraud_check_result: undefined }, 'accepted'],
])('a check that says %s when a batch that waited is claimed', async (_, check, state) => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger });
  cleanups.push(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  // It waited, behind a brake or a breaker, until the look of the night was too old.
  await house.db.query(`update tieout.pulls set as_of = as_of - interval '1 hour'`);
  showing(front, () => check);
  await sendBatch(deps, batchIds[0] ?? 0n);
  expect(await instructionCounts(house.db)).toEqual({ [`capture ${state}`]: 1 });
  expect(await house.effects()).toHaveLength(state === 'held' ? 0 : 1);
  if (state !== 'held') return;
  const { rows } = await house.db.query('select hold_reason from tieout.instructions');
  expect(rows).toEqual([{ hold_reason: 'fraud_rejected' }]);
  const left = await house.db.query('select state, reason from tieout.batches');
  const reason = 'what was still needed of it waits for a person';
  expect(left.rows).toEqual([{ state: 'dropped', reason }]);
  // Who has seen what the check says may have it sent all the same.
  expect(await approveHeld(house)).toEqual(['done']);
  const { rows: waiting } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.instructions where state = 'queued'`,
  );
  await sendBatch(deps, waiting[0]?.batch_id ?? 0n);
  expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 1 });
  expect(await house.effects()).toHaveLength(1);
});
