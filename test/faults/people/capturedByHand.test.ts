// Nights after a person captured a part of an order by hand (`tieout gateway capture`), where the
// gateway shows the authorised amount: nothing but the call tells that it was a part.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import type { RunResult } from '../../../src/night/run.js';
import { findRun } from '../../../src/runs/runsStore.js';
import { verifyRun } from '../../../src/verify/verifyRun.js';
import { byHand } from '../../support/byHand.js';
import type { House } from '../../support/night.js';
import { dateOf, kinds, openBreaksOf, rewriteSettings } from '../../support/night.js';
import { showing } from '../front.js';
import { houseBehind } from '../houseBehind.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const OPERATIONS = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };

/** One order that is due and waits for a person, and how much of it is captured by hand. */
async function captured(part: (amount: string) => string) {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const settings = { operations: OPERATIONS };
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 5, settings });
  cleanups.push(() => house.end());
  await night(house, 5);
  const { rows } = await house.db.query<Record<string, string>>(
    `select transaction_id, order_no, currency, amount::text as amount from tieout.instructions`,
  );
  const { amount = '', ...named } = rows[0] ?? {};
  const capture_orders = [{ ...named, amount: part(amount) }];
  expect(await byHand(house, 'A1001', 'capture', { capture_orders })).toBe('accepted');
  showing(front, () => ({ amount }));
  return { house, amount };
}

test('a part that was captured by hand is held against what was to be captured', async () => {
  const { house, amount } = await captured(() => '1.00');
  expect((await night(house, 4)).summary.state).toBe('broken');
  const { rows } = await house.db.query(
    `select kind, expected, actual, amount::text as amount from tieout.breaks`,
  );
  expect(rows).toMatchObject([
    { kind: 'amount_mismatch', expected: { amount }, actual: { amount: '1.00' } },
  ]);
  expect(Number(rows[0]?.amount)).toBeCloseTo(Number(amount) - 1, 2);
  expect(await differences(house, 5)).toEqual([]);
  expect(await differences(house, 4)).toEqual([]);
  // The ledger says that it was to be no more: then it agrees.
  await house.db.query('update ledger.orders set capture_amount = 1.00');
  rewriteSettings(house, { gateway: partial(house) });
  expect((await night(house, 3)).summary.state).toBe('tied_out');
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(await moved(house)).toEqual([['capture', '1.00']]);
});

test('all that was to be captured, by hand: the order matches', async () => {
  const { house } = await captured((amount) => amount);
  expect((await night(house, 4)).summary.state).toBe('tied_out');
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(await differences(house, 4)).toEqual([]);
});

test('a look from before calls were weighed is worked out again as it was', async () => {
  const { house } = await captured(() => '1.00');
  await house.db.query('alter table tieout.pulls alter column weighs_calls drop default');
  expect((await night(house, 4)).summary.state).toBe('tied_out');
  await house.db.query('alter table tieout.pulls alter column weighs_calls set default true');
  expect((await night(house, 3)).summary.state).toBe('broken');
  expect(await differences(house, 4)).toEqual([]);
  expect(await differences(house, 3)).toEqual([]);
});

/** After a capture of a part the gateway may show either amount. */
function partial(house: House) {
  const profile = join(house.folder, 'profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), partialCapture: true }));
  return { baseUrl: house.gatewayUrl, profile };
}

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

async function differences(house: House, daysAgo: number) {
  const run = await findRun(house.db, dateOf(daysAgo));
  if (run === null) throw new Error('no run');
  const { config, version } = await (await house.open()).sendDeps();
  return (await verifyRun({ db: house.db, config, version, progress: () => {} }, run)).differences;
}

async function moved(house: House) {
  return (await house.effects()).map(({ operation, amount }) => [operation, amount]);
}
