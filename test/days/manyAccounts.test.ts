// What `tieout days close --check` prints of very many accounts: what is the same stands once.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

const ACCOUNTS = 23;

let house: House;
beforeAll(async () => {
  house = await buildHouse({ accounts: ACCOUNTS, orders: 100 });
  await house.run();
}, 180_000);
afterAll(() => house.end());

const check = (...more: string[]) =>
  tieoutHere(['days', 'close', dateOf(1), '--check', ...more], { cwd: house.folder });

it("gathers the lines that are equal, with whose they are, and names what is an account's own", async () => {
  const { stdout } = await check();
  expect(stdout.match(/\[x\] every day before it has its night/g)).toHaveLength(1);
  expect(stdout).toMatch(
    /^23 accounts \(A1001, A1002, A1003, A1004, A1005 and 18 more\), such as A1001: .* would be closed$/m,
  );
  expect(stdout.split('\n').length).toBeLessThan(80);
  expect(stdout).toMatch(/^A10\d\d: \[ \] .*open now, of all days: .* at stake/m);
  const { stdout: json } = await check('--json');
  expect(JSON.parse(json)).toHaveLength(ACCOUNTS);
});

it('has the whole list of each where few are asked for', async () => {
  const { stdout } = await check('--account', 'A1001', 'A1002');
  expect(stdout.match(/^ {2}\[x\] every day before it has its night/gm)).toHaveLength(2);
});
