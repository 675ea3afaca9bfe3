// `tieout run` beside a configuration or a night that is not well: it ends with the night's own
// code, and what it has to tell is told.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { tieoutHere } from '../support/cliHere.js';
import { dateOf } from '../support/night.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

let house: SeparateHouse;
const run = (...args: string[]) => tieoutHere(['run', ...args], { cwd: house.folder });

beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 60, seed: 12 });
}, 120_000);
afterAll(() => house.end());

it('by hand has its code and summary, also where no clock could begin a night', async () => {
  const file = join(house.folder, 'tieout.yaml');
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const schedule = { ...(settings.schedule as object), cron: '15 25 * * *' };
  const notify = { webhook: 'http://127.0.0.1:9/hook' };
  const odd = JSON.stringify({ ...settings, schedule, notify });
  writeFileSync(join(house.folder, 'odd.yaml'), odd);
  const night = await run('--json', '--date', dateOf(2), '--config', 'odd.yaml');
  const summary = JSON.parse(night.stdout) as RunSummary;
  expect([summary.state, night.code], night.stderr).toEqual(['tied_out', 0]);
  // Its word is in the outbox, and was tried.
  const { rows } = await house.db.query<{ tries: number }>(
    `select max(tries)::int as tries from tieout.outbox`,
  );
  expect(rows[0]?.tries).toBeGreaterThan(0);
  // Who watches over the nights of others could never tell that one did not begin.
  const work = await tieoutHere(['work', '--config', 'odd.yaml'], { cwd: house.folder });
  expect([work.code, work.stderr]).toEqual([2, expect.stringContaining('schedule.cron')]);
});

it('of an older date whose last try failed says so, whatever its summary was', async () => {
  await run('--date', dateOf(1));
  const again = await run('--json', '--date', dateOf(2));
  expect(again.code).toBe(0);
  await house.db.query(
    `update tieout.runs set state = 'failed', failure = 'no room' where business_date = $1`,
    [dateOf(2)],
  );
  const failed = await run('--json', '--date', dateOf(2));
  expect([(JSON.parse(failed.stdout) as RunSummary).state, failed.code]).toEqual(['failed', 1]);
});
