// A process that is stopped in its tracks (SIGSTOP, as Ctrl-Z or a paused machine does) inside a
// transaction keeps no other one from its work: the server ends its session, and when it wakes it
// says so. The built program, stopped at a moment that a trigger in the database holds open.

import { afterEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import type { Running } from '../support/cli.js';
import { startTieout, tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function houseOf(): Promise<SeparateHouse> {
  const house = await buildSeparateHouse({ orders: 300, seed: 7 });
  cleanups.push(() => house.end());
  return house;
}

/** Stops the process while the server works for it, inside a transaction that holds much. */
async function stopAsleep(house: SeparateHouse, run: Running): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await house.db.query(
        `select from pg_stat_activity where datname = current_database()
           and wait_event = 'PgSleep'`,
      );
      return rowCount;
    })
    .toBeGreaterThan(0);
  run.signal('SIGSTOP');
  cleanups.push(async () => {
    run.signal('SIGCONT');
    await run.ended;
  });
}

/** Every dry run rests for so long with all in its hands that a plan writes. */
async function dryRunsRest(house: SeparateHouse, seconds: number): Promise<void> {
  await house.db.query(`
    create function public.rest() returns trigger language plpgsql as $$
    begin
      if exists (select from added join tieout.runs using (run_id) where is_dry) then
        perform pg_sleep(${seconds});
      end if;
      return null;
    end $$;
    create trigger rest after insert on tieout.instructions
      referencing new table as added for each statement execute function public.rest()`);
}

const FOR_GOOD = 86_400;

describe('a dry run', () => {
  it.each([
    ['in its transaction', 2],
    ['in a statement that does not end', FOR_GOOD],
  ])(
    'that is stopped %s does not hold up the real night',
    { timeout: 4 * MINUTE_MS },
    async (_, seconds) => {
      const house = await houseOf();
      await dryRunsRest(house, seconds);
      const dry = startTieout(['run', '--dry-run'], { cwd: house.folder });
      await stopAsleep(house, dry);
      const real = await tieout(['run', '--json'], { cwd: house.folder });
      expect([0, 3], real.stderr).toContain(real.code);
      const summary = JSON.parse(real.stdout) as RunSummary;
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      expect(summary.state).not.toBe('failed');
      expect((await house.effects()).length).toBeGreaterThan(0);
      dry.signal('SIGCONT');
      const { code, stderr } = await dry.ended;
      expect(code).toBe(1);
      // Whichever it meets first: it was ended, or its run is another's by now.
      expect(stderr).toMatch(
        /the dry run has ended|in which this process had said nothing|this dry run was silent/,
      );
    },
  );

  it('keeps no number to itself, and goes where it is in the way', {
    timeout: 4 * MINUTE_MS,
  }, async () => {
    const house = await houseOf();
    await dryRunsRest(house, FOR_GOOD);
    const dry = startTieout(['run', '--dry-run'], { cwd: house.folder });
    await expect
      .poll(
        async () =>
          (
            await house.db.query(
              "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
            )
          ).rowCount,
      )
      .toBe(1);
    const held = await house.db.query(
      `select relation::regclass::text as name, mode from pg_locks
       join pg_class c on c.oid = relation and c.relkind = 'S'
       where mode <> 'RowExclusiveLock' and mode <> 'AccessShareLock'`,
    );
    expect(held.rows).toEqual([]);
    expect(dry.pid).toBeGreaterThan(0);
    // Somebody who is no night: it needs an order's place, which the dry run has taken.
    await house.db.transaction(async (tx) => {
      await tx.query("set local lock_timeout = '60s'");
      await tx.query('lock table tieout.instructions in share mode');
    });
    const { code, stderr } = await dry.ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('run it again when they are through'),
    ]);
    expect(stderr).not.toContain('the database is away');
    const { rows } = await house.db.query('select from tieout.runs');
    expect(rows).toEqual([]);
  });
});

describe('a sender that is stopped in its claim', () => {
  it('holds up no other one, and has sent nothing', { timeout: 4 * MINUTE_MS }, async () => {
    const house = await houseOf();
    await house.db.query(`
      create table public.rested (pid int);
      create function public.rest() returns trigger language plpgsql as $$
      begin
        -- Also the claim of the other account, should it come at the same time: none is committed.
        if not exists (select from public.rested) then
          insert into public.rested values (pg_backend_pid());
          perform pg_sleep(2);
        end if;
        return new;
      end $$;
      create trigger rest before insert on tieout.attempts
        for each row execute function public.rest()`);
    const first = startTieout(['run'], { cwd: house.folder });
    await stopAsleep(house, first);
    // Rolled back with the claim, so that the next claim would rest again.
    await house.db.query('insert into public.rested values (0)');
    // Its machine is gone, as far as anybody can tell: the next one takes the night over.
    await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
    const second = await tieout(['run', '--json'], { cwd: house.folder });
    expect([0, 3], second.stderr).toContain(second.code);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
    first.signal('SIGCONT');
    await first.ended;
    const effects = await house.effects();
    expect(new Set(effects.map((one) => `${one.operation} ${one.transaction_id}`)).size).toBe(
      effects.length,
    );
    expect(await auditRun(house.db, effects)).toEqual([]);
  });
});
