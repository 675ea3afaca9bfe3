// One business date is worked on at a time, in the whole installation, and who joins a run gets an
// answer about the accounts that he asked for. Two starters, real nights, one database.

import { afterEach, describe, expect, it } from 'vitest';
import { LEFT } from '../../src/core/errors.js';
import type { RunResult } from '../../src/night/run.js';
import { findRun, heldRun } from '../../src/runs/runsStore.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';
import { gateAt } from '../support/steps.js';

let house: House;
afterEach(() => house.end());

const lookedAt = ({ summary }: RunResult): string[] =>
  summary.accounts.filter(({ orders }) => orders.gateway > 0).map(({ accountId }) => accountId);

async function held(): Promise<string | null> {
  return (await heldRun(house.db))?.businessDate ?? null;
}

describe('a run of one account, while another account of the date is worked on', () => {
  it('waits for it, and then does its own in the same run', async () => {
    house = await buildHouse({ orders: 200 });
    const gate = await gateAt(house.connection, 'compare');
    const first = house.run({ accountIds: ['A1001'] });
    await gate.reached();
    const second = house.run({ accountIds: ['A1002'] });
    await expect.poll(() => house.lines.join('\n')).toMatch(/one date is worked on at a time/);
    await gate.open();
    expect(lookedAt(await first)).toEqual(['A1001']);
    const answer = await second;
    expect(answer.kind).toBe('resumed');
    expect(lookedAt(answer)).toEqual(['A1001', 'A1002']);
  });

  it('joins where all that it asks for is worked on', async () => {
    house = await buildHouse({ orders: 200 });
    const gate = await gateAt(house.connection, 'compare');
    const first = house.run();
    await gate.reached();
    const second = house.run({ accountIds: ['A1002'] });
    await expect.poll(() => house.lines.join('\n')).toMatch(/joins and waits/);
    await gate.open();
    expect((await second).summary).toEqual((await first).summary);
  });
});

describe('a run of a date, while another date is worked on', () => {
  it('waits for its end', async () => {
    house = await buildHouse({ orders: 200, daysAgo: 2 });
    const gate = await gateAt(house.connection, 'compare');
    const older = house.run({ date: dateOf(2), accountIds: ['A1001'] });
    await gate.reached();
    const newer = house.run({ date: dateOf(1), accountIds: ['A1002'] });
    await expect.poll(() => house.lines.join('\n')).toMatch(/one date is worked on at a time/);
    expect(await held()).toBe(dateOf(2));
    await gate.open();
    await older;
    expect((await newer).summary.businessDate).toBe(dateOf(1));
    expect(await held()).toBeNull();
  });

  it('is refused by the database, too', async () => {
    house = await buildHouse({ orders: 20, daysAgo: 2 });
    await house.run({ date: dateOf(2) });
    await house.run({ date: dateOf(1) });
    const both = `update tieout.runs set state = 'running', runner_id = gen_random_uuid()`;
    await expect(house.db.query(both)).rejects.toThrow('run_holders_one_date');
  });

  it('goes on at once where nobody works on the other one any more', async () => {
    house = await buildHouse({ orders: 200, daysAgo: 2 });
    await house.run({ date: dateOf(2) });
    await house.db.query(
      `update tieout.runs set state = 'running', runner_id = gen_random_uuid(),
         heartbeat_at = clock_timestamp() - interval '1 minute'`,
    );
    expect((await house.run({ date: dateOf(1) })).kind).toBe('ran');
    expect(await held()).toBeNull();
    expect((await findRun(house.db, dateOf(2)))?.failure).toBe(LEFT);
  });
});

it('a clock that is days behind begins no night, and shows no old one as if it were done', async () => {
  house = await buildHouse({ orders: 60, daysAgo: 4 });
  await house.run({ date: dateOf(4) });
  await house.run({ date: dateOf(2) });
  // As the cron of a machine that slept: the night of yesterday is owed.
  const behind = new Date(`${dateOf(3)}T04:15:00Z`);
  const off = `behind the database's: set the one that is wrong; by that of the database business`;
  await expect(house.run({}, behind)).rejects.toThrow(`${off} date ${dateOf(1)} has ended`);
  const asked = await house.run({ date: dateOf(4) }, behind);
  expect([asked.kind, asked.summary.businessDate]).toEqual(['shown', dateOf(4)]);
});
