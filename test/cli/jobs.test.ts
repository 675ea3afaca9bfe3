// `tieout jobs` after trouble that is over: a report that could not be written stays on the list
// until its next revision is written, and then leaves it by itself.

import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
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
  const listed = async (): Promise<string> => (await tieoutHere(['jobs', 'list'], at)).stdout;
  const reports = join(house.folder, 'var', 'reports');
  expect((await tieoutHere(['run'], at)).code).toBe(3);
  expect(await listed()).toBe('No job has failed.\n');
  renameSync(reports, `${reports}.away`);
  writeFileSync(reports, '');
  await tieoutHere(['run'], at);
  const shown = await listed();
  expect(shown).toContain('writes the next revision');
  // Two reports failed; each column begins at one place.
  const heads = shown.split('\n').filter((line) => / failed /.test(line));
  expect(heads).toHaveLength(2);
  const places = heads.map((line) => [line.indexOf('  failed  '), line.indexOf('  report ')]);
  expect(places[0]).toEqual(places[1]);
  expect(heads[0]).toMatch(/^\S+ +failed {2}\d{4}-\d\d-\d\d [\d:]+ UTC {2}report \d+ +\S/);
  renameSync(reports, `${reports}.file`);
  renameSync(`${reports}.away`, reports);
  expect((await tieoutHere(['run'], at)).code).toBe(3);
  expect(await listed()).toBe('No job has failed.\n');
});

it('a retry of a report that could not be written writes it', {
  timeout: 3 * MINUTE_MS,
}, async () => {
  const at = { cwd: house.folder };
  const reports = join(house.folder, 'var', 'reports');
  const files = (): string[] => readdirSync(reports, { recursive: true }).map(String).sort();
  const before = files();
  renameSync(reports, `${reports}.away`);
  writeFileSync(reports, '');
  await tieoutHere(['run'], at);
  const told = async () => (await tieoutHere(['status'], at)).stdout.includes('not be written');
  expect(await told()).toBe(true);
  renameSync(reports, `${reports}.second`);
  renameSync(`${reports}.away`, reports);
  const retried = await tieoutHere(['jobs', 'retry', '--all'], at);
  expect(retried.code, retried.stdout + retried.stderr).toBe(0);
  expect(retried.stderr).toContain('written: ');
  const written = files().filter((file) => !before.includes(file));
  expect(written.some((file) => file.includes('reconciliation-'))).toBe(true);
  expect(written.some((file) => file.includes('orders-'))).toBe(true);
  expect(await told()).toBe(false);
  expect((await tieoutHere(['jobs', 'list'], at)).stdout).toBe('No job has failed.\n');
});
