// `tieout run` beside a configuration or a night that is not well: it is refused, or ends with the
// night's own code, and what it has to tell is told.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT_WORDS } from '../../src/core/exitCodes.js';
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

it('is refused where no clock could begin a night, as every command is', async () => {
  const file = join(house.folder, 'odd.yaml');
  const settings = JSON.parse(readFileSync(join(house.folder, 'tieout.yaml'), 'utf8')) as object;
  const others = JSON.stringify({ ...settings, schedule: undefined });
  const schedule = JSON.stringify({ cron: '65 4 * * *' });
  writeFileSync(file, `${others.slice(0, -1)},\n"schedule": ${schedule}}`);
  const words = /odd\.yaml: schedule\.cron: "65 4 \* \* \*" is not a cron .*: 65 .* \(line 2\)/;
  for (const name of ['run', 'status', 'brake status', 'work']) {
    const asked = [...name.split(' '), '--config', 'odd.yaml'];
    const { code, stderr } = await tieoutHere(asked, { cwd: house.folder });
    expect([name, code, stderr]).toEqual([name, 2, expect.stringMatching(words)]);
  }
});

it('says what each exit code means', async () => {
  const { stdout } = await run('--help');
  for (const [code, words] of Object.entries(EXIT_WORDS)) {
    expect(stdout).toContain(`\n  ${code}  ${words}\n`);
  }
});

it('tells its word at once, or has tried to', async () => {
  const settings = JSON.parse(readFileSync(join(house.folder, 'tieout.yaml'), 'utf8')) as object;
  const notify = { webhook: 'http://127.0.0.1:9/hook' };
  writeFileSync(join(house.folder, 'told.yaml'), JSON.stringify({ ...settings, notify }));
  const night = await run('--json', '--date', dateOf(2), '--config', 'told.yaml');
  const summary = JSON.parse(night.stdout) as RunSummary;
  expect([summary.state, night.code], night.stderr).toEqual(['tied_out', 0]);
  // Its word is in the outbox, and was tried.
  const { rows } = await house.db.query<{ tries: number }>(
    `select max(tries)::int as tries from tieout.outbox`,
  );
  expect(rows[0]?.tries).toBeGreaterThan(0);
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
