// A payout whose operation is switched off, approved by then or not: nobody sends it, it says why,
// and no approval is taken for it. Switched on again it goes by the one it has, or waits for one.

import { expect, onTestFinished, test } from 'vitest';
import { holdWaiting } from '../../src/send/journal/putBacksStore.js';
import { approveHeld } from '../support/approveHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const REQUEST = '00000000-0000-4000-8000-000000000001';

function set(house: House, payout: 'approve' | 'off'): void {
  rewriteSettings(house, { operations: { payout } });
}

async function howItIs(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ why: string }>(
    `select state || coalesce(': ' || hold_reason, '') as why from tieout.instructions`,
  );
  return rows.map((row) => row.why);
}

async function withPayout(): Promise<House> {
  const settings = { operations: { payout: 'approve' } };
  const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
  onTestFinished(() => house.end());
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ($1, 'A1001', '{"payment_currency": "EUR", "payment_amount": "120"}',
       now() - interval '1 minute')`,
    [REQUEST],
  );
  await house.run({ date: dateOf(2) });
  expect(await howItIs(house)).toEqual(['held: approval']);
  return house;
}

test('an approved payout whose operation is off is held by that, and by no want of approval', async () => {
  const house = await withPayout();
  expect(await approveHeld(house)).toEqual(['done']);
  set(house, 'off');
  const { summary } = await house.run({ date: dateOf(2) });
  expect(summary.state).toBe('tied_out');
  expect(await howItIs(house)).toEqual(['held: operation_off']);
  expect(await approveHeld(house)).toEqual(['refused']);
  await house.run({ date: dateOf(1) });
  expect(await howItIs(house)).toEqual(['held: operation_off']);
  expect(await house.effects()).toEqual([]);
  set(house, 'approve');
  await house.run({ date: dateOf(1) });
  expect(await howItIs(house)).toEqual(['confirmed']);
  expect(await house.effects()).toHaveLength(1);
});

test('one that waits for approval as its operation is switched off takes none until it is on', async () => {
  const house = await withPayout();
  set(house, 'off');
  await house.run({ date: dateOf(2) });
  expect(await howItIs(house)).toEqual(['held: operation_off']);
  expect(await approveHeld(house)).toEqual(['refused']);
  set(house, 'approve');
  await house.run({ date: dateOf(1) });
  expect(await howItIs(house)).toEqual(['held: approval']);
  expect(await approveHeld(house)).toEqual(['done']);
  await house.run({ date: dateOf(1) });
  expect(await howItIs(house)).toEqual(['confirmed']);
  expect(await house.effects()).toHaveLength(1);
});

test('one that is off as the database comes back may have gone since: it waits as that', async () => {
  const house = await withPayout();
  set(house, 'off');
  await house.run({ date: dateOf(2) });
  expect(await howItIs(house)).toEqual(['held: operation_off']);
  await (await house.open()).db.transaction((tx) => holdWaiting(tx));
  expect(await howItIs(house)).toEqual(['held: restored']);
});
