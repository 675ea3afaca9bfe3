// The figures of a night know what it settled by its number, whatever the clock of its host said.

import { afterEach, expect, it } from 'vitest';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';
import { midnight } from '../support/today.js';

const DAY_MS = 86_400_000;
const captures = () => kinds({ capture_due: 4 }, 'A1001');

let house: House;
afterEach(() => house.end());

async function instructionsOf(date: string, at?: Date) {
  const { summary } = await house.run({ date }, at);
  await expectIdentities(house.db, summary);
  return summary.accounts.find(({ accountId }) => accountId === 'A1001')?.instructions ?? {};
}

async function differences(date: string) {
  const { db, config, version } = await house.open();
  const run = await findRun(house.db, date);
  if (!run) throw new Error(`no run of ${date}`);
  return (await verifyRun({ db, config, version, progress: () => {} }, run)).differences;
}

it('a night of a host that is behind does not count what the night before settled', async () => {
  house = await buildHouse({ orders: 900, inLedger: captures(), daysAgo: 2 });
  expect(await instructionsOf(dateOf(2))).toEqual({ capture: { confirmed: 4 } });
  const behind = new Date(midnight() + 1000);
  expect(await instructionsOf(dateOf(1), behind)).toEqual({});
  // As soon as the clock is right, and where the date is run again by it.
  expect(await instructionsOf(dateOf(1))).toEqual({});
  for (const daysAgo of [2, 1]) expect(await differences(dateOf(daysAgo))).toEqual([]);
});

it('what a night of a host that is ahead settled is counted by it alone', async () => {
  house = await buildHouse({
    orders: 900,
    inLedger: captures(),
    daysAgo: 3,
    settings: { operations: { capture: 'approve' } },
  });
  // One that lies longer back is taken for a database that was lost.
  const liveFrom = new Date(Date.now() - 2 * DAY_MS).toISOString();
  rewriteSettings(house, { accounts: house.accounts.map((one) => ({ ...one, liveFrom })) });
  expect(await instructionsOf(dateOf(3))).toEqual({ capture: { held: 4 } });
  await house.db.query(`update ledger.orders set expected = 'authorised'`);
  const ahead = new Date(Date.now() + 3 * DAY_MS);
  expect(await instructionsOf(dateOf(2), ahead)).toEqual({ capture: { carried: 4, withdrawn: 4 } });
  expect(await instructionsOf(dateOf(1))).toEqual({});
  for (const daysAgo of [3, 2, 1]) expect(await differences(dateOf(daysAgo))).toEqual([]);
});
