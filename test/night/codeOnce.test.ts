// A code without a meaning that the gateway showed in one look, and no more in the next one of the
// same night: its orders stop no more, and nobody is told that they do.

import { afterEach, expect, test } from 'vitest';
import { showing } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { dateOf, kinds } from '../support/night.js';

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

test('a code that a later look of the same night does not show is told no more', async () => {
  const { house, front } = await houseBehind({
    ...{ orders: 900, inLedger: kinds({ plain: 2 }, 'A1001'), daysAgo: 1 },
  });
  houses.push(house);
  const night = async () => {
    const { summary } = await house.run({ date: dateOf(1) });
    const told = (summary.notices ?? []).filter(({ kind }) => kind === 'new_word');
    return { state: summary.state, told: told.map(({ about }) => about) };
  };
  showing(front, () => ({ payment_status: '7777' }));
  expect(await night()).toEqual({ state: 'broken', told: ['payment_status 7777'] });
  front.trouble = () => false;
  expect(await night()).toEqual({ state: 'tied_out', told: [] });
  // It has no meaning still, and may come again.
  const { stdout } = await tieoutHere(['status'], { cwd: house.folder });
  expect(stdout).toContain(
    `Without a meaning in the profile: payment_status 7777 (last in the night of ${dateOf(1)})`,
  );
});
