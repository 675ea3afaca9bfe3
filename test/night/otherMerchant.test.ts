// An account whose merchantId changes, or the environment, while something of it waits: what would
// go elsewhere than before waits for a person who has seen it, also what was approved before. Whole
// nights on a sandbox gateway that moves the account with it. Neighbour:
// faults/people/newlyFreed.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

async function houseOf(operations: Record<string, string>): Promise<House> {
  const house = await buildHouse({
    orders: 300,
    daysAgo: 4,
    inLedger: kinds({ capture_due: 1, full_refund_due: 1 }),
    settings: { operations: { capture: 'approve', refund: 'auto', ...operations } },
  });
  houses.push(house);
  return house;
}

async function runOf(house: House, daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

/** Both at the gateway and in the configuration. */
async function moveTo(house: House, merchantId: string): Promise<void> {
  const liveFrom = `${dateOf(4)}T00:00:00Z`;
  const accounts = house.accounts.map((account) => ({ ...account, merchantId, liveFrom }));
  const body = JSON.stringify({ id: 'test', accounts });
  await fetch(`${house.sandboxUrl}/_sandbox/users`, { method: 'POST', body });
  rewriteSettings(house, { accounts });
}

function toLive(house: House): void {
  rewriteSettings(house, { environment: 'live' });
}

async function states(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select concat_ws(' ', operation, state, hold_reason) as what from tieout.instructions
     order by operation`,
  );
  return rows.map((row) => row.what);
}

async function approveAll(house: House): Promise<void> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  const deps = await (await house.open()).sendDeps();
  const found = await decideInstructions(deps, {
    ids: rows.map((row) => row.instruction_id),
    decision: { kind: 'approve', reason: null },
    who: { name: 'anna', isClaim: true },
  });
  expect(found.map(({ kind }) => kind)).toEqual(rows.map(() => 'done'));
}

async function send(house: House): Promise<void> {
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
}

const WORDS = 'accounts[].merchantId: M1001 before, then M2002';

test('what was approved waits again, by the name of the setting, until a person has seen it', async () => {
  const house = await houseOf({ refund: 'approve' });
  await runOf(house, 4);
  expect(await states(house)).toEqual(['capture held approval', 'refund held approval']);
  await approveAll(house);
  await moveTo(house, 'M2002');
  // Approved, and about to be sent before any night has seen the change.
  await expect(send(house)).rejects.toThrow(`nothing is sent: the settings here are not those`);
  await expect(send(house)).rejects.toThrow(WORDS);
  const summary = await runOf(house, 3);
  expect(await states(house)).toEqual(['capture held newly_freed', 'refund held newly_freed']);
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'newly_freed');
  expect(new Set(told.map(({ about }) => about))).toEqual(new Set([WORDS]));
  // A further night lets nothing go, either.
  await runOf(house, 2);
  expect(await house.effects()).toEqual([]);
  await approveAll(house);
  await runOf(house, 1);
  expect(await states(house)).toEqual(['capture confirmed', 'refund confirmed']);
  expect(await house.effects()).toHaveLength(2);
});

test('also by the first version that cannot read the profile of the last plan any more', async () => {
  const house = await houseOf({ refund: 'approve' });
  await runOf(house, 4);
  await approveAll(house);
  await moveTo(house, 'M2002');
  const profile = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  await house.db.query('alter table tieout.profiles disable trigger user');
  await house.db.query(`update tieout.profiles set profile = 'of: before'`);
  await house.db.query('alter table tieout.profiles enable trigger user');
  await expect(send(house)).rejects.toThrow(WORDS);
  await runOf(house, 3);
  expect(await states(house)).toEqual(['capture held newly_freed', 'refund held newly_freed']);
  expect(await house.effects()).toEqual([]);
});

test.each([
  { other: 'merchant', change: (house: House) => moveTo(house, 'M2002') },
  // A staging host that was given the database, or the other way round.
  { other: 'environment', change: async (house: House) => toLive(house) },
])('so does what goes by itself, in the first night of the other $other', async ({ change }) => {
  const house = await houseOf({ capture: 'auto' });
  const { rows } = await house.db.query(
    `with gone as (delete from ledger.orders returning *) select to_jsonb(gone) as row from gone`,
  );
  await runOf(house, 4);
  await change(house);
  await house.db.query(
    `insert into ledger.orders
     select o.* from jsonb_array_elements($1::jsonb) as e,
       jsonb_populate_record(null::ledger.orders, e -> 'row') as o`,
    [JSON.stringify(rows)],
  );
  await runOf(house, 3);
  expect(await states(house)).toEqual(['capture held newly_freed', 'refund held newly_freed']);
  expect(await house.effects()).toEqual([]);
  await approveAll(house);
  await send(house);
  expect(await house.effects()).toHaveLength(2);
});

test('so does what was approved before its account left the configuration for a night', async () => {
  const house = await houseOf({ refund: 'approve' });
  await runOf(house, 4);
  await approveAll(house);
  const { rows } = await house.db.query<{ account_id: string }>(
    'select distinct account_id from tieout.instructions',
  );
  const left = new Set(rows.map((row) => row.account_id));
  const stayed = house.accounts.filter(({ accountId }) => !left.has(accountId));
  const others =
    stayed.length > 0
      ? stayed
      : [{ merchantId: 'M3003', accountId: 'A3003', signingKey: 'k'.repeat(32) }];
  rewriteSettings(house, { accounts: others });
  await runOf(house, 3);
  await moveTo(house, 'M2002');
  // The newest run of the account knows nothing of its merchant.
  await expect(send(house)).rejects.toThrow(WORDS);
  await runOf(house, 2);
  expect(await states(house)).toEqual(['capture held newly_freed', 'refund held newly_freed']);
  expect(await house.effects()).toEqual([]);
});

test('a person decides nothing by a configuration of another environment, and may stop the sending', async () => {
  const house = await houseOf({ refund: 'approve' });
  await runOf(house, 4);
  const { rows } = await house.db.query<{ id: string; order: string }>(
    `select instruction_id::text as id, order_no as order from tieout.instructions limit 1`,
  );
  const id = rows[0]?.id ?? '';
  toLive(house);
  const tell = (...words: string[]) =>
    tieoutHere([...words, '--config', house.file], { cwd: house.folder });
  const on = await tell('brake', 'on', '--reason', 'look first');
  expect(on.stdout).toContain('Nothing is sent from now on');
  const decisions = [
    ['instructions', 'approve', id],
    ['instructions', 'reject', id, '--reason', 'no'],
    ['instructions', 'replan', id],
    ['brake', 'off', '--reason', 'looked'],
    ['days', 'close', dateOf(4), '--reason', 'done'],
  ];
  for (const words of decisions) {
    const { code, stderr } = await tell(...words);
    expect(code, words.join(' ')).toBe(2);
    expect(stderr).toContain(
      'environment is live in this configuration, and test in the newest run of this database',
    );
  }
  const account = house.accounts[0]?.accountId ?? '';
  // Who asks decides nothing: the guide is gone through by any configuration.
  const asked = await tell('gateway', 'query', '--account', account);
  expect(asked.stdout + asked.stderr).not.toContain('environment is live');
  expect(asked.stdout).toContain('query');
  expect(await states(house)).toEqual(['capture held approval', 'refund held approval']);
  const { rows: brakes } = await house.db.query(`select is_on from tieout.brakes`);
  expect(brakes).toEqual([{ is_on: true }]);
});
