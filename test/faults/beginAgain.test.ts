// A breaker is about a gateway that is not well. What our own dead process left in flight is not, and
// what a snapshot has shown to have happened stops nobody any more. Whole nights, in this process and
// by the built program that is killed, audited by what the gateway did.

import { afterEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { liftBreaker } from '../../src/send/liftBreaker.js';
import { ensureBuilt, startTieout, tieout } from '../support/cli.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, instructionCounts, kinds } from '../support/night.js';
import { noticesOf } from '../support/notices.js';
import type { Call, Front } from './front.js';
import { drop } from './front.js';
import { houseBehind } from './houseBehind.js';

const MINUTE_MS = 60_000;
/** In several batches. */
const CAPTURES = 130;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions = {}): Promise<{ house: House; front: Front }> {
  const found = await houseBehind({
    orders: 30_000,
    inLedger: kinds({ capture_due: CAPTURES }, 'A1001'),
    ...options,
  });
  cleanups.push(() => found.house.end());
  return found;
}

function entriesOf({ operation, body }: Call): number {
  if (operation !== 'capture') return 0;
  return (JSON.parse(body) as { capture_orders: unknown[] }).capture_orders.length;
}

async function sendingOf(house: House): Promise<unknown> {
  const { rows } = await house.db.query(
    `select sending, unclean_batches from tieout.run_accounts where account_id = 'A1001'`,
  );
  return rows[0];
}

/** Each order once, and none left out. */
async function expectAllOnce(house: House): Promise<void> {
  const captured = (await house.effects()).map((effect) => effect.order_no);
  expect(captured.length).toBe(CAPTURES);
  expect(new Set(captured).size).toBe(CAPTURES);
  expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': CAPTURES });
}

describe('a process that is killed with batches on their way', () => {
  it('does not stop its account: the next one goes on', { timeout: 3 * MINUTE_MS }, async () => {
    await ensureBuilt();
    const { house, front } = await houseOf();
    let held = 0;
    // Done by the gateway, and never answered: the line is there, the sender dies.
    front.trouble = async (call) => {
      if (entriesOf(call) < 2) return false;
      held += 1;
      await call.pass();
      return new Promise<boolean>(() => {});
    };
    const run = startTieout(['run'], { cwd: house.folder });
    await expect.poll(() => held).toBeGreaterThanOrEqual(2);
    run.signal('SIGKILL');
    await run.ended;
    front.trouble = () => false;
    const again = await tieout(['run', '--json'], { cwd: house.folder });
    expect(again.stderr).not.toMatch(/sending is stopped/);
    expect(again.code, again.stderr).toBe(0);
    const summary = JSON.parse(again.stdout) as RunSummary;
    expect(summary.state).toBe('tied_out');
    await expectAllOnce(house);
    expect(await sendingOf(house)).toEqual({ sending: 'open', unclean_batches: 0 });
  });

  it('as the canary lets another one go', { timeout: 3 * MINUTE_MS }, async () => {
    await ensureBuilt();
    const { house, front } = await houseOf();
    let held = 0;
    front.trouble = async (call) => {
      if (entriesOf(call) === 0) return false;
      held += 1;
      await call.pass();
      return new Promise<boolean>(() => {});
    };
    // Twice, so that two canaries in a row have nobody to tell of them.
    for (const deaths of [1, 2]) {
      const run = startTieout(['run'], { cwd: house.folder });
      await expect.poll(() => held).toBeGreaterThanOrEqual(deaths);
      run.signal('SIGKILL');
      await run.ended;
    }
    front.trouble = () => false;
    const again = await tieout(['run'], { cwd: house.folder });
    expect(again.code, again.stderr).toBe(0);
    await expectAllOnce(house);
  });
});

