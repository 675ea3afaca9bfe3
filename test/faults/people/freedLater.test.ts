// What a changed setting frees, and what its night did not come to: it was past the limit of one
// run, waited for something else, or was away. Neighbour: newlyFreed.test.ts, where that night
// comes to it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import { approveHeld } from '../../support/approveHeld.js';
import type { House } from '../../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../../support/night.js';

const houses: House[] = [];

afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

type Operations = Record<string, unknown>;

const AUTO = { capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto', payout: 'auto' };

async function houseOf(wanted: Record<string, number>, operations: Operations): Promise<House> {
  const settings = { operations: { ...AUTO, ...operations } };
  const house = await buildHouse({ orders: 300, daysAgo: 5, inLedger: kinds(wanted), settings });
  houses.push(house);
  return house;
}

/** In the small hours after the date's end. */
async function runOf(house: House, daysAgo: number): Promise<void> {
  await house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

function setOperations(house: House, operations: Operations): void {
  rewriteSettings(house, { operations: { ...AUTO, ...operations } });
}

function setProfile(house: House, change: Record<string, unknown>): void {
  const profile = join(house.folder, 'profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), ...change }));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
}

interface Found {
  what: string;
  freed_by: string | null;
}

/** "capture held newly_freed", in the order in which they were planned. */
async function found(house: House): Promise<Found[]> {
  const { rows } = await house.db.query<Found>(
    `select concat_ws(' ', operation, state, hold_reason) as what, freed_by
     from tieout.instructions order by instruction_id`,
  );
  return rows;
}

async function states(house: House): Promise<string[]> {
  return (await found(house)).map(({ what }) => what);
}

const PAYOUTS = ['1', '2'].map((last) => `00000000-0000-4000-8000-00000000000${last}`);

async function askForPayouts(house: House): Promise<void> {
  for (const [at, id] of PAYOUTS.entries()) {
    const payload = {
      payment_amount: `12${at}`,
      payment_currency: 'EUR',
      reference: 'commission 11/2026',
      beneficiary: {
        company_name: 'Nordlicht GmbH',
        bank_details: { iban: 'DE00123456780000000000' },
      },
    };
    await house.db.query(
      `insert into ledger.payout_requests (account_id, request_id, payload, requested_at)
       values ('A1001', $1, $2, $3)`,
      [id, JSON.stringify(payload), `${dateOf(5)}T12:00:00Z`],
    );
  }
}

describe('more waits than one run may take', () => {
  test.each<[string, Operations, RegExp]>([
    ['approve', { capture: 'approve' }, /operations.capture: approve before, then auto/],
    ['off', { capture: 'off' }, /operations.capture: off before, then auto/],
    [
      'approveAbove',
      { approveAbove: { capture: { EUR: '0.01' } } },
      /approveAbove.capture: 0.01 EUR before, then not given/,
    ],
    [
      'none in a run',
      { maxPerRun: { capture: { count: 0 } } },
      /maxPerRun.capture: 0 before, then 1$/,
    ],
    [
      'each too much for a run',
      { maxPerRun: { capture: { amount: { EUR: '0.01' } } } },
      /maxPerRun.capture: 0.01 EUR before, then 1/,
    ],
  ])('%s before: all of it waits, whatever the limit leaves for later', async (_, was, words) => {
    const house = await houseOf({ capture_due: 3 }, was);
    await runOf(house, 5);
    setOperations(house, { maxPerRun: { capture: { count: 1 } } });
    for (const daysAgo of [4, 3]) {
      await runOf(house, daysAgo);
      const rows = await found(house);
      expect(rows.map(({ what }) => what)).toEqual(Array(3).fill('capture held newly_freed'));
      for (const { freed_by } of rows) expect(freed_by).toMatch(words);
    }
    expect(await house.effects()).toEqual([]);
  });

  test('what a lower limit holds as well was freed by nothing', async () => {
    const house = await houseOf({ capture_due: 2 }, { maxPerRun: { capture: { count: 0 } } });
    await runOf(house, 5);
    setOperations(house, { maxPerRun: { capture: { amount: { EUR: '0.01' } } } });
    await runOf(house, 4);
    expect(await states(house)).toEqual(Array(2).fill('capture held over_limit_of_run'));
  });
});

test('what waits for something else that night waits for the setting after it', async () => {
  const house = await houseOf({ full_refund_due: 1 }, { refund: 'approve' });
  await runOf(house, 5);
  await house.db.query(
    `insert into ledger.disputes (account_id, dispute_id, order_no, currency, amount, stage, at)
     select account_id, 'D1', order_no, currency, amount, 'opened', now()
     from ledger.orders where order_no in (select order_no from ledger.refund_requests)`,
  );
  setOperations(house, {});
  await runOf(house, 4);
  expect(await states(house)).toEqual(['refund held disputed']);
  await house.db.query(`update ledger.disputes set stage = 'won'`);
  await runOf(house, 3);
  expect(await states(house)).toEqual(['refund held newly_freed']);
  expect(await house.effects()).toEqual([]);
});

describe('what waited is away in the night of the change', () => {
  const set = (house: House, isThere: boolean) =>
    house.db.query(
      isThere
        ? 'insert into ledger.payout_requests select * from ledger.away'
        : 'delete from ledger.payout_requests',
    );

  async function houseOfPayouts(operations: Operations): Promise<House> {
    const house = await houseOf({}, operations);
    setProfile(house, { payout: { unit: 'minor' } });
    await askForPayouts(house);
    await house.db.query('create table ledger.away as select * from ledger.payout_requests');
    await runOf(house, 5);
    return house;
  }

  async function openOnes(house: House): Promise<Found[]> {
    return (await found(house)).filter(({ what }) => what !== 'payout withdrawn');
  }

  test.each<[string, Operations, boolean]>([
    ['and in no other', { payout: 'approve' }, true],
    ['and in the one before', { payout: 'approve' }, false],
    ['and nothing was planned for it before', { payout: 'off' }, true],
  ])('%s: it waits when it is back', async (_, was, isThere) => {
    const house = await houseOfPayouts(was);
    if (!isThere) {
      await set(house, false);
      await runOf(house, 4);
    }
    setOperations(house, {});
    await set(house, false);
    await runOf(house, 3);
    await set(house, true);
    for (const daysAgo of [2, 1]) {
      await runOf(house, daysAgo);
      const open = await openOnes(house);
      expect(open.map(({ what }) => what)).toEqual(Array(2).fill('payout held newly_freed'));
      for (const { freed_by } of open) expect(freed_by).toMatch(/operations.payout: /);
    }
    expect(await house.effects()).toEqual([]);
  });

  test('to another merchant it goes, too, by a person alone, also what was approved', async () => {
    const house = await houseOfPayouts({ payout: 'approve' });
    expect(await approveHeld(house)).toEqual(['done', 'done']);
    await set(house, false);
    const accounts = house.accounts.map((account) => {
      return { ...account, merchantId: 'M9', liveFrom: `${dateOf(6)}T00:00:00Z` };
    });
    rewriteSettings(house, { accounts, operations: AUTO });
    await runOf(house, 4);
    await set(house, true);
    await runOf(house, 3);
    const open = await openOnes(house);
    expect(open.map(({ what }) => what)).toEqual(Array(2).fill('payout held newly_freed'));
    for (const { freed_by } of open) expect(freed_by).toMatch(/merchantId: .* before, then M9/);
    expect(await house.effects()).toEqual([]);
  });
});
