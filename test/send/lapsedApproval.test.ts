// An approval that has lapsed by the time of the claim leaves the instruction waiting for what it
// was approved for, where that has to be looked up again: not for the lapse alone, which may be
// approved in a list with a hundred others.

import { afterEach, expect, test } from 'vitest';
import { sendBatch } from '../../src/send/sendBatch.js';
import { prepareRun } from '../faults/preparedRun.js';
import { approveHeld } from '../support/approveHeld.js';
import { decideHeld } from '../support/decideHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

test.each([
  ['restored', 'restored', 'refused'],
  ['twin_request', 'twin_request', 'done'],
  ['approval', 'approval_expired', 'done'],
])('of what waited for %s: it waits for %s', async (reason, then, inAList) => {
  const house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 1 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
  });
  cleanups.push(() => house.end());
  const { deps } = await prepareRun(house);
  await inThePast(house, `update tieout.instructions set hold_reason = '${reason}'`);
  const bob = { name: 'bob', isClaim: true };
  expect(await decideHeld(await house.open(), bob, 'approve', true)).toHaveLength(1);
  await inThePast(house, `update tieout.decisions set expires_at = now() - interval '1 second'`);
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.batches where state = 'queued'`,
  );
  await sendBatch(deps, rows[0]?.batch_id ?? 0n);
  const { rows: left } = await house.db.query('select state, hold_reason from tieout.instructions');
  expect(left).toEqual([{ state: 'held', hold_reason: then }]);
  expect(await house.effects()).toEqual([]);
  expect(await approveHeld(house)).toEqual([inAList]);
});

async function inThePast(house: House, statement: string): Promise<void> {
  await house.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(statement);
  });
}
