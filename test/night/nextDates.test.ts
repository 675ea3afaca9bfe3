// Several business dates in a row: what one night leaves to the next, and what the same date does
// when the ledger moved in between. The dates ended in the past; the clock is set behind each.

import { afterEach, describe, expect, it } from 'vitest';
import { summaryLines } from '../../src/cli/runs/summaryText.js';
import { shownLine } from '../../src/cli/terminal.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import { sinceNights, sinceOfDay } from '../../src/days/sinceNightStore.js';
import { newestRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { approveHeld } from '../support/approveHeld.js';
import { expectIdentities, expectMoney } from '../support/identities.js';
import type { House, HouseOptions } from '../support/night.js';
import {
  buildHouse,
  dateOf,
  instructionCounts,
  kinds,
  openBreaksOf,
  rewriteSettings,
  sumOrders,
} from '../support/night.js';

const houses: House[] = [];

/** Seeded three dates ago, so that three nights can follow each other. */
async function house(options: HouseOptions): Promise<House> {
  const built = await buildHouse({ daysAgo: 3, orders: 300, ...options });
  houses.push(built);
  return built;
}

afterEach(async () => {
  for (const built of houses.splice(0)) await built.end();
});

/** In the small hours after the date's end. */
async function runOf(one: House, daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  const { summary } = await one.run({ date: dateOf(daysAgo) }, at);
  await expectIdentities(one.db, summary);
  return summary;
}

describe('the next business date', () => {
  it('captures what a review of the night before made possible', async () => {
    const one = await house({ inLedger: kinds({ review_accept_due: 2 }) });
    const first = await runOf(one, 3);
    expect(await instructionCounts(one.db)).toEqual({ 'review confirmed': 2 });
    expect(first).toMatchObject({ state: 'tied_out' });
    expect(sumOrders(first, 'due')).toBe(2);

    // The same date again leaves it to the next one.
    await runOf(one, 3);
    expect(await instructionCounts(one.db)).toEqual({ 'review confirmed': 2 });

    const second = await runOf(one, 2);
    expect(await instructionCounts(one.db)).toEqual({
      'capture confirmed': 2,
      'review confirmed': 2,
    });
    expect(sumOrders(second, 'matched')).toBe(2);
    await expectMoney(one.db, [first, second], await one.effects());
  });

  it('makes one refund of an order a night, the oldest first', async () => {
    const one = await house({ inLedger: kinds({ two_refunds_due: 1 }) });
    const [order] = one.seeded;
    const summaries: RunSummary[] = [];
    for (const daysAgo of [3, 2, 1]) {
      summaries.push(await runOf(one, daysAgo));
      const refunded = (await one.effects()).map((effect) => effect.refund_amount);
      const wanted = (order?.refunds ?? []).map((refund) => refund.refund_amount);
      expect(refunded).toEqual(wanted.slice(0, 4 - daysAgo));
    }
    await expectMoney(one.db, summaries, await one.effects());
    expect(summaries.map((summary) => sumOrders(summary, 'due'))).toEqual([1, 0, 0]);
  });

  it('carries what waits for a person, and counts it in the night that sends it', async () => {
    const one = await house({
      inLedger: kinds({ capture_due: 3, cancel_due: 2 }),
      settings: { operations: { capture: 'approve', cancel: 'auto' } },
    });
    const first = await runOf(one, 3);
    expect(await instructionCounts(one.db)).toEqual({ 'cancel confirmed': 2, 'capture held': 3 });
    const second = await runOf(one, 2);
    expect(figure(second, 'capture', 'carried')).toBe(3);
    expect(figure(second, 'capture', 'held')).toBe(3);
    expect(figure(second, 'cancel', 'confirmed')).toBe(0);

    await approveHeld(one);
    const third = await runOf(one, 1);
    expect(figure(third, 'capture', 'carried')).toBe(3);
    expect(figure(third, 'capture', 'confirmed')).toBe(3);
    await expectMoney(one.db, [first, second, third], await one.effects());
    // The second snapshot of a night that is over counts it as it is now.
    const again = await runOf(one, 1);
    expect(again.accounts).toEqual(third.accounts);
  });

  it('withdraws what waits once the ledger no longer asks for it', async () => {
    const one = await house({
      inLedger: kinds({ capture_due: 2 }),
      settings: { operations: { capture: 'approve', cancel: 'approve' } },
    });
    await runOf(one, 3);
    await one.db.query(
      `update ledger.orders set expected = 'cancelled', updated_at = now() where order_no = $1`,
      [one.seeded[0]?.ledger.order_no],
    );
    const second = await runOf(one, 2);
    expect(await instructionCounts(one.db)).toEqual({
      'cancel held': 1,
      'capture held': 1,
      'capture withdrawn': 1,
    });
    expect(figure(second, 'capture', 'carried')).toBe(2);
    expect(figure(second, 'capture', 'withdrawn')).toBe(1);
  });

  it('resolves a break that is gone and reopens one that is back', async () => {
    const one = await house({ inLedger: kinds({ state_mismatch: 2, amount_mismatch: 1 }) });
    const wrong = one.seeded.find(({ kind }) => kind === 'amount_mismatch');
    const orderNo = wrong?.ledger.order_no;
    const first = await runOf(one, 3);
    expect(tieOf(first)).toEqual([0, 3, 0, 0, 3]);

    await setAmount(one, orderNo, wrong?.gateway?.transactions[0]?.amount);
    const second = await runOf(one, 2);
    expect(tieOf(second)).toEqual([3, 0, 0, 1, 2]);
    expect(sumOrders(second, 'matched')).toBe(1);

    await setAmount(one, orderNo, wrong?.ledger.amount);
    const third = await runOf(one, 1);
    expect(tieOf(third)).toEqual([2, 0, 1, 0, 3]);
    expect(await openBreaksOf(one.db)).toContain(`${orderNo} amount_mismatch`);
    const { rows } = await one.db.query('select 1 from tieout.breaks where order_no = $1', [
      orderNo,
    ]);
    expect(rows.length).toBe(1);
  });

  it('keeps what it counted when the same date brings more work', async () => {
    const inLedger = kinds({ capture_due: 2, amount_mismatch: 1 });
    const one = await house({ inLedger, daysAgo: 1 });
    const [held] = one.seeded;
    await one.db.query(`update ledger.orders set expected = 'authorised' where order_no = $1`, [
      held?.ledger.order_no,
    ]);
    const first = await runOf(one, 1);
    const moved = await one.effects();
    expect(moved.length).toBe(held?.kind === 'capture_due' ? 1 : 2);
    await one.db.query(`update ledger.orders set expected = 'captured'`);
    const again = await runOf(one, 1);
    expect(figure(again, 'capture', 'confirmed')).toBe(2);
    expect((await one.effects()).slice(0, moved.length)).toEqual(moved);
    await expectMoney(one.db, [again], await one.effects());
    expect(again.covers).toEqual(first.covers);
  });

  it('covers and names the dates since the last finished run', async () => {
    const one = await house({ inLedger: kinds({ cancel_due: 1 }) });
    const first = await runOf(one, 3);
    expect(first.covers).toEqual([dateOf(3)]);
    const second = await runOf(one, 1);
    expect(second.covers).toEqual([dateOf(2), dateOf(1)]);
    expect(one.lines.join('\n')).toContain(`covers ${dateOf(2)}, ${dateOf(1)}`);
    // What comes later of any date that it covers is told to who signs it; none before is.
    const ids = one.accounts.map(({ accountId }) => accountId);
    for (const [orderNo, daysAgo] of [
      ['LATE-3', 3],
      ['LATE-2', 2],
      ['LATE-1', 1],
    ] as const) {
      await one.db.query(
        `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
         values ($1, $2, 'EUR', 5, 'authorised', $3)`,
        [ids[0], orderNo, `${dateOf(daysAgo)}T00:00:00Z`],
      );
    }
    // Both nights knew of one by the gateway alone, and saw another as it was before it changed:
    // each is of its own date, and the newer night tells of what changed since it looked apart.
    await one.db.query(
      `insert into tieout.asked_orders (pull_id, account_id, order_no, in_ledger, currency, amount,
         expected)
       select pull_id, account_id, order_no, in_ledger, currency, amount, expected
       from tieout.run_accounts cross join (values ('STRANGER', false, null, null, null),
         ('CHANGED', true, 'EUR', 5, 'authorised')) as o (order_no, in_ledger, currency, amount,
         expected)
       where account_id = $1`,
      [ids[0]],
    );
    await one.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       select $1, order_no, 'EUR', 6, 'authorised', $2
       from unnest(array['STRANGER', 'CHANGED']) as order_no`,
      [ids[0], `${dateOf(3)}T00:00:00Z`],
    );
    const since = await sinceNights(one.db, [dateOf(3), dateOf(1)], ids);
    const late = [dateOf(3), dateOf(1)].map((date) => sinceOfDay(since, ids[0] ?? '', date)?.late);
    const named = (...orders: string[]) => orders.map((orderNo) => ({ orderNo, refundId: null }));
    expect(late).toMatchObject([
      { orders: 3, earlier: 0, isPast: true, named: named('CHANGED', 'LATE-3', 'STRANGER') },
      { orders: 2, earlier: 1, isPast: false, named: named('CHANGED', 'LATE-1', 'LATE-2') },
    ]);
    // Eleven hours west of it the same morning is of the evening before.
    rewriteSettings(one, { schedule: { timezone: 'Pacific/Pago_Pago' } });
    const west = one.run({}, new Date(`${dateOf(0)}T04:15:00Z`));
    await expect(west).rejects.toThrow(
      new RegExp(`the last business date .* is ${dateOf(2)}, and ${dateOf(1)} was run already`),
    );
  });

  it('covers what no run has finished, where a copy of the middle of the first night came back', async () => {
    const one = await house({ inLedger: kinds({ cancel_due: 1 }) });
    await runOf(one, 3);
    await one.db.query(
      `update tieout.runs set state = 'running', finished_at = null, summary = null,
         runner_id = gen_random_uuid(), runner_host = 'gone', runner_boot = 'gone', runner_pid = 1,
         runner_started = 'gone', heartbeat_at = now() - interval '1 day'`,
    );
    const later = await runOf(one, 1);
    expect(later.covers).toEqual([dateOf(3), dateOf(2), dateOf(1)]);
  });

  it('does not look again at old matched orders, and does once the ledger changes them', async () => {
    const one = await house({
      inLedger: ({ ledger, kind }) => kind === 'plain' && ledger.expected === 'captured',
      settings: { reconcile: { lookbackDays: 1 } },
    });
    const first = await runOf(one, 3);
    const second = await runOf(one, 2);
    expect(second.pull.asked).toBeLessThan(first.pull.asked);
    const third = await runOf(one, 1);
    expect(third.pull.asked).toBe(0);
    await one.db.query(`update ledger.orders set expected = 'cancelled' where order_no = $1`, [
      one.seeded[0]?.ledger.order_no,
    ]);
    const again = await runOf(one, 1);
    expect(again.pull.asked).toBe(1);
    expect(sumOrders(again, 'broken')).toBe(1);
  });

  it('runs one account alone, and the others later on the same date', async () => {
    const one = await house({ inLedger: kinds({ capture_due: 4, cancel_due: 4 }) });
    const at = new Date(`${dateOf(2)}T04:15:00Z`);
    const alone = await one.run({ date: dateOf(3), accountIds: ['A1001'] }, at);
    expect(alone.summary.accounts.map((account) => account.accountId)).toEqual(['A1001']);
    expect(new Set((await one.effects()).map((effect) => effect.account_id))).toEqual(
      new Set(['A1001']),
    );
    const whole = await runOf(one, 3);
    expect(whole.accounts.map((account) => account.accountId)).toEqual(['A1001', 'A1002']);
    expect((await one.effects()).length).toBe(one.seeded.length);
    await expectMoney(one.db, [whole], await one.effects());
    const other = await one.run({ date: dateOf(3), accountIds: ['A1002'] }, at);
    expect(other.summary.accounts.map((account) => account.accountId)).toEqual(['A1001', 'A1002']);
    await expectIdentities(one.db, other.summary);
  });
});

describe('an account that must not send', () => {
  it('is only observed without liveFrom: due orders are held', async () => {
    const one = await house({ inLedger: kinds({ capture_due: 2 }) });
    rewriteSettings(one, { accounts: accountsWith(one, null) });
    const summary = await runOf(one, 1);
    expect(await one.effects()).toEqual([]);
    expect(await instructionCounts(one.db)).toEqual({ 'capture held': 2 });
    expect(one.lines.join('\n')).toContain('only observed');
    // No person is asked for what no approval frees.
    expect(runSentence(summary)).toMatch(/; 2 instructions held by a setting\.$/);
    const screen = { zone: 'UTC', hasColours: false };
    const printed = summaryLines(summary).map((line) => shownLine(line, screen));
    expect(printed.some((line) => /capture +\d held by a setting: no approval/.test(line))).toBe(
      true,
    );
    expect(printed.join('\n')).not.toContain('waiting for approval');
    // A run is worked out again by what was decided, not by why somebody waited then.
    const { config, version } = await one.open();
    const run = await newestRun(one.db);
    if (run === null) throw new Error('there is no run');
    const again = await verifyRun({ db: one.db, config, version, progress: () => {} }, run);
    expect(again.differences).toEqual([]);
  });

  it('is blocked on a database that knows no run of it, until liveFrom is set anew', async () => {
    const one = await house({ inLedger: kinds({ capture_due: 2 }) });
    rewriteSettings(one, { accounts: accountsWith(one, `${dateOf(9)}T00:00:00Z`) });
    await runOf(one, 2);
    expect(await one.effects()).toEqual([]);
    expect(one.lines.join('\n')).toContain('knows no earlier run');
    // Another night does not lift it by itself: a blocked run is no history.
    await runOf(one, 1);
    expect(await one.effects()).toEqual([]);
    rewriteSettings(one, { accounts: accountsWith(one, `${dateOf(1)}T00:00:00Z`) });
    await runOf(one, 1);
    expect((await one.effects()).length).toBe(2);
  });

  it.each([
    { what: 'before its look', lost: ', pull_id = null', again: 1, liveFrom: 9, isBlocked: true },
    { what: 'after its look', lost: '', again: 2, liveFrom: 9, isBlocked: true },
    { what: 'before its look', lost: ', pull_id = null', again: 1, liveFrom: 4, isBlocked: false },
  ])(
    'has no history by a run that died $what, where liveFrom is set back ($liveFrom days)',
    async ({ lost, again, liveFrom, isBlocked }) => {
      const one = await house({ inLedger: kinds({ plain: 1 }) });
      rewriteSettings(one, { accounts: accountsWith(one, `${dateOf(4)}T12:00:00Z`) });
      await runOf(one, 2);
      await one.db.query(
        `update tieout.run_accounts
         set acted_from = null, planned_by = null, weighed_by = null${lost}`,
      );
      rewriteSettings(one, { accounts: accountsWith(one, `${dateOf(liveFrom)}T12:00:00Z`) });
      await runOf(one, again);
      const said = one.lines.join('\n').includes('knows no earlier run');
      expect(said).toBe(isBlocked);
    },
  );

  it('is a history of its own when the first date is run again, also past the three days', async () => {
    const one = await house({ inLedger: kinds({ capture_due: 2 }) });
    const at = new Date(`${dateOf(0)}T04:15:00Z`);
    const hoursBefore = (hours: number) => new Date(at.getTime() - hours * 3_600_000).toISOString();
    rewriteSettings(one, { accounts: accountsWith(one, hoursBefore(71)) });
    await one.run({ date: dateOf(1) }, at);
    expect((await one.effects()).length).toBe(2);
    await one.run({ date: dateOf(1) }, new Date(at.getTime() + 2 * 3_600_000));
    expect(one.lines.join('\n')).not.toContain('knows no earlier run');
    const { rows } = await one.db.query<{ block: string | null }>(
      'select distinct send_block as block from tieout.run_accounts',
    );
    expect(rows).toEqual([{ block: null }]);
    expect((await one.effects()).length).toBe(2);
  });

  it('is not blocked for the nights after its first one was run again three days after liveFrom', async () => {
    const one = await house({ inLedger: kinds({ two_refunds_due: 1 }) });
    rewriteSettings(one, { accounts: accountsWith(one, `${dateOf(4)}T12:00:00Z`) });
    await runOf(one, 2);
    await one.run({ date: dateOf(2) }, new Date(`${dateOf(1)}T13:00:00Z`));
    await runOf(one, 1);
    expect(one.lines.join('\n')).not.toContain('knows no earlier run');
    expect((await one.effects()).length).toBe(2);
  });
});

function accountsWith(one: House, liveFrom: string | null): unknown[] {
  return one.accounts.map((account) => ({ ...account, liveFrom }));
}

async function setAmount(one: House, orderNo: string | undefined, amount?: string): Promise<void> {
  await one.db.query('update ledger.orders set amount = $2 where order_no = $1', [orderNo, amount]);
}

function figure(summary: RunSummary, operation: string, state: string): number {
  return summary.accounts.reduce(
    (sum, account) => sum + (account.instructions[operation]?.[state] ?? 0),
    0,
  );
}

/** openBefore, new, reopened, resolved, openAfter over all accounts. */
function tieOf(summary: RunSummary): number[] {
  const ties = summary.accounts.map((account) => account.tie);
  return (['openBefore', 'new', 'reopened', 'resolved', 'openAfter'] as const).map((name) =>
    ties.reduce((sum, tie) => sum + tie[name], 0),
  );
}