describe('an account that its breaker stopped', () => {
  it('begins again in the same run, once a snapshot showed that all of it happened', async () => {
    const { house, front } = await houseOf();
    const sizes: number[] = [];
    let lost = 0;
    front.trouble = async (call) => {
      const entries = entriesOf(call);
      if (entries === 0) return false;
      sizes.push(entries);
      if (lost >= 2) return false;
      lost += 1;
      await call.pass();
      return drop(call);
    };
    const { summary } = await house.run();
    // Two canaries whose answers were lost, then by itself a third one, and the rest.
    expect(sizes.slice(0, 3)).toEqual([1, 1, 1]);
    expect(sizes.slice(3).every((size) => size > 1)).toBe(true);
    expect(summary.state).toBe('tied_out');
    await expectAllOnce(house);
    const counted = summary.accounts.find(({ accountId }) => accountId === 'A1001');
    expect(counted?.instructions).toMatchObject({ capture: { confirmed: CAPTURES } });
    const { rows } = await house.db.query('select kind, is_on, by from tieout.brakes order by seq');
    expect(rows).toEqual([{ kind: 'breaker', is_on: false, by: 'tieout' }]);
    expect(house.lines.join('\n')).toMatch(/account A1001: .*begins again with a canary of one/);
  });

  it('begins again so often in one run and no more', async () => {
    const { house, front } = await houseOf();
    const sizes: number[] = [];
    front.trouble = async (call) => {
      const entries = entriesOf(call);
      if (entries === 0) return false;
      sizes.push(entries);
      await call.pass();
      return drop(call);
    };
    const { summary } = await house.run();
    expect(sizes).toEqual(Array(8).fill(1));
    expect(summary.state).toBe('incomplete');
    expect(noticesOf(summary).map(({ text }) => text)).toEqual([
      expect.stringContaining('tieout brake off --account A1001 --reason TEXT'),
    ]);
  });

  it('stays stopped while one of them did not happen, and says the command', async () => {
    await ensureBuilt();
    const { house, front } = await houseOf();
    let sent = 0;
    front.trouble = async (call) => {
      if (entriesOf(call) === 0) return false;
      sent += 1;
      if (sent === 1) await call.pass();
      return drop(call);
    };
    await house.run();
    expect(sent).toBe(2);
    expect(await sendingOf(house)).toMatchObject({ sending: 'stopped' });
    const command = 'tieout brake off --account A1001 --reason TEXT';
    for (const words of [['status'], ['brake', 'status']]) {
      const { stdout } = await tieout(words, { cwd: house.folder });
      expect(stdout, words.join(' ')).toContain(command);
    }
    const off = await tieout(['brake', 'off', '--reason', 'looked into'], { cwd: house.folder });
    expect(off.code, off.stdout).toBe(1);
    expect(off.stdout).not.toMatch(/Nothing was on/);
    expect(off.stdout).toContain(command);
    const right = ['brake', 'off', '--account', 'A1001', '--reason', 'looked into'];
    expect(await tieout(right, { cwd: house.folder })).toMatchObject({ code: 0 });
    expect(await sendingOf(house)).toEqual({ sending: 'untried', unclean_batches: 0 });
  });
});

describe('an account that begins again', () => {
  it('stays stopped where the word that lets it go cannot be written', async () => {
    const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
    cleanups.push(() => house.end());
    await house.run();
    await house.db.query(
      `update tieout.run_accounts set sending = 'stopped', sending_reason = '2 batches in a row',
         unclean_batches = 2 where account_id = 'A1001'`,
    );
    await house.db.query(
      `insert into tieout.instruction_events (instruction_id, from_state, to_state, at, by)
       select instruction_id, 'sending', 'unknown', now(), 'tieout' from tieout.instructions`,
    );
    await house.db.query(
      `create function tieout.none() returns trigger language plpgsql as
         $$ begin raise exception 'the server went away'; end $$;
       create trigger none before insert on tieout.brakes execute function tieout.none()`,
    );
    const deps = { db: house.db, log: () => {} };
    await expect(liftBreaker(deps, ['A1001'])).rejects.toThrow('the server went away');
    expect(await sendingOf(house)).toEqual({ sending: 'stopped', unclean_batches: 2 });
    await house.db.query('drop trigger none on tieout.brakes');
    expect(await liftBreaker(deps, ['A1001'])).toEqual(['A1001']);
    const { rows } = await house.db.query(`select kind, is_on, reason from tieout.brakes`);
    expect(rows).toEqual([
      { kind: 'breaker', is_on: false, reason: expect.stringContaining('(2 batches in a row)') },
    ]);
  }, 120_000);
});
