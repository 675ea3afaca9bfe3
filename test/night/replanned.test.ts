// What a person has planned again waits for a run of a later date than that which planned it first:
// who decides reads it, and so does who begins the same night once more, or asks how it stands.

import { afterEach, expect, test } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds } from '../support/night.js';

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

test('an instruction of the newest night that is planned again is named until the next date', async () => {
  const house = await buildHouse({
    ...{ orders: 900, inLedger: kinds({ capture_due: 1 }, 'A1001'), daysAgo: 2 },
    settings: { operations: { capture: 'approve' } },
  });
  houses.push(house);
  const here = (...words: string[]) => tieoutHere(words, { cwd: house.folder });
  const date = dateOf(2);
  await house.run({ date });
  await here('instructions', 'reject', '1', '--reason', 'not yet', '--as', 'anna');
  const { stdout } = await here('instructions', 'replan', '1', '--as', 'bert');
  expect(stdout).toContain(`planned by a run of a later date than ${date}, if it is still needed`);
  const waits = `Planned by a run of a later date than ${date}, where it is still needed: 1 instr`;
  const again = await here('run', '--date', date);
  expect(await instructionCounts(house.db)).toEqual({ 'capture withdrawn': 1 });
  expect(again.stdout).toContain(waits);
  expect((await here('status')).stdout).toContain(waits);
  await house.run({ date: dateOf(1) });
  expect(await instructionCounts(house.db)).toEqual({ 'capture held': 1, 'capture withdrawn': 1 });
  expect((await here('status')).stdout).not.toContain('Planned by a run of a later date');
});
