// A changed cut-off, so that the last date that has ended lies before one that was run already.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 60, inLedger: kinds({}), daysAgo: 2 });
  for (const daysAgo of [2, 1]) await house.run({ date: dateOf(daysAgo) });
  rewriteSettings(house, { schedule: { timezone: 'UTC', cutOff: '23:59' } });
});
afterAll(() => house.end());

const tieout = (...args: string[]) => tieoutHere(args, { cwd: house.folder });

it('is not done, and not shown as if it were: the run is refused until a later date has ended', async () => {
  const { code, stdout, stderr } = await tieout('run');
  expect(code, stdout).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain(
    `the last business date that has ended is ${dateOf(2)}, and ${dateOf(1)} was run already, by ` +
      'another schedule.timezone or cutOff',
  );
});

it('is shown again to who asks for it by its date', async () => {
  const { code, stderr } = await tieout('run', '--date', dateOf(2));
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('older than the newest run');
});
