// What the clock does with a night: begins the one that is owed, once, however many clocks there
// are; resumes it until the schedule says enough; goes on with one whose process is gone. The
// clocks of both sides are moved, the rest is real.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localTicksOf } from '../../jobs/clock.js';
import { STOPPED } from '../../src/core/errors.js';
import { owedSentence } from '../../src/core/runs/owed.js';
import type { ScheduleDeps } from '../../src/night/owedRun.js';
import { readSchedule, workOnOwed } from '../../src/night/owedRun.js';
import { pullChunk } from '../../src/pull/pullChunk.js';
import { askAgain } from '../../src/runs/runsStore.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { Front } from '../faults/front.js';
import { drop } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { MovedClock } from '../support/movedClock.js';
import { moveClock } from '../support/movedClock.js';
import type { House } from '../support/night.js';
import { kinds, rewriteSettings } from '../support/night.js';

const STAY = { start: async () => {}, stop: async () => {} };

let house: House;
let front: Front;
let clock: MovedClock;
let stopWorkers: () => Promise<void>;
let deps: SendDeps & ScheduleDeps;

const TOLD = {
  ...{ webhook: 'https://hook.example/', webhookKey: null, deadMansSwitch: null },
  ...{ security: false, heads: false },
};

const BERLIN = {
  cron: '30 2 * * *',
  timezone: 'Europe/Berlin',
  cutOff: '00:00',
  resumeUntil: '06:30',
};

beforeAll(async () => {
  ({ house, front } = await houseBehind({
    orders: 200,
    inLedger: kinds({ plain: 4, capture_due: 1 }),
    settings: { schedule: BERLIN, operations: { capture: 'approve' } },
  }));
  clock = await moveClock(house.db);
  rewriteSettings(house, {
    accounts: house.accounts.map((account) => ({ ...account, liveFrom: null })),
  });
  const app = await house.open(() => clock.now());
  const workforce = await app.workforce();
  await workforce.start();
  stopWorkers = workforce.stop;
  const night = await app.sendDeps();
  await house.db.query(`update ledger.orders set placed_at = '2026-03-27 12:00:00+00'`);
  deps = { ...night, sleep: async () => {}, localTicks: localTicksOf(BERLIN.cron) };
  // Pages that fail are asked again without a pause.
  const { enqueue } = night.queuePort;
  deps.queuePort = {
    enqueue: async (queue, ids) => {
      if (queue !== 'pull') return enqueue(queue, ids);
      for (const id of ids) await pullChunk(deps, BigInt(id));
    },
  };
});

afterAll(async () => {
  await stopWorkers();
  await house.end();
});

