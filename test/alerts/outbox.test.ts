// What is told to the outside: it commits with what it tells, arrives at least once with an id, is
// told once by many processes, and costs no night when nobody listens. Real nights, a real receiver.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localTicksOf } from '../../jobs/clock.js';
import { deliverDue } from '../../src/alerts/deliverAlerts.js';
import type { WatchDeps } from '../../src/alerts/watchRuns.js';
import { tellOnce, watch } from '../../src/alerts/watchRuns.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import type { AlertChannel } from '../../src/core/alertChannels.js';
import { ALERT_CHANNELS } from '../../src/core/alertChannels.js';
import { PAUSES_SECONDS, UNKNOWN_HOURS_MAX } from '../../src/core/alertMessages.js';
import { outboxFigures, putInOutbox, takeDue } from '../../src/outbox/outboxStore.js';
import { tellFailed, tellJobFailed } from '../../src/outbox/writeAlerts.js';
import { isAlive } from '../../src/processes/identity.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';
import type { Receiver } from './receiver.js';
import { openReceiver } from './receiver.js';

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;
const CARD = '4111111111111111';

let receiver: Receiver;
let house: House;
let deps: WatchDeps;
let lines: string[];
let clock: Date;

beforeAll(async () => {
  receiver = await openReceiver();
  house = await buildHouse({
    inLedger: kinds({ partial_refund_due: 1, capture_due: 2 }),
    daysAgo: 2,
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
    settings: {
      notify: {
        webhook: `${receiver.address}/hook-secret`,
        deadMansSwitch: `${receiver.address}/ping-secret`,
      },
    },
  });
  const app = await house.open();
  lines = [];
  deps = {
    db: app.db,
    config: app.config,
    version: app.version,
    hide: hidingSecrets(app.config),
    now: () => clock,
    isAlive,
    localTicks: localTicksOf(app.config.schedule.cron),
    log: (line) => void lines.push(line),
  };
});
beforeEach(() => {
  receiver.told = [];
  receiver.status = 200;
  lines.length = 0;
  clock = new Date();
});
afterAll(async () => {
  await house.end();
  await receiver.close();
});

