// Two hosts at the same report, each with folders of its own: one file goes on record, with the
// lines of that very file; nobody hears of the other one.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../src/cli/app.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
let app: App;
beforeAll(async () => {
  house = await buildHouse({ daysAgo: 1, orders: 200 });
  await house.run();
  app = await house.open();
}, 120_000);
afterAll(() => house.end());

const hostAt = (dir: string): App => ({
  ...app,
  config: { ...app.config, reports: { ...app.config.reports, dir } },
});

async function queued(): Promise<bigint> {
  const { rows } = await house.db.query<{ date: string }>(
    'select business_date::text as date from tieout.runs',
  );
  const run = await findRun(house.db, rows[0]?.date ?? '');
  const [id = 0n] = await queueReports(house.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  return id;
}

const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

test('at once: one file is registered, the other is taken away, and none fails', async () => {
  const id = await queued();
  const hosts = ['one', 'two'].map((name) => join(house.folder, `reports-${name}-${randomUUID()}`));
  await Promise.all(hosts.map((dir) => writeReport(hostAt(dir), id)));
  const [report] = await writtenByIds(house.db, [id]);
  expect(digestOf(report?.path ?? '')).toBe(report?.sha256);
  const left = hosts.flatMap((dir) =>
    readdirSync(dir, { recursive: true }).filter((name) => String(name).endsWith('.xlsx')),
  );
  expect(left).toHaveLength(1);
  const { rows } = await house.db.query(
    `select count(*)::int as lines, (select sum((value ->> 'lines')::int)::int
       from tieout.statements s, jsonb_array_elements(s.items) where s.report_id = $1) as said
     from tieout.written_lines where report_id = $1`,
    [id],
  );
  expect(rows[0]?.lines).toBeGreaterThan(0);
  expect(rows[0]?.lines).toBe(rows[0]?.said);
});

test('a host that cannot write gives it up, and the other one still has its file on record', async () => {
  const id = await queued();
  const dir = join(house.folder, 'reports-none');
  writeFileSync(dir, 'no folder');
  await expect(writeReport(hostAt(dir), id)).rejects.toThrow(
    /reports cannot be written|none cannot be written/,
  );
  const other = join(house.folder, 'reports-late');
  mkdirSync(other);
  // It was at it already as the first one gave up.
  await house.db.query(`update tieout.reports set state = 'queued' where report_id = $1`, [id]);
  const writing = writeReport(hostAt(other), id);
  await expect(writeReport(hostAt(dir), id)).rejects.toThrow(
    /reports cannot be written|none cannot be written/,
  );
  await writing;
  const [report] = await writtenByIds(house.db, [id]);
  expect(existsSync(report?.path ?? '')).toBe(true);
  expect(dirname(dirname(report?.path ?? ''))).toBe(other);
});
