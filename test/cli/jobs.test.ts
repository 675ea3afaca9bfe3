// `tieout jobs` after trouble that is over: a report that could not be written stays on the list
// until its next revision is written, and then leaves it by itself.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieout } from '../support/cli.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

const MINUTE_MS = 60_000;

let house: SeparateHouse;
beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 100, seed: 5 });
}, MINUTE_MS);
afterAll(() => house.end());

it('a failed job leaves the list once its work was done', { timeout: 3 * MINUTE_MS }, async () => {
  const at = { cwd: house.folder };
  const listed = async (): Promise<string> => (await tieout(['jobs', 'list'], at)).stdout;
  const reports = join(house.folder, 'var', 'reports');
  expect((await tieout(['run'], at)).code).toBe(3);
  expect(await listed()).toBe('No job has failed.\n');
  renameSync(reports, `${reports}.away`);
  writeFileSync(reports, '');
  await tieout(['run'], at);
  expect(await listed()).toContain('writes the next revision');
  renameSync(reports, `${reports}.file`);
  renameSync(`${reports}.away`, reports);
  expect((await tieout(['run'], at)).code).toBe(3);
  expect(await listed()).toBe('No job has failed.\n');
});
