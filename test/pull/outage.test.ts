// A gateway that vanishes in the middle of the snapshot, and comes back, or does not: half an hour of
// its absence costs half an hour. Time is what was slept; everything else is real.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginRun } from '../../src/night/begin.js';
import { OUTAGE_MINUTES_MAX } from '../../src/pull/outage.js';
import { pull } from '../../src/pull/pull.js';
import { pullChunk } from '../../src/pull/pullChunk.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { Front } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { impatient } from '../faults/impatient.js';
import type { House } from '../support/night.js';

const ACCOUNT = 'A1001';
const ONE_BY_ONE = { concurrency: 1, requestsPerSecond: 1_000 };

let house: House;
let front: Front;
let deps: SendDeps;
let sleptMs = 0;
/** The gateway listens again once so much was slept. */
let backAfterMs = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  ({ house, front } = await houseBehind({
    orders: 600,
    inLedger: ({ ledger }) => ledger.account_id === ACCOUNT,
  }));
  // One page after the other.
  impatient(house, ONE_BY_ONE);
  await renewDeps();
});

async function renewDeps(): Promise<void> {
  const night = await (await house.open()).sendDeps();
  deps = {
    ...night,
    monotonic: () => sleptMs,
    sleep: async (ms) => {
      sleptMs += ms;
      if (sleptMs < backAfterMs) return;
      backAfterMs = Number.POSITIVE_INFINITY;
      await front.accept();
    },
    queuePort: {
      enqueue: async (_, ids) => {
        for (const id of ids) await pullChunk(deps, BigInt(id));
      },
    },
  };
}

afterAll(() => house.end());

beforeEach(() => {
  sleptMs = 0;
  house.lines.length = 0;
});

/** Looks once; answers the states of its pages, in their order. */
async function look(): Promise<string[]> {
  const beginning = await beginRun(deps, {
    date: null,
    accountIds: [ACCOUNT],
    isDry: false,
    waitsForGateway: true,
  });
  if (beginning.kind !== 'mine') throw new Error(`the run is ${beginning.kind}`);
  const { pullId } = await pull(deps, beginning.run);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
  const { rows } = await house.db.query<{ state: string }>(
    'select state from tieout.pages where pull_id = $1 order by page_no',
    [pullId],
  );
  return rows.map(({ state }) => state);
}

const vanishAtPage = (page: number): void => {
  let asked = 0;
  front.trouble = ({ operation }) => {
    asked += 1;
    if (operation !== 'retrievalTrans' || asked !== page) return false;
    front.vanish();
    return true;
  };
};

describe('a gateway that vanishes', () => {
  it('before the night is told in seconds', async () => {
    front.vanish();
    expect(await look()).toEqual(['failed', 'failed', 'failed']);
    expect(sleptMs).toBeLessThan(10_000);
    await front.accept();
  });

  it('for half an hour costs half an hour, and no page', async () => {
    vanishAtPage(2);
    backAfterMs = 30 * 60_000;
    expect(await look()).toEqual(['answered', 'answered', 'answered']);
    expect(sleptMs / 60_000).toBeGreaterThan(29);
    expect(sleptMs / 60_000).toBeLessThan(32);
    expect(house.lines.join('\n')).toMatch(/the gateway is back after (29|30)\.\d minutes/);
  });

  it('for good is given up after its time, once for all pages', async () => {
    vanishAtPage(2);
    expect(await look()).toEqual(['answered', 'failed', 'failed']);
    expect(sleptMs / 60_000).toBeGreaterThan(OUTAGE_MINUTES_MAX - 1);
    expect(sleptMs / 60_000).toBeLessThan(OUTAGE_MINUTES_MAX + 2);
  });
});

/** Takes the connection and says nothing, until so much time has gone; a try costs a minute. */
const silentFromPage = (page: number, untilMs: number): void => {
  let asked = 0;
  front.trouble = ({ operation }) => {
    asked += 1;
    if (operation !== 'retrievalTrans' || asked < page || sleptMs >= untilMs) return false;
    sleptMs += 60_000;
    return true;
  };
};

describe('a gateway that takes connections and stays silent', () => {
  beforeAll(async () => {
    await front.accept();
    impatient(house, { ...ONE_BY_ONE, timeoutMs: 400 });
    await renewDeps();
  });

  it('for half an hour costs half an hour, and no page', async () => {
    silentFromPage(2, 30 * 60_000);
    expect(await look()).toEqual(['answered', 'answered', 'answered']);
    expect(sleptMs / 60_000).toBeLessThan(32);
    expect(house.lines.join('\n')).toMatch(/the gateway is back after (1|2)\d\.\d minutes/);
  });

  it('for good is given up after its time, once for all pages', async () => {
    silentFromPage(2, Number.POSITIVE_INFINITY);
    expect(await look()).toEqual(['answered', 'failed', 'failed']);
    expect(sleptMs / 60_000).toBeGreaterThan(OUTAGE_MINUTES_MAX - 1);
    expect(sleptMs / 60_000).toBeLessThan(OUTAGE_MINUTES_MAX + 16);
  });

  it('keeps its pages with the worker that asks, however long that takes', async () => {
    impatient(house, { ...ONE_BY_ONE, timeoutMs: 12_000 });
    await renewDeps();
    let kept: string[] = [];
    const until = setInterval(async () => {
      const { rows } = await house.db.query<{ until: string }>(
        `select leased_until::text as until from tieout.chunks where state = 'running'`,
      );
      kept = [...new Set([...kept, ...rows.map((row) => row.until)])];
    }, 500);
    front.trouble = () => false;
    silentFromPage(2, 1);
    expect(await look()).toEqual(['answered', 'answered', 'answered']);
    clearInterval(until);
    expect(kept.length).toBeGreaterThan(1);
  });
});
