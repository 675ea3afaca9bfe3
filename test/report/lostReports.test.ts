// A report that somebody asked for on the console, and whose job is gone: workers find it by the
// database. The queue is real, and has never heard of it.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { queueReports } from '../../src/report/reportsStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 60 });
  await house.run();
});
afterAll(() => house.end());

it('is written, and given up after a day', { timeout: 90_000 }, async () => {
  const run = await findRun(house.db, dateOf(1));
  const askedFor = async (secondsAgo: number): Promise<string> => {
    const at = new Date(Date.now() - secondsAgo * 1_000);
    const ids = await queueReports(house.db, run?.runId ?? 0n, ['ageing'], at, dateOf(1));
    return String(ids[0]);
  };
  const workforce = await (await house.open()).workforce();
  const [lost, old, young] = [await askedFor(115), await askedFor(25 * 3_600), await askedFor(0)];
  await workforce.start();
  const stateOf = async (id: string): Promise<string | undefined> => {
    const { rows } = await house.db.query<{ state: string }>(
      'select state from tieout.reports where report_id = $1',
      [id],
    );
    return rows[0]?.state;
  };
  await expect.poll(() => stateOf(lost), { timeout: 60_000 }).toBe('written');
  expect([await stateOf(old), await stateOf(young)]).toEqual(['failed', 'queued']);
  await workforce.stop();
});
