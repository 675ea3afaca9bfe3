// What is settled stands in the figures of exactly one night: also where a person decides while they
// are added up, and where the night that settled it never came to its figures.

import { afterEach, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { expectIdentities, expectMoney } from '../support/identities.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds } from '../support/night.js';

let house: House;
afterEach(() => house.end());

const openHouse = async (options: HouseOptions): Promise<void> => {
  house = await buildHouse({ orders: 300, daysAgo: 3, ...options });
};

async function night(daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

/** What is done when a run is about to add up, in its transaction. */
const beforeTheSums = (body: string): Promise<unknown> =>
  house.db.query(`
    create function public.before_sums() returns trigger language plpgsql as $$
    begin
      if new.kind = 'total' then ${body} end if;
      return new;
    end $$;
    create trigger before_sums before insert on tieout.workings
      for each row execute function public.before_sums()`);

const KEY = 4711;

it('a decision waits while a run adds up, and counts in the next night', async () => {
  await openHouse({
    inLedger: kinds({ partial_refund_due: 1 }),
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
  });
  await beforeTheSums(`perform pg_advisory_xact_lock(${KEY});`);
  const { rows: before } = await house.db.query('select from tieout.runs');
  expect(before).toEqual([]);
  let decided: Promise<unknown> = Promise.resolve();
  let running: Promise<RunSummary> = night(3);
  await house.db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [KEY]);
    await expect.poll(() => waitsFor('advisory'), { timeout: 60_000 }).toBe(true);
    decided = resolveAll();
    // Not before the figures: whoever decides waits for them.
    await expect.poll(() => waitsFor('relation'), { timeout: 60_000 }).toBe(true);
  });
  const first = await running;
  await decided;
  expect(await instructionCounts(house.db)).toEqual({ 'refund confirmed': 1 });
  running = night(2);
  await expectMoney(house.db, [first, await running], await house.effects());
  const [account] = first.accounts.filter(({ totals }) =>
    totals.some((one) => one.unknown !== '0.00'),
  );
  expect(account?.totals).toMatchObject([{ refunded: '0.00' }]);
});

async function waitsFor(locktype: string): Promise<boolean> {
  const { rowCount } = await house.db.query(
    `select from pg_locks where not granted and locktype = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [locktype],
  );
  return (rowCount ?? 0) > 0;
}

async function resolveAll(): Promise<void> {
  const { rows } = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where state = 'unknown'`,
  );
  const { config, db } = await house.open();
  const queuePort = { enqueue: async () => {} };
  const deps = { config, db, queuePort, now: () => new Date() };
  await decideInstructions(
    { ...deps, log: () => {} },
    {
      ids: rows.map(({ id }) => id),
      decision: { kind: 'resolve', finding: 'happened', reason: 'seen', reference: 'P-1' },
      who: { name: 'anna', isClaim: true },
    },
  );
}

it('what a night confirmed that never came to its figures counts in the night that covers it', async () => {
  await openHouse({ inLedger: kinds({ capture_due: 3, full_refund_due: 1 }) });
  await beforeTheSums(`raise exception 'the disk is full';`);
  await expect(night(3)).rejects.toThrow('the disk is full');
  expect(await instructionCounts(house.db)).toEqual({
    'capture confirmed': 3,
    'refund confirmed': 1,
  });
  await house.db.query('drop trigger before_sums on tieout.workings');
  const second = await night(2);
  expect(second.covers).toEqual([dateOf(3), dateOf(2)]);
  await expectIdentities(house.db, second);
  await expectMoney(house.db, [second], await house.effects());
  // Once: the next one says nothing of it.
  await expectMoney(house.db, [second, await night(1)], await house.effects());
});
