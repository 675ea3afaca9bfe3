// `tieout users`: people come by a link, roles count, and every change is on
// record; a password is never an argument.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passwordFits } from '../../src/access/password.js';
import { addUser, findCredential, hasAdministrator } from '../../src/access/usersStore.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

describe('tieout users', () => {
  let house: SeparateHouse;
  const users = (...args: string[]) => tieoutHere(['users', ...args], { cwd: house.folder });

  beforeAll(async () => {
    house = await buildSeparateHouse({ orders: 10, seed: 3 });
  });
  afterAll(() => house.end());

  it('adds, changes and locks out, and keeps who did it', async () => {
    const added = await users('add', 'paula', '--role', 'approver', '--account', 'A1001');
    expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/\/welcome\/[\w-]{43}/)]);
    const given = await users('role', 'PAULA', '--role', 'finance');
    expect(given.stdout).toMatch(/invited\s+approver of A1001; finance/);
    expect((await users('disable', 'paula')).code).toBe(0);
    const [listed] = JSON.parse((await users('list', '--json')).stdout) as { state: string }[];
    expect(listed).toMatchObject({ name: 'paula', state: 'disabled', hasPassword: false });
    const { rows } = await house.db.query<{ action: string; outcome: string }>(
      'select action, outcome from tieout.console_events order by event_id',
    );
    expect(rows).toEqual([
      { action: 'add person', outcome: 'approver of A1001' },
      { action: 'give role', outcome: 'finance' },
      { action: 'set state', outcome: 'disabled' },
    ]);
  });

  it('lists people in columns, whatever their names', async () => {
    await users('add', 'a', '--role', 'viewer');
    await users('add', 'bartholomew.of.accounting', '--role', 'finance');
    const lines = (await users('list')).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    const at = lines.map((line) => [
      line.search(/(?<= )(?:invited|disabled) /),
      line.search(/(?<= )(?:viewer|finance|approver)/),
    ]);
    const width = 'bartholomew.of.accounting'.length + 2;
    expect(at).toEqual(lines.map(() => [width, width + 'disabled'.length + 2]));
  });

  it('says that each account by its name is not all of them', async () => {
    const each = ['A1001', 'A1002'];
    const said = 'need the role without --account';
    const one = await users('add', 'one', '--role', 'admin', '--account', ...each.slice(1));
    expect(one.stderr).not.toContain(said);
    const all = await users('add', 'each', '--role', 'admin', '--account', ...each);
    expect(all.stderr).toContain(said);
    const more = await users('role', 'each', '--role', 'admin');
    expect(more.stderr).not.toContain(said);
    expect(more.stderr).toContain('nobody may manage the console any more');
  });

  it('counts as administrator only who is one of all accounts', async () => {
    const there = { ...{ passwordHash: 'some', by: 'test' }, now: new Date() };
    const grant = { role: 'admin' as const, accountId: 'A1001' };
    await addUser(house.db, { name: 'sole', grants: [grant], ...there });
    expect(await hasAdministrator(house.db)).toBe(false);
    await addUser(house.db, { name: 'first', grants: [{ ...grant, accountId: null }], ...there });
    expect(await hasAdministrator(house.db)).toBe(true);
  });

  it('takes no role away that stays, and gives no link that opens nothing', async () => {
    await users('add', 'fiona', '--role', 'finance', 'viewer');
    const kept = await users(
      'role',
      'fiona',
      '--role',
      'finance',
      '--account',
      'A1001',
      '--remove',
    );
    expect(kept).toMatchObject({ code: 2, stderr: expect.stringContaining('keeps A1001 by it') });
    const within = await users('role', 'fiona', '--role', 'finance', '--account', 'A1001');
    expect(within).toMatchObject({ code: 0, stderr: expect.stringContaining('for all accounts') });
    const none = await users('role', 'fiona', '--role', 'approver', '--remove');
    expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing was taken') });
    const taken = await users('role', 'fiona', '--role', 'finance', '--remove');
    expect(taken.stderr).not.toContain('nothing was taken');
    expect(taken.stdout).toMatch(/fiona\s+invited\s+viewer\n/);
    await users('disable', 'fiona');
    const link = await users('link', 'fiona');
    expect([link.code, link.stdout]).toEqual([2, '']);
    expect(link.stderr).toContain('tieout users enable fiona');
    await users('enable', 'fiona');
    expect((await users('link', 'fiona')).stdout).toContain('/welcome/');
  });

  it('refuses a twin, an unknown role, account and name with exit code 2', async () => {
    const tries = [
      await users('add', 'Paula', '--role', 'viewer'),
      await users('add', 'eve', '--role', 'king'),
      await users('add', 'eve', '--role', 'viewer', '--account', 'A9'),
      await users('add', 'eve and adam', '--role', 'viewer'),
      await users('add', 'p\u0430ula', '--role', 'viewer'),
      await users('disable', 'nobody'),
    ];
    expect(tries.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(await findCredential(house.db, 'paula')).toBeNull();
    expect(await passwordFits('', null)).toBe(false);
  });
});
