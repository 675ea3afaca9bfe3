// A payout that is another one than was seen or sent. What leaves the payer's account is part of
// what a person approves: where the profile reads it otherwise by the time of the claim, nothing
// goes. A request that asks for something else after it was sent is told.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { approveHeld } from '../support/approveHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function setUnit(house: House, unit: 'major' | 'minor'): void {
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', `unit: ${unit}`));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
}

test('an approved payout waits where what leaves the payer is read otherwise', async () => {
  const settings = { operations: { payout: 'approve' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  cleanups.push(() => house.end());
  setUnit(house, 'minor');
  // A yen has no hundredths: 5000 of them in either unit, of 50.00 EUR or of 5,000.00.
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ('00000000-0000-4000-8000-000000000001', 'A1001', jsonb_build_object(
       'payment_currency', 'JPY', 'payment_amount', '5000', 'source_currency', 'EUR',
       'source_amount', '5000'), now() - interval '1 minute')`,
  );
  await house.run({ date: dateOf(2) });
  expect(await approveHeld(house)).toEqual(['done']);
  expect(await stateOf(house)).toEqual({ why: 'queued', amount: '5000.00', source: '50.00' });
  setUnit(house, 'major');
  await send(house);
  expect(await stateOf(house)).toMatchObject({ why: 'newly_freed' });
  expect(await house.effects()).toEqual([]);
  // As it was approved, it goes.
  setUnit(house, 'minor');
  expect(await approveHeld(house)).toEqual(['done']);
  await send(house);
  expect(await house.effects()).toHaveLength(1);
});

test('a request that was changed after it was sent is told each night, until it is put back', async () => {
  const settings = { operations: { payout: 'approve' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  cleanups.push(() => house.end());
  const id = '00000000-0000-4000-8000-000000000001';
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, 'A1001', '{"payment_currency": "EUR", "payment_amount": "120"}',
       now() - interval '1 minute')`,
    [id],
  );
  await house.run({ date: dateOf(2) });
  await approveHeld(house);
  await send(house);
  expect(await house.effects()).toHaveLength(1);
  const ask = (amount: string) =>
    house.db.query(
      `update ledger.payout_requests
       set payload = payload || jsonb_build_object('payment_amount', $1::text)`,
      [amount],
    );
  await ask('150');
  const { summary } = await house.run({ date: dateOf(1) });
  expect(summary.state).toBe('broken');
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'payout_changed');
  expect(told).toMatchObject([{ accountId: 'A1001', names: [id] }]);
  expect(told[0]?.text).toContain(`${id} (#1: 120 EUR, now 150 EUR). Nothing is sent for that:`);
  await ask('120');
  expect((await house.run({ date: dateOf(1) })).summary.state).toBe('tied_out');
  expect(await house.effects()).toHaveLength(1);
});

async function send(house: House): Promise<void> {
  const deps = await (await house.open()).sendDeps();
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.batches where state = 'queued'`,
  );
  for (const { batch_id: batchId } of rows) await sendBatch(deps, batchId);
}

async function stateOf(house: House): Promise<unknown> {
  const { rows } = await house.db.query(
    `select coalesce(hold_reason, state) as why, amount::text, source_amount::text as source
     from tieout.instructions`,
  );
  return rows[0];
}
