// What stops the sending of an account: its canary, its breaker, and the brake that a person pulls.
// Whole nights through a server that loses answers; the brake by the built program as well.

import { afterEach, describe, expect, it } from 'vitest';
import { runSentence } from '../../src/core/runs/summary.js';
import { reevaluate } from '../../src/night/reevaluateJob.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import type { House, HouseOptions } from '../support/night.js';
import { dateOf, instructionCounts, kinds } from '../support/night.js';
import { noticesOf } from '../support/notices.js';
import type { Call, Front } from './front.js';
import { drop } from './front.js';
import { houseBehind } from './houseBehind.js';
import { forgetRunner } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Watched {
  house: House;
  front: Front;
  /** How many captures each request carried, in the order in which they came. */
  sizes: number[];
  /** What happens to requests of money that the gateway did not get. */
  lose(when: (entries: number) => boolean): void;
}

async function watchedHouse(captures: number, options: HouseOptions = {}): Promise<Watched> {
  const { house, front } = await houseBehind({
    orders: 9_000,
    inLedger: kinds({ capture_due: captures }, 'A1001'),
    ...options,
  });
  cleanups.push(() => house.end());
  const sizes: number[] = [];
  const entriesOf = ({ body }: Call): number =>
    (JSON.parse(body) as { capture_orders: unknown[] }).capture_orders.length;
  const lose = (when: (entries: number) => boolean): void => {
    front.trouble = (call) => {
      if (call.operation !== 'capture') return false;
      sizes.push(entriesOf(call));
      return when(entriesOf(call)) && drop(call);
    };
  };
  lose(() => false);
  return { house, front, sizes, lose };
}

const at = (daysAgo: number): Date => new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);

describe('the first batch of an account and run', () => {
  it('is a canary of one; the rest follows once its answer was understood', async () => {
    const { house, sizes } = await watchedHouse(5);
    const { summary } = await house.run();
    expect(sizes).toEqual([1, 4]);
    expect(summary.state).toBe('tied_out');
    expect((await house.effects()).length).toBe(5);
  });

  it('keeps the rest back when its answer is lost, and so does the next one', async () => {
    const { house, sizes, lose } = await watchedHouse(5, { daysAgo: 2 });
    lose(() => true);
    const { summary } = await house.run({ date: dateOf(2) }, at(2));
    expect(sizes).toEqual([1, 1]);
    expect(summary.state).toBe('incomplete');
    expect(await instructionCounts(house.db)).toEqual({
      'capture queued': 3,
      'capture unknown': 2,
    });
    expect(house.lines.join('\n')).toMatch(
      /account A1001: 1 batch\(es\) stay queued: sending is stopped for account A1001 for the rest/,
    );
    // One line at night says why, and what to type.
    const why = 'for account A1001 for the rest of the run: 2 batches in a row had entries .*';
    const typed = 'to resume: tieout brake off --account A1001 --reason TEXT';
    expect(runSentence(summary)).toMatch(
      new RegExp(
        `3 instructions not sent yet and 2 .*; sending is stopped ${why} \\(.+\\); ${typed}\\.$`,
      ),
    );
    expect(noticesOf(summary).map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /^sending is stopped for account A1001 for the rest .*; 3 instructions wait$/,
      ),
    ]);
    // The same run again sends nothing more; the next one begins with a canary.
    lose(() => false);
    await house.run({ date: dateOf(2) }, at(2));
    expect(sizes).toEqual([1, 1]);
    await house.run({ date: dateOf(1) }, at(1));
    expect(sizes).toEqual([1, 1, 1, 2]);
    expect((await house.effects()).length).toBe(3);
  });

  it('does not count when no byte left', async () => {
    const { house, front, sizes } = await watchedHouse(3);
    front.refuse();
    await expect(house.run()).resolves.toMatchObject({ summary: { state: 'incomplete' } });
    await front.accept();
    await house.run();
    expect(sizes).toEqual([1, 2]);
    expect(await house.db.query('select unclean_batches from tieout.run_accounts')).toMatchObject({
      rows: expect.arrayContaining([{ unclean_batches: 0 }]),
    });
  });
});

