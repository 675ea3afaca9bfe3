// A worker whose folder of reports cannot be written is free when the night wants its workbooks:
// they are left to the others, and its failure is no end of them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { runDate } from '../../src/night/run.js';
import { thisMachine } from '../../src/processes/identity.js';
import { writeReport } from '../../src/report/writeReport.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 60 });
});
afterAll(() => house.end());

const NIGHT = { date: null, accountIds: [], isDry: false };

it.each([
  ['leaves the workbooks of the night to the others', 0],
  ['also where the others take their time, or the clock of the night is behind', 10],
])('%s', async (_, minutes) => {
  const other = await house.open();
  const none = { ...other.config, reports: { ...other.config.reports, dir: '/dev/null/none' } };
  const deps = await other.sendDeps();
  const unfit = {
    ...{ ...deps, config: none, localTicks: other.localTicks },
    runner: { ...deps.runner, host: 'another-host' },
  };
  const app = await house.open();
  const night = await app.sendDeps();
  const heard: string[] = [];
  const enqueue: typeof night.queuePort.enqueue = async (queue, ids) => {
    if (queue !== 'report') return night.queuePort.enqueue(queue, ids);
    const first = ids.filter((id) => !heard.includes(id));
    heard.push(...first);
    await house.db.query(
      `update tieout.reports set created_at = created_at - make_interval(mins => $2)
       where report_id = any ($1)`,
      [first, minutes],
    );
    // It hears them before the others do.
    await Promise.allSettled(first.map((id) => writeReport(unfit, BigInt(id))));
    return night.queuePort.enqueue(queue, ids);
  };
  const { summary } = await runDate(
    { ...night, queuePort: { enqueue } },
    NIGHT,
    await app.workforce(),
  );
  expect(summary.unwritten).toBeUndefined();
  expect(summary.reports.map(({ kind }) => kind)).toEqual(['reconciliation', 'orders']);
  expect(heard).toHaveLength(2);
  const { rows } = await house.db.query<{ host: string }>(
    'select host from tieout.reports where report_id = any ($1)',
    [heard],
  );
  expect(rows).toEqual([{ host: thisMachine() }, { host: thisMachine() }]);
});
