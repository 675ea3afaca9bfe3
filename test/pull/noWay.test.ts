// A worker without a way to the gateway beside one that is answered: it fails no page of the night,
// nor holds the night up. Its sleep is counted and not slept; everything else is real.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginRun } from '../../src/night/begin.js';
import { pull } from '../../src/pull/pull.js';
import { pullChunk } from '../../src/pull/pullChunk.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { Front } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { House } from '../support/night.js';
import { rewriteSettings } from '../support/night.js';

let house: House;
let front: Front;
/** Has its own way. */
let well: SendDeps;
/** Behind the front, which is gone. */
let cutOff: SendDeps;
let sleptMs = 0;

beforeAll(async () => {
  ({ house, front } = await houseBehind({ orders: 400, accounts: 4 }));
  rewriteSettings(house, { gateway: { baseUrl: house.sandboxUrl } });
  well = await (await house.open()).sendDeps();
  rewriteSettings(house, { gateway: { baseUrl: front.baseUrl } });
});

afterAll(() => house.end());

beforeEach(async () => {
  const own = await (await house.open()).sendDeps();
  sleptMs = 0;
  cutOff = {
    ...own,
    runner: { ...own.runner, host: 'another-host' },
    sleep: async (ms) => {
      sleptMs += ms;
    },
  };
  house.lines.length = 0;
  front.trouble = () => false;
  front.vanish();
});

type Ask = (worker: SendDeps, id: string | undefined) => Promise<void>;
const ask: Ask = async (worker, id) => {
  if (id !== undefined) await pullChunk(worker, BigInt(id));
};

/** Who hears which chunks; answers how many pages ended how. */
async function look(
  hear: (ids: readonly string[]) => Promise<void>,
  waitsForGateway = false,
): Promise<Record<string, number>> {
  const runner = {
    ...well,
    queuePort: { enqueue: async (_: unknown, ids: readonly string[]) => hear(ids) },
  };
  const beginning = await beginRun(runner, {
    date: null,
    accountIds: [],
    isDry: false,
    waitsForGateway,
  });
  if (beginning.kind !== 'mine') throw new Error(`the run is ${beginning.kind}`);
  const { pullId } = await pull(runner, beginning.run);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
  const { rows } = await house.db.query<{ state: string; pages: number }>(
    'select state, count(*)::int as pages from tieout.pages where pull_id = $1 group by state',
    [pullId],
  );
  return Object.fromEntries(rows.map(({ state, pages }) => [state, pages]));
}

/** The one that is well has its hands full: the other takes all but the first. */
const oneBusy = async ([first, ...others]: readonly string[]): Promise<void> => {
  await ask(well, first);
  for (const id of others) await ask(cutOff, id);
};

describe('a worker without a way to the gateway', () => {
  it('fails no page where another one is answered, and rests for longer each time', async () => {
    const { failed, answered } = await look(oneBusy);
    expect(failed).toBeUndefined();
    expect(answered).toBeGreaterThan(3);
    const { rows } = await house.db.query('select from tieout.chunks where tries > 0');
    expect(rows).toEqual([]);
    expect(house.lines.join('\n')).toContain('its pages are left to them');
  });

  it('nor while the other one has not come to its first end', async () => {
    // It is asked while the chunk of the other one is under way.
    const both = async ([first, ...others]: readonly string[]): Promise<void> => {
      const { queryPage } = well.gateway;
      const slow: SendDeps = {
        ...well,
        gateway: {
          ...well.gateway,
          queryPage: async (...question) => {
            for (const id of others.splice(0)) await ask(cutOff, id);
            return queryPage(...question);
          },
        },
      };
      await ask(slow, first);
    };
    expect((await look(both)).failed).toBeUndefined();
  });

  it('does not keep them for as long as a gateway is waited for', async () => {
    expect((await look(oneBusy, true)).failed).toBeUndefined();
    expect(sleptMs).toBeLessThan(2 * 60_000);
  });

  it('fails them where nobody is answered, within seconds', async () => {
    const alone = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) await ask(cutOff, id);
    };
    const { failed, answered } = await look(alone);
    expect(failed).toBeGreaterThan(3);
    expect(answered).toBeUndefined();
    expect(sleptMs).toBeLessThan(20_000);
  });

  it('fails them where only the process before it on this host was answered', async () => {
    const again = { ...cutOff, runner: well.runner };
    const afterRestart = async ([first, ...others]: readonly string[]): Promise<void> => {
      await ask(well, first);
      for (const id of others) await ask(again, id);
    };
    const { failed, answered } = await look(afterRestart);
    expect([failed, answered].every((pages) => Number(pages) > 0)).toBe(true);
    expect(sleptMs).toBeLessThan(20_000);
  });

  it('fails one that it has left often enough, and that nobody else takes', async () => {
    let rounds = 0;
    const nobodyElse = async ([first, ...others]: readonly string[]): Promise<void> => {
      if (rounds === 0) await ask(well, first);
      const left = rounds++ === 0 ? others : [first];
      for (const id of left) for (let time = 0; time < 25; time += 1) await ask(cutOff, id);
    };
    const { failed, answered } = await look(nobodyElse);
    expect([failed, answered].every((pages) => Number(pages) > 0)).toBe(true);
    expect(rounds).toBe(1);
  });

  it('goes on at once when its way is there again', async () => {
    await look(oneBusy);
    expect(cutOff.reach.restMs()).toBeGreaterThan(0);
    await front.accept();
    const { failed } = await look(async (ids) => {
      for (const id of ids) await ask(cutOff, id);
    });
    expect(failed).toBeUndefined();
    expect(cutOff.reach.restMs()).toBe(0);
  });
});