describe('two batches in a row with an unknown entry', () => {
  it('stop the account, though its canary came back well; others go on', async () => {
    const { house, sizes, lose } = await watchedHouse(0, {
      orders: 30_000,
      inLedger: (() => {
        const first = kinds({ capture_due: 130 }, 'A1001');
        const second = kinds({ capture_due: 2 }, 'A1002');
        return (order) => first(order) || second(order);
      })(),
    });
    const { rows } = await house.db.query('select 1 from ledger.orders');
    expect(rows.length).toBe(132);
    lose((entries) => entries > 2);
    const { summary } = await house.run();
    // Up to as many as are on their way at once may be lost before the second one is known.
    expect(sizes.filter((size) => size > 2).length).toBeGreaterThanOrEqual(2);
    expect(summary.accounts.map((account) => account.state)).toEqual(['incomplete', 'tied_out']);
    const { rows: states } = await house.db.query(
      'select account_id, sending from tieout.run_accounts order by account_id',
    );
    expect(states).toEqual([
      { account_id: 'A1001', sending: 'stopped' },
      { account_id: 'A1002', sending: 'open' },
    ]);
  });

  it('are forgotten when one between them was understood', async () => {
    const { house, sizes, lose } = await watchedHouse(5);
    let lost = 0;
    lose(() => {
      lost += 1;
      return lost !== 2;
    });
    await house.run();
    // Lost, understood, lost: the account is not stopped by that.
    expect(sizes).toEqual([1, 1, 3]);
    const { rows } = await house.db.query(
      `select sending, unclean_batches from tieout.run_accounts where account_id = 'A1001'`,
    );
    expect(rows).toEqual([{ sending: 'open', unclean_batches: 1 }]);
  });
});

const STANDING =
  'sending is stopped for all accounts by a person; to resume: tieout brake off --reason TEXT';

