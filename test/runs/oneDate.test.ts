// One business date is worked on at a time, in the whole installation, and who joins a run gets an
// answer about the accounts that he asked for. Two starters, real nights, one database.

import { afterEach, describe, expect, it } from 'vitest';
import { LEFT } from '../../src/core/errors.js';
import type { RunResult } from '../../src/night/run.js';
import { takeRun } from '../../src/runs/leaseStore.js';
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

describe('a date since which later ones were run', () => {
  /** What the run of the date has on record. */
  async function bookOf(daysAgo: number): Promise<unknown> {
    const run = await findRun(house.db, dateOf(daysAgo));
    const { rows } = await house.db.query(
      `select to_jsonb(ra) as account, (select jsonb_agg(to_jsonb(v) order by order_no)
         from tieout.verdicts v where v.run_id = ra.run_id and v.account_id = ra.account_id) as seen
       from tieout.run_accounts ra where run_id = $1 order by account_id`,
      [run?.runId],
    );
    return [run?.state, run?.finishedAt, run?.summary, rows];
  }

  async function nightsOf(accountIds: string[], dates: readonly number[]): Promise<void> {
    for (const date of dates) {
      const at = new Date(`${dateOf(date - 1)}T04:15:00Z`);
      await house.run({ date: dateOf(date), accountIds }, at);
    }
  }

  it('takes no account in: those that were run since keep their figures', async () => {
    house = await buildHouse({
      daysAgo: 4,
      orders: 200,
      inLedger: ({ kind }) => ['amount_mismatch', 'capture_due'].includes(kind),
    });
    await nightsOf(['A1001'], [4]);
    // What differs by then is in order when the next date is run.
    await house.db.query(`update ledger.orders set expected = 'authorised'`);
    await nightsOf(['A1001'], [2]);
    const before = await bookOf(4);
    const joins = house.run({ date: dateOf(4), accountIds: ['A1002'] });
    await expect(joins).rejects.toThrow(
      `--date ${dateOf(4)}: ${dateOf(2)} was run since, and A1002 is not in the run of this date`,
    );
    const dry = house.run({ date: dateOf(4), accountIds: ['A1002'], isDry: true });
    await expect(dry).rejects.toThrow('is not in the run of this date');
    expect(await bookOf(4)).toEqual(before);
    // Nor once it has been run itself; without a name the older date is shown as it is.
    await nightsOf(['A1001', 'A1002'], [1]);
    const late = house.run({ date: dateOf(4), accountIds: ['A1001', 'A1002'] });
    await expect(late).rejects.toThrow(`${dateOf(1)} was run since, and A1002 is not in`);
    expect((await house.run({ date: dateOf(4) })).kind).toBe('shown');
    expect((await house.run({ date: dateOf(4), accountIds: ['A1001'] })).kind).toBe('shown');
    expect(await bookOf(4)).toEqual(before);
  });

  it('is run for an account of which no other was run on it', async () => {
    house = await buildHouse({ daysAgo: 4, orders: 60 });
    await nightsOf(['A1001'], [2]);
    const alone = await house.run({ date: dateOf(4), accountIds: ['A1002'] });
    expect([alone.kind, lookedAt(alone)]).toEqual(['ran', ['A1002']]);
    const again = await house.run({ date: dateOf(4), accountIds: ['A1002'] });
    expect([again.kind, lookedAt(again)]).toEqual(['resumed', ['A1002']]);
  });

  it('is not taken over by who asked before the later one was run', async () => {
    house = await buildHouse({ daysAgo: 4, orders: 60 });
    await nightsOf(['A1001'], [4, 2]);
    const run = await findRun(house.db, dateOf(4));
    const { runner, config, version } = await (await house.open()).sendDeps();
    const taking = {
      runner,
      accountIds: ['A1002'],
      settings: {},
      settingsSha256: '',
      version,
      environment: config.environment,
      waitsForGateway: false,
    };
    expect(await takeRun(house.db, run?.runId ?? 0n, null, taking)).toBe(false);
    expect(await held()).toBeNull();
  });
});