/** What is in the outbox, oldest first. */
async function outbox(): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select concat_ws(' ', channel, event, subject, state) as what from tieout.outbox order by seq`,
  );
  return rows.map(({ what }) => what);
}

async function clear(): Promise<void> {
  await house.db.query('delete from tieout.outbox');
}

/** As if so many seconds had gone by. */
async function later(seconds: number): Promise<void> {
  await house.db.query(
    'update tieout.outbox set next_try_at = next_try_at - make_interval(secs => $1)',
    [seconds],
  );
}

const bodies = () => receiver.told.map(({ body }) => (body === '' ? null : JSON.parse(body)));

describe('each channel', () => {
  const alert = { event: 'job_failed', subject: 'Q', text: 'x', details: {}, fingerprint: 'f' };
  const twice = async (channel: AlertChannel) => {
    const told = { ...alert, event: 'job_failed' as const, channels: [channel] };
    return [await putInOutbox(house.db, told), await putInOutbox(house.db, told)];
  };

  it('has a row of its own, and is told what is new to it; the switch is pinged each time', async () => {
    await clear();
    const made = new Map<string, number[]>();
    for (const channel of ALERT_CHANNELS) made.set(channel, await twice(channel));
    expect([...made]).toEqual([
      ['webhook', [1, 0]],
      ['switch', [1, 1]],
    ]);
  });

  it('also one that comes later', async () => {
    await clear();
    await house.db.query('alter table tieout.outbox drop constraint outbox_channel_check');
    expect(await twice('pager' as AlertChannel)).toEqual([1, 0]);
    await clear();
    await house.db.query(
      `alter table tieout.outbox add constraint outbox_channel_check
       check (channel = any (array['webhook', 'switch']))`,
    );
  });
});

describe('the end of a night', () => {
  it('stands in the outbox with it, and is told with an id; the switch is pinged', async () => {
    const { summary } = await house.run({ date: dateOf(2) });
    expect(await outbox()).toEqual([
      `webhook night_finished ${dateOf(2)} waiting`,
      `switch night_finished ${dateOf(2)} waiting`,
    ]);
    expect(await deliverDue(deps, NEVER)).toBe(2);
    receiver.told.sort((a, b) => (a.method < b.method ? 1 : -1));
    const [hook, ping] = receiver.told;
    expect([hook?.method, hook?.path]).toEqual(['POST', '/hook-secret']);
    expect([ping?.method, ping?.path, ping?.body]).toEqual(['GET', '/ping-secret', '']);
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({
      id: hook?.headers['tieout-message-id'],
      event: 'night_finished',
      environment: 'test',
      businessDate: dateOf(2),
      state: summary.state,
      text: expect.stringContaining(`Business date ${dateOf(2)} is incomplete`),
      orders: { ledger: 3 },
      instructions: { unknown: 1, confirmed: 2 },
      money: expect.arrayContaining([expect.objectContaining({ captured: expect.any(String) })]),
    });
    for (const { ledger } of house.seeded) expect(hook?.body).not.toContain(ledger.order_no);
    expect(hook?.body).not.toContain('://');
    expect((await outbox()).map((row) => row.split(' ').at(-1))).toEqual([
      'delivered',
      'delivered',
    ]);
  });

  it('is told again only when its figures are other ones; the switch is pinged each time', async () => {
    await clear();
    await house.run({ date: dateOf(2) });
    await house.run({ date: dateOf(2) });
    const found = await outbox();
    expect(found.filter((row) => row.startsWith('switch'))).toHaveLength(2);
    expect(found.filter((row) => row.startsWith('webhook'))).toHaveLength(1);
  });

  it('of a run that broke off is told without the ping, masked and in one line', async () => {
    await clear();
    const failure = `no page\u001b[31m of\n${CARD}`;
    await house.db.transaction((tx) =>
      tellFailed(tx, deps.config, { businessDate: dateOf(2), failure }),
    );
    await deliverDue(deps, NEVER);
    expect(bodies()).toEqual([
      expect.objectContaining({
        event: 'night_finished',
        state: 'failed',
        failure: 'no page [31m of 411111******1111',
      }),
    ]);
  });

  it('leaves no message behind when its transaction does not commit', async () => {
    await clear();
    const lost = house.db.transaction(async (tx) => {
      await tellFailed(tx, deps.config, { businessDate: dateOf(2), failure: 'x' });
      throw new Error('rolled back');
    });
    await expect(lost).rejects.toThrow('rolled back');
    expect(await outbox()).toEqual([]);
  });
});

describe('a message', () => {
  const put = async (failure: string): Promise<void> => {
    await clear();
    await house.db.transaction((tx) =>
      tellFailed(tx, deps.config, { businessDate: dateOf(2), failure }),
    );
  };

  it('that is not accepted is tried again with growing pauses, then kept as given up', async () => {
    await put('nobody is there');
    receiver.status = 503;
    for (const pause of PAUSES_SECONDS) {
      expect(await deliverDue(deps, NEVER)).toBe(0);
      await later(pause - 5);
      expect(await deliverDue(deps, NEVER)).toBe(0);
      await later(6);
    }
    expect(receiver.told).toHaveLength(PAUSES_SECONDS.length);
    await deliverDue(deps, NEVER);
    await later(10_000_000);
    await deliverDue(deps, NEVER);
    expect(receiver.told).toHaveLength(PAUSES_SECONDS.length + 1);
    expect(new Set(receiver.told.map(({ headers }) => headers['tieout-message-id'])).size).toBe(1);
    expect(await outboxFigures(house.db)).toEqual({
      waiting: 0,
      failed: 1,
      oldestWaiting: null,
      problem: 'it answered HTTP 503',
    });
    expect(lines.at(-1)).toContain('given up');
    expect(lines.join()).not.toContain('secret');
  });

  it('is delivered by one of many processes', async () => {
    await put('once');
    await Promise.all(Array.from({ length: 6 }, () => deliverDue(deps, NEVER)));
    expect(receiver.told).toHaveLength(1);
  });

  it('of a process that died on the way comes again, with the same id', async () => {
    await put('twice');
    const [taken] = await takeDue(house.db, 10, 60);
    expect(await deliverDue(deps, NEVER)).toBe(0);
    await later(61);
    expect(await deliverDue(deps, NEVER)).toBe(1);
    expect(receiver.told[0]?.headers['tieout-message-id']).toBe(taken?.messageId);
  });

  it('carries no secret of the configuration', async () => {
    const { signingKey } = deps.config.accounts[0] ?? { signingKey: '' };
    await put(`the key is ${signingKey}`);
    await deliverDue(deps, NEVER);
    expect(bodies()).toEqual([expect.objectContaining({ failure: 'the key is ***' })]);
  });

  it('without an address any more is given up in the end', async () => {
    await put('nowhere');
    const nowhere = { ...deps.config, notify: { ...deps.config.notify, webhook: null } };
    await deliverDue({ ...deps, config: nowhere }, NEVER);
    expect(lines[0]).toContain('no address');
    expect(receiver.told).toEqual([]);
  });

  it('about a failed job is one an hour and queue', async () => {
    await clear();
    const job = { queue: 'capture', id: '7', reason: `lost ${CARD}` };
    await tellJobFailed(house.db, deps.config, job, new Date());
    await tellJobFailed(house.db, deps.config, { ...job, id: '8' }, new Date());
    await tellJobFailed(house.db, deps.config, { ...job, queue: 'pull' }, new Date());
    const next = new Date(Date.now() + 61 * 60_000);
    await tellJobFailed(house.db, deps.config, { ...job, id: '9' }, next);
    await deliverDue(deps, NEVER);
    const told = bodies().map(({ queue, id, reason }) => `${queue} ${id} ${reason}`);
    expect(told.sort()).toEqual([
      'capture 7 lost 411111******1111',
      'capture 9 lost 411111******1111',
      'pull 7 lost 411111******1111',
    ]);
  });

  it('is written when a worker could not do what a job asked for', async () => {
    await clear();
    const app = await house.open();
    const workforce = await app.workforce();
    await workforce.start();
    await (await app.queues()).enqueue('report', ['none-of-ours']);
    await expect.poll(outbox, { timeout: 30_000 }).toEqual(['webhook job_failed report waiting']);
    await workforce.stop();
  });

  it('costs the run that tells it no more than a moment, whatever the database says', async () => {
    const away = {
      ...deps,
      db: { ...deps.db, transaction: () => Promise.reject(new Error('away')) },
    };
    await tellOnce(away);
    expect(lines).toEqual(['alerts: away']);
  });
});

describe('what nobody would tell', () => {
  it('an unknown that waits: once, by one of many watchers, after the night that follows', async () => {
    await clear();
    await watch(deps);
    expect((await outbox()).filter((row) => row.includes('unknown_waits'))).toEqual([]);
    clock = new Date(Date.now() + (UNKNOWN_HOURS_MAX + 1) * HOUR_MS);
    await Promise.all([watch(deps), watch(deps), watch(deps)]);
    await watch(deps);
    await deliverDue(deps, NEVER);
    const told = bodies().filter(({ event }) => event === 'unknown_waits');
    expect(told).toEqual([
      expect.objectContaining({
        count: 1,
        instructions: [expect.objectContaining({ operation: 'refund' })],
        money: [{ currency: expect.any(String), amount: expect.stringMatching(/^\d+\.\d\d$/) }],
      }),
    ]);
  });

  it('a night that is owed for more than ten minutes: once, and not once it has begun', async () => {
    await clear();
    const tick = new Date(`${dateOf(0)}T04:15:00Z`).getTime();
    const events = async (): Promise<string[]> =>
      (await outbox()).filter((row) => row.includes('did_not_start'));
    clock = new Date(tick + 9 * 60_000);
    await watch(deps);
    expect(await events()).toEqual([]);
    clock = new Date(tick + 11 * 60_000);
    await Promise.all([watch(deps), watch(deps)]);
    await watch(deps);
    expect(await events()).toEqual([`webhook night_did_not_start ${dateOf(1)} waiting`]);
    await deliverDue(deps, NEVER);
    expect(bodies().at(-1)).toMatchObject({
      text: `Business date ${dateOf(1)} did not start: it is owed since ${dateOf(0)} 04:15 UTC.`,
    });
    await clear();
    await house.run({ date: dateOf(1) });
    await watch(deps);
    expect(await events()).toEqual([]);
  });

  it('a run that fell silent: after three minutes, once for each time, with the command', async () => {
    await house.run({ date: dateOf(1) });
    await clear();
    const silentFor = (minutes: number) =>
      house.db.query(
        `update tieout.runs set state = 'running', runner_id = gen_random_uuid(),
           heartbeat_at = clock_timestamp() - make_interval(mins => $2)
         where business_date = $1`,
        [dateOf(1), minutes],
      );
    await silentFor(2);
    await watch(deps);
    expect(await outbox()).toEqual([]);
    await silentFor(4);
    await Promise.all([watch(deps), watch(deps)]);
    await watch(deps);
    expect(await outbox()).toEqual([`webhook run_is_silent ${dateOf(1)} waiting`]);
    await deliverDue(deps, NEVER);
    expect(bodies().at(-1).text).toContain(`\`tieout run --date ${dateOf(1)}\` goes on with it`);
    // Nor does it hide the nights that are owed since.
    await clear();
    clock = new Date(new Date(`${dateOf(0)}T04:26:00Z`).getTime() + 24 * HOUR_MS);
    await Promise.all([watch(deps), watch(deps)]);
    expect((await outbox()).filter((row) => row.includes('did_not_start'))).toEqual([
      `webhook night_did_not_start ${dateOf(0)} waiting`,
    ]);
    clock = new Date();
    await house.run({ date: dateOf(1) });
    await clear();
    await watch(deps);
    expect(await outbox()).toEqual([]);
  });
});