describe('the brake', () => {
  it('stops all sending until it is let go; looks go on', { timeout: 120_000 }, async () => {
    await ensureBuilt();
    const schedule = { cron: '* * * * *', timezone: 'UTC', cutOff: '00:00', resumeUntil: '23:59' };
    const { house, front, sizes } = await watchedHouse(3, { settings: { schedule } });
    const brake = (...words: string[]) =>
      tieout(['brake', ...words, '--json'], { cwd: house.folder });
    const on = await brake('on', '--reason', 'the acquirer called', '--as', 'Kim');
    expect(on.code, on.stderr).toBe(0);
    expect(JSON.parse(on.stdout)).toMatchObject({ kind: 'on', underWay: 0 });
    const { summary } = await house.run();
    expect(summary.state).toBe('incomplete');
    expect(sizes).toEqual([]);
    expect(front.asked.get('retrievalTrans')).toBeGreaterThan(0);
    expect(house.lines.join('\n')).toMatch(
      /stay queued: sending is stopped for all accounts since .* \(Kim: the acquirer called\)/,
    );
    expect(noticesOf(summary)).toEqual([
      {
        accountId: 'A1001',
        kind: 'not_sent',
        about: 'sending is stopped for all accounts',
        text: expect.stringMatching(
          /^sending is stopped for all .*called\); to .*: tieout brake off --reason TEXT; 3 .*t$/,
        ),
        standing: STANDING,
      },
      expect.objectContaining({ text: expect.stringMatching(/nothing waits for it now$/) }),
    ]);
    expect(runSentence(summary)).toMatch(/incomplete: 3 instructions not sent yet; /);
    expect(runSentence(summary).endsWith(`; ${STANDING}.`)).toBe(true);
    const status = await tieout(['status', '--json'], { cwd: house.folder });
    expect(JSON.parse(status.stdout).stops).toEqual(
      noticesOf(summary).map(({ accountId, text }) => ({ accountId, text })),
    );
    // As it is now, whatever the newest run said at its end.
    expect(JSON.parse(status.stdout).now).toEqual({
      ...{ held: 0, unknown: 0, underWay: 3, pendingPayouts: 0 },
    });
    await house.db.query(`update tieout.instructions set state = 'held', hold_reason = 'approval'
      where instruction_id = (select min(instruction_id) from tieout.instructions)`);
    const shown = (await tieout(['status'], { cwd: house.folder })).stdout;
    expect(shown).toContain('Instructions now: 1 waiting for approval, 2 waiting to be sent.');
    // To run the date again, or to be resumed, does not lift the stop.
    expect(shown).toMatch(/^(It is resumed|By itself) .*\. It does not send what the stop below/m);
    const waiting = await house.db.query<{ id: string }>(
      `select max(batch_id)::text as id from tieout.batches where state = 'queued'`,
    );
    const retried = await reevaluate(await house.open(), 'capture', waiting.rows[0]?.id ?? '');
    expect(retried.words).toMatch(
      /was not sent, and is not yet: sending is stopped for all accounts/,
    );
    const { stdout } = await brake('status');
    expect(JSON.parse(stdout)).toMatchObject({
      brakes: [{ kind: 'brake', accountId: null, by: 'Kim', reason: 'the acquirer called' }],
      accounts: [{ accountId: 'A1001', sends: false }, { accountId: 'A1002' }],
    });
    const off = await tieout(['brake', 'off', '--as', 'Lee'], { cwd: house.folder });
    expect(off.stdout).toMatch(/^Lifted: the stop for all accounts since .*\n2 instr.* wait to be/);
    expect(off.stdout).toContain(
      '`tieout send` sends what was approved, and the next run the rest',
    );
    await forgetRunner(house);
    await house.run();
    expect(sizes).toEqual([1, 2]);
    const { rows } = await house.db.query(
      'select kind, is_on, by, is_claim, reason from tieout.brakes order by seq',
    );
    expect(rows).toEqual([
      { kind: 'brake', is_on: true, by: 'Kim', is_claim: true, reason: 'the acquirer called' },
      { kind: 'brake', is_on: false, by: 'Lee', is_claim: true, reason: 'no reason given' },
    ]);
    await expect(house.db.query('delete from tieout.brakes')).rejects.toThrow(/history/);
    // A breaker is lifted by the name of its account; without one it is named, not passed over.
    await house.db.query(
      `update tieout.run_accounts set sending = 'stopped', sending_reason = 'the breaker stopped it'
       where account_id = 'A1001'`,
    );
    const without = await brake('off', '--reason', 'looked into');
    expect(without.code).toBe(1);
    expect(JSON.parse(without.stdout)).toMatchObject({
      lifted: [],
      stopped: [{ accountId: 'A1001', words: expect.stringContaining('for the rest of the run') }],
    });
  });

  it('of one account leaves the others alone, and may be pulled in mid-run', async () => {
    const { house, sizes, front } = await watchedHouse(0, {
      inLedger: (() => {
        const first = kinds({ capture_due: 3 }, 'A1001');
        const second = kinds({ capture_due: 3 }, 'A1002');
        return (order) => first(order) || second(order);
      })(),
    });
    // Pulled while the canary of the account is on its way.
    front.trouble = async (call) => {
      if (call.operation !== 'capture') return false;
      if (call.body.includes('"A1001"')) {
        sizes.push(1);
        await house.db.query(
          `insert into tieout.brakes (kind, account_id, is_on, reason, by, is_claim)
           values ('brake', 'A1001', true, 'odd', 'Kim', true)`,
        );
      }
      return false;
    };
    const { summary } = await house.run();
    expect(sizes).toEqual([1]);
    expect(summary.accounts.map((account) => account.state)).toEqual(['incomplete', 'tied_out']);
    expect((await house.effects()).map((effect) => effect.account_id).sort()).toEqual([
      'A1001',
      'A1002',
      'A1002',
      'A1002',
    ]);
  });
});
