// An operation of which the document shows only that it exists: what the profile lacks is said
// first, before anybody is asked to mean it.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 0 });
}, 60_000);
afterAll(() => house.end());

it('is refused for what the profile lacks, with --yes and without', async () => {
  for (const more of [[], ['--yes']]) {
    const args = ['gateway', 'cancelSubscription', '--account', 'A1001', ...more];
    const { code, stdout, stderr } = await tieoutHere(args, { cwd: house.folder });
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain('then fill operations.cancelSubscription of the profile');
    expect(stderr).not.toContain('--yes');
  }
});
