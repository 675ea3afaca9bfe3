// A date that is run again, for one account alone or after an account left the configuration: each
// figure still adds up, and the whole can be worked out again, though its accounts were compared at
// different times. Neighbour: faults/people/leftAccount.test.ts.

import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runDate } from '../../src/night/run.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const DATE = dateOf(2);
let house: House;
afterEach(() => house.end());

async function build(ofSecond: Record<string, number>, operations?: object): Promise<void> {
  const few = kinds(ofSecond, 'A1002');
  const first = kinds({ plain: 3, amount_mismatch: 1, capture_due: 1 }, 'A1001');
  const inLedger: typeof few = (order) => first(order) || few(order);
  const settings = operations === undefined ? {} : { operations };
  house = await buildHouse({ orders: 300, daysAgo: 2, inLedger, settings });
}

async function expectSame(summary: RunSummary): Promise<void> {
  await expectIdentities(house.db, summary);
  const { db, config, version } = await house.open();
  const run = await findRun(house.db, DATE);
  if (run === null) throw new Error('no run');
  const verified = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(verified.differences).toEqual([]);
}

function leaveOut(accountId: string): void {
  const left = house.accounts.filter((account) => account.accountId !== accountId);
  rewriteSettings(house, {
    accounts: left.map((account) => ({ ...account, liveFrom: `${DATE}T00:00:00Z` })),
  });
}

/** Looks at the gateway again, and dies in this step. */
async function lookAndDieIn(dying: 'pull' | 'compare'): Promise<void> {
  const app = await house.open();
  const progress = (step: string, done: number, all: number): void => {
    if (step === dying && (step === 'compare' || done === all)) throw new Error('killed');
  };
  const deps = { ...(await app.sendDeps()), progress };
  const again = { date: DATE, accountIds: [], isDry: false };
  await expect(runDate(deps, again, await app.workforce())).rejects.toThrow('killed');
}

test('one account of a date is run again alone', async () => {
  await build({ plain: 2, state_mismatch: 1 });
  await house.run({ date: DATE });
  const { summary } = await house.run({ date: DATE, accountIds: ['A1001'] });
  expect(summary.accounts).toMatchObject([
    { accountId: 'A1001', tie: { openBefore: 0, new: 1, openAfter: 1 } },
    { accountId: 'A1002', tie: { openBefore: 0, new: 1, openAfter: 1 } },
  ]);
  await expectSame(summary);
});

test('an account leaves, and its requests stand in the ledger still', async () => {
  await build({ plain: 2, state_mismatch: 1, partial_refund_due: 1, two_refunds_due: 1 });
  await house.run({ date: DATE });
  leaveOut('A1002');
  const { summary } = await house.run({ date: DATE });
  expect(summary.accounts[1]?.breaks).toEqual({ state_mismatch: 1, refund_without_order: 1 });
  await expectSame(summary);
});

test('an account leaves between a look and its comparison', async () => {
  await build({ missing_at_gateway: 1, state_mismatch: 1 });
  await house.run({ date: DATE });
  const { rows } = await house.db.query(
    `delete from ledger.orders o using tieout.breaks b
     where b.account_id = o.account_id and b.order_no = o.order_no
       and b.kind = 'missing_at_gateway' returning b.order_no`,
  );
  expect(rows).toHaveLength(1);
  await lookAndDieIn('compare');
  leaveOut('A1002');
  const { summary } = await house.run({ date: DATE });
  expect(summary.state).toBe('incomplete');
  expect(summary.accounts[1]).toMatchObject({
    accountId: 'A1002',
    orders: { ledger: 1, strangers: 1, broken: 2, notCompared: 0 },
    breaks: { missing_at_gateway: 1, state_mismatch: 1 },
  });
  await expectSame(summary);
});

test('an account leaves in the middle of a look: what nobody compares is not taken for gone', async () => {
  const operations = { capture: 'approve', cancel: 'approve', refund: 'approve' };
  await build({ plain: 2, state_mismatch: 1, partial_refund_due: 1 }, operations);
  await house.run({ date: DATE });
  await lookAndDieIn('pull');
  leaveOut('A1002');
  const { summary } = await house.run({ date: DATE });
  expect(summary.accounts[1]).toMatchObject({
    accountId: 'A1002',
    breaks: { state_mismatch: 1, refund_without_order: 1 },
    tie: { resolved: 0 },
    instructions: { refund: { held: 1 } },
  });
  await expectSame(summary);
});
