// A host to which an answer means something else than to the last plan sends nothing, also not what
// was approved, and reads no answer that another sender left: what it made of it would be final.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { approveHeld } from '../support/approveHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** What PENDING means: a profile of before took it for a failure. */
async function depsWhere(house: House, meaning: 'pending' | 'failed') {
  const profile = join(house.folder, 'gateway-profile.yaml');
  const known = PROFILE_TEMPLATE.replace('unit: null', 'unit: major');
  writeFileSync(profile, known.replace(`${meaning}: []`, `${meaning}: ["PENDING"]`));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  return (await house.open()).sendDeps();
}

async function batchOf(house: House): Promise<bigint> {
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    'select batch_id from tieout.batches',
  );
  return rows[0]?.batch_id ?? 0n;
}

test('a worker of before refuses no payout that the gateway has taken', async () => {
  const settings = { operations: { payout: 'approve' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  cleanups.push(() => house.end());
  const deps = await depsWhere(house, 'pending');
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ('00000000-0000-4000-8000-000000000001', 'A1001', jsonb_build_object(
       'payment_currency', 'EUR', 'reference', 'PENDING', 'payment_amount', '7'),
       now() - interval '1 minute')`,
  );
  await house.run({ date: dateOf(2) });
  expect(await approveHeld(house)).toEqual(['done']);
  const old = await depsWhere(house, 'failed');
  await sendBatch(old, await batchOf(house));
  const { rows } = await house.db.query('select state, tries, reason from tieout.batches');
  expect(rows).toEqual([
    {
      state: 'queued',
      tries: 0,
      reason: expect.stringMatching(/failed: none before, then PENDING/),
    },
  ]);
  expect(await house.effects()).toEqual([]);

  // Its sender dies between the storing and the reading of the answer.
  const die = (): never => {
    throw new Error('died');
  };
  const gateway = { ...deps.gateway, readPayoutAnswer: die };
  const dying = { ...deps, gateway, runner: { ...deps.runner, boot: 'another boot' } };
  await expect(sendBatch(dying, await batchOf(house))).rejects.toThrow('died');
  await recoverAttempts(old, ['A1001']);
  expect(await instructionCounts(house.db)).toEqual({ 'payout sending': 1 });
  await recoverAttempts(deps, ['A1001']);
  expect(await instructionCounts(house.db)).toEqual({ 'payout accepted': 1 });
});