async function ends(): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select business_date || ' ' || e.state as what from tieout.run_ends e
     join tieout.runs using (run_id) order by end_id`,
  );
  return rows.map(({ what }) => what);
}

const owed = async () => (await readSchedule(deps)).owed;
const workOf = async (of: typeof deps) => workOnOwed(of, STAY, await readSchedule(of));
const look = () => workOf(deps);

describe('the clock', () => {
  it('owes nothing from before the installation', async () => {
    await clock.set('2026-03-20T12:00:00Z');
    expect(await owed()).toEqual({ kind: 'nothing' });
    expect(await look()).toBe(null);
  });

  it('makes one run when many fire at once, and none when they fire again', async () => {
    // The hour of the tick is skipped this night: it begins as much later.
    await house.db.query(`update tieout_meta.checksums set recorded_at = '2026-03-28 12:00:00+00'`);
    await clock.set('2026-03-29T01:29:50Z');
    expect(await owed()).toEqual({ kind: 'nothing' });
    await clock.set('2026-03-29T01:30:01Z');
    const clocks = Array.from({ length: 8 }, () => ({
      ...deps,
      runner: { ...deps.runner, id: deps.newId() },
    }));
    const results = await Promise.all(clocks.map((one) => workOf(one)));
    expect(results.filter((result) => result?.kind === 'ran').length).toBe(1);
    expect(await ends()).toEqual(['2026-03-28 tied_out']);
    expect(await look()).toBe(null);
  });

  it('begins the night that it missed, says so, and covers the dates before', async () => {
    await clock.set('2026-03-31T10:00:00Z');
    expect(owedSentence(await owed(), clock.now())).toBe(
      'Business date 2026-03-30 did not start: it is owed since 2026-03-31T00:30Z.',
    );
    const result = await look();
    expect(result?.summary.covers).toEqual(['2026-03-29', '2026-03-30']);
    expect(house.lines).toContain(
      'business date 2026-03-30 was to begin at 2026-03-31T00:30Z; it begins now',
    );
    expect((await owed()).kind).toBe('nothing');
  });

  it('leaves the date that ended since to its own tick', async () => {
    await clock.set('2026-03-31T23:00:00Z');
    expect((await owed()).kind).toBe('nothing');
  });

  it('resumes an incomplete night with growing pauses until it is given up', async () => {
    front.trouble = (call) => call.operation === 'retrievalTrans' && drop(call);
    await clock.set('2026-04-01T00:30:01Z');
    expect((await look())?.summary.state).toBe('incomplete');
    const pauses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await look()).toBe(null);
      const next = await owed();
      if (next.kind !== 'resume') throw new Error(`it is ${next.kind}`);
      pauses.push(Math.round((next.at.getTime() - clock.now().getTime()) / 60_000));
      await clock.set(next.at);
      expect((await look())?.kind).toBe('resumed');
    }
    expect(pauses).toEqual([1, 2, 4]);
    await clock.set('2026-04-01T04:30:00Z');
    expect(await look()).toBe(null);
    expect(owedSentence(await owed(), clock.now())).toBe(
      'By itself it goes on no more since 2026-04-01T04:30Z: ' +
        '`tieout run --date 2026-03-31` goes on with it, else the next night covers it.',
    );
  });

  it('covers with the next night what was given up, and resumes it once the gateway is back', async () => {
    await clock.set('2026-04-02T00:30:01Z');
    const first = await look();
    expect(first?.summary).toMatchObject({
      state: 'incomplete',
      covers: ['2026-03-31', '2026-04-01'],
    });
    front.trouble = () => false;
    await clock.set('2026-04-02T00:31:30Z');
    expect((await look())?.summary.state).toBe('tied_out');
    expect((await owed()).kind).toBe('nothing');
  });

  it('goes on at once, at any hour, with a night that was told to stop', async () => {
    await clock.set('2026-04-03T00:30:01Z');
    const stopped = {
      ...deps,
      sleep: async () => {
        throw new Error(STOPPED);
      },
    };
    await expect(workOf(stopped)).rejects.toThrow(STOPPED);
    await clock.set('2026-04-03T09:00:00Z');
    expect(await owed()).toMatchObject({ kind: 'goOn', date: '2026-04-02' });
    expect((await look())?.kind).toBe('resumed');
    expect((await owed()).kind).toBe('nothing');
  });

  it('begins nothing while its own clock and that of the database differ', async () => {
    await clock.set('2026-04-04T00:30:01Z');
    const fast = { ...deps, now: () => new Date(clock.now().getTime() + 61_500) };
    await expect(workOf(fast)).rejects.toThrow(
      /^the clock of this host is 6\d s ahead of the database's: .*; no night begins/,
    );
    expect((await owed()).kind).toBe('begin');
  });

  it('ends as failed a night whose process dies each time, resumes it as one, and tells of it', async () => {
    // Its process is gone, in the middle of the night, a moment after it took it.
    // By connections that were opened under the moved clock.
    const dies = () =>
      deps.db.query(
        `update tieout.runs set state = 'running', runner_id = gen_random_uuid(),
           heartbeat_at = clock_timestamp() - interval '1 minute'
         where business_date = '2026-04-04'`,
      );
    const state = async () => (await readSchedule(deps)).run?.state;
    const endless = { ...deps, config: { ...deps.config, notify: TOLD } };
    await clock.set('2026-04-05T00:30:01Z');
    expect((await look())?.kind).toBe('ran');
    for (let deaths = 1; deaths <= 5; deaths += 1) {
      await dies();
      expect((await owed()).kind).toBe('goOn');
    }
    await dies();
    await workOf(endless);
    expect(await state()).toBe('failed');
    const { rows } = await house.db.query('select body from tieout.outbox');
    expect(JSON.stringify(rows)).toContain('its process died more than 5 times before its end');
    // As an end: a pause, and at its next death the next one.
    const before = await owed();
    if (before.kind !== 'resume') throw new Error(`it is ${before.kind}`);
    expect(before.at > clock.now()).toBe(true);
    await clock.set(before.at);
    await dies();
    expect(await workOf(endless)).toBe(null);
    expect(await owed()).toMatchObject({ kind: 'resume' });
    // Given up it can be asked for, and what a person goes on with is taken up by any clock.
    await clock.set('2026-04-05T05:00:00Z');
    const { owed: late, run } = await readSchedule(deps);
    expect(late.kind).toBe('givenUp');
    if (run === null) throw new Error('there is no run');
    expect(await askAgain(house.db, run.runId, 'ann', clock.now())).toBe(true);
    await dies();
    expect((await readSchedule(deps)).owed.kind).toBe('goOn');
    expect((await look())?.kind).toBe('resumed');
    expect((await owed()).kind).toBe('nothing');
    expect((await ends()).filter((end) => end === '2026-04-04 failed')).toHaveLength(2);
  });

  it('says that no night begins after one of a clock that was a month ahead', async () => {
    await clock.set('2026-05-05T00:30:01Z');
    expect((await look())?.kind).toBe('ran');
    await clock.set('2026-04-05T00:31:00Z');
    expect(await look()).toBe(null);
    expect(await owed()).toMatchObject({
      ...{ kind: 'barred', date: '2026-04-05', newest: '2026-05-04' },
    });
    expect(owedSentence(await owed(), clock.now())).toContain('is not going to begin');
  });
});
