// Refund requests of an account that nobody configured: nobody asks for them, and each night says so
// in books of the account's own, which tie from night to night. Neighbours: strangeOrders.test.ts,
// where orders of such accounts are; faults/people/leftAccount.test.ts, where one leaves the
// configuration.

import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import type { RunResult } from '../../src/night/run.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

test('a request of an account that is not configured is a break in books of its own', async () => {
  const inLedger = kinds({ partial_refund_due: 1 }, 'A1002');
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await night(house, 4);
  await house.db.query(
    `insert into ledger.refund_requests
     select 'Elsewhere', 'lost-1', order_no, 1.00, reason, requested_by, requested_at
     from ledger.refund_requests`,
  );
  const booksOf = ({ accounts }: RunSummary) =>
    accounts.find(({ accountId }) => accountId === 'Elsewhere');
  const { summary } = await night(house, 3);
  expect(summary.state).toBe('broken');
  expect(booksOf(summary)).toMatchObject({
    state: 'broken',
    orders: { ledger: 0, broken: 0, notCompared: 0 },
    breaks: { refund_without_order: 1 },
    tie: { openBefore: 0, new: 1, openAfter: 1 },
  });
  expect(runSentence(summary)).toMatch(/did not tie out: /);
  const again = await night(house, 2);
  expect(booksOf(again.summary)?.tie).toMatchObject({ openBefore: 1, new: 0, openAfter: 1 });
  const { db, config, version } = await house.open();
  const run = await findRun(house.db, dateOf(2));
  if (run === null) throw new Error('no run');
  const verified = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(verified.differences).toEqual([]);
  const shown = await tieoutHere(['breaks', 'list', '--json'], { cwd: house.folder });
  expect(shown.stdout).toContain('of an account that is not configured');
  const said = (await tieoutHere(['breaks', 'list'], { cwd: house.folder })).stdout;
  const sentence = 'lost-1 of 1.00, of an account that is not configured: no refund is sent';
  expect(said.replaceAll(/\s+/g, ' ')).toContain(sentence);
  expect(said).not.toContain('names no order');
  const status = await tieoutHere(['status'], { cwd: house.folder });
  expect(status.stdout).toMatch(/did not tie out/);
  expect(status.stdout).not.toMatch(/left the configuration/);
  const report = await tieoutHere(['report', dateOf(2), '--kind', 'breaks', '--format', 'csv'], {
    cwd: house.folder,
  });
  expect(report.stdout).toMatch(/^account_id,[^\n]*,states_as_of,environment\r\n/);
  expect(report.stdout).toMatch(/Elsewhere,[^\n]*refund_without_order/);
  const states = `,"night of ${dateOf(2)}; owner, note and waiver now \\(2[\\d:.T-]+Z\\)",test\r\n`;
  expect(report.stdout).toMatch(new RegExp(states));
  await house.db.query(`delete from ledger.refund_requests where refund_id = 'lost-1'`);
  const healed = (await night(house, 1)).summary;
  expect(healed.state).toBe('tied_out');
  expect(booksOf(healed)?.tie).toMatchObject({ openBefore: 1, resolved: 1, openAfter: 0 });
  expect(await house.effects()).toHaveLength(1);
});

test('an account that leaves with breaks alone stays in the books until they are settled', async () => {
  const inLedger = kinds({ amount_mismatch: 1 }, 'A1002');
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await night(house, 4);
  rewriteSettings(house, { accounts: house.accounts.slice(0, 1) });
  const booksOf = ({ accounts }: RunSummary) =>
    accounts.find(({ accountId }) => accountId === 'A1002');
  const { summary } = await night(house, 3);
  expect(booksOf(summary)).toMatchObject({
    ...{ state: 'broken', breaks: { amount_mismatch: 1 } },
    tie: { openBefore: 1, new: 0, openAfter: 1 },
  });
  const listed = async (day: number) => {
    const args = ['report', dateOf(day), '--kind', 'breaks', '--format', 'csv'];
    const { stdout } = await tieoutHere(args, { cwd: house.folder });
    return [...stdout.matchAll(/^A1002,/gm)].length;
  };
  expect(await listed(3)).toBe(1);
  const { db, config, version } = await house.open();
  const run = await findRun(house.db, dateOf(3));
  if (run === null) throw new Error('no run');
  const verified = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(verified.differences).toEqual([]);
  const { rows } = await house.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks where account_id = 'A1002' order by 1`,
  );
  for (const { id } of rows) {
    for (const as of ['Ann', 'Ben']) {
      const why = ['--reason', 'account closed', '--as', as];
      await tieoutHere(['breaks', 'waive', id, ...why], { cwd: house.folder });
    }
  }
  const after = await night(house, 2);
  expect(await listed(2)).toBe(0);
  expect(booksOf(after.summary)?.tie).toMatchObject({ openBefore: 1, waived: 1, openAfter: 0 });
  expect(runSentence(after.summary)).not.toContain('left the configuration');
  expect(booksOf((await night(house, 1)).summary)).toBeUndefined();
});

test('an account that is configured later has no history by such a break', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ plain: 1 }), daysAgo: 5 });
  cleanups.push(() => house.end());
  const [known, other] = house.accounts;
  const live = (accounts: typeof house.accounts) =>
    rewriteSettings(house, {
      accounts: accounts.map((one) => ({ ...one, liveFrom: `${dateOf(9)}T00:00:00Z` })),
    });
  if (known === undefined || other === undefined) throw new Error('no two accounts');
  live([known]);
  await house.db.query(
    `insert into ledger.refund_requests
     values ($1, 'R1', 'any', 1.00, 'returned', null, $2)`,
    [other.accountId, `${dateOf(5)}T12:00:00Z`],
  );
  const first = (await night(house, 4)).summary;
  expect(first.accounts.map(({ accountId }) => accountId)).toContain(other.accountId);
  live([known, other]);
  const { summary } = await night(house, 3);
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'no_history');
  expect(told.map(({ accountId }) => accountId)).toContain(other.accountId);
});

test('a refund that was made elsewhere is told with what the gateway last showed of its order', async () => {
  const house = await buildHouse({
    ...{ orders: 900, inLedger: kinds({ refund_done_elsewhere: 1 }, 'A1002'), daysAgo: 4 },
  });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.refund_requests set requested_at = $1', [
    `${dateOf(4)}T12:00:00Z`,
  ]);
  const said = async () => {
    const { stdout } = await tieoutHere(['breaks', 'list'], { cwd: house.folder });
    return stdout.replaceAll(/\s+/g, ' ');
  };
  expect((await night(house, 4)).summary.state).toBe('tied_out');
  // The ledger archives the order: a person who reads that nothing was refunded refunds it again.
  await house.db.query('create table kept as select * from ledger.orders');
  await house.db.query('delete from ledger.orders');
  const seen = 'the gateway last showed the order refunded: look there before anybody refunds it';
  for (const day of [3, 2]) {
    await night(house, day);
    expect(await said()).toMatch(new RegExp(`names no order of the ledger: .*${seen}`));
  }
  // The account leaves the configuration, with an order that is in the ledger.
  await house.db.query('insert into ledger.orders select * from kept');
  rewriteSettings(house, { accounts: house.accounts.slice(0, 1) });
  await night(house, 1);
  expect(await said()).toMatch(new RegExp(`of an account that is not configured: .*${seen}`));
});
