// An order that needs no further look, because it matched and is older than the look-back: what
// takes that back. A request that came late and that a person then refuses; a code of the gateway
// that turns out to mean something else. Neighbour: betweenLooks.test.ts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import type { House } from '../support/night.js';
import {
  buildHouse,
  dateOf,
  instructionCounts,
  kinds,
  openBreaksOf,
  rewriteSettings,
} from '../support/night.js';

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.end();
});

async function houseOf(kind: string): Promise<House> {
  const house = await buildHouse({
    ...{ orders: 900, inLedger: kinds({ [kind]: 1 }), daysAgo: 6 },
    settings: { reconcile: { lookbackDays: 1 }, operations: { refund: 'approve' } },
  });
  houses.push(house);
  return house;
}

async function night(house: House, daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

async function finalOrders(house: House): Promise<number> {
  const { rows } = await house.db.query<{ n: number }>(
    'select count(*)::int as n from tieout.final_orders',
  );
  return rows[0]?.n ?? 0;
}

test('a refund of a final order that a person refuses is told each night that it is asked for', async () => {
  const house = await houseOf('partial_refund_due');
  await house.db.query(
    `create table kept as select * from ledger.refund_requests;
     delete from ledger.refund_requests`,
  );
  await night(house, 5);
  expect(await finalOrders(house)).toBe(1);
  await house.db.query('insert into ledger.refund_requests select * from kept');
  await night(house, 4);
  expect(await instructionCounts(house.db)).toEqual({ 'refund held': 1 });
  const { rows } = await house.db.query<{ id: bigint }>(
    'select instruction_id as id from tieout.instructions',
  );
  const deps = await (await house.open()).sendDeps();
  await decideInstructions(deps, {
    ids: rows.map(({ id }) => id),
    decision: { kind: 'reject', reason: 'the customer keeps it' },
    who: { name: 'anna', isClaim: true },
  });
  for (const daysAgo of [3, 2]) {
    expect((await night(house, daysAgo)).state).toBe('broken');
    expect((await openBreaksOf(house.db)).join()).toMatch(/^\S+ refund_mismatch$/);
  }
  await house.db.query('delete from ledger.refund_requests');
  expect((await night(house, 1)).state).toBe('tied_out');
  expect(await finalOrders(house)).toBe(1);
  // It had gone as its order became final: once it is back, it is told again.
  await house.db.query('insert into ledger.refund_requests select * from kept');
  expect((await night(house, 1)).state).toBe('broken');
  expect(await finalOrders(house)).toBe(0);
  expect(await house.effects()).toEqual([]);
});

test('a request that is raised after it was refunded elsewhere and its order was final is told', async () => {
  const house = await houseOf('refund_done_elsewhere');
  await night(house, 5);
  expect(await finalOrders(house)).toBe(1);
  await house.db.query('update ledger.refund_requests set refund_amount = refund_amount + 1');
  expect((await night(house, 4)).state).toBe('broken');
  expect((await openBreaksOf(house.db)).join()).toMatch(/^\S+ refund_mismatch$/);
  expect(await house.effects()).toEqual([]);
});

test('one that is raised and dated as history at once is told by name, once', async () => {
  const house = await houseOf('refund_done_elsewhere');
  await night(house, 5);
  expect(await finalOrders(house)).toBe(1);
  await house.db.query(
    `update ledger.refund_requests
     set refund_amount = refund_amount + 1, requested_at = '2020-01-01Z'`,
  );
  const told = ({ notices = [] }: RunSummary) =>
    notices.filter(({ kind }) => kind === 'now_history').map(({ text }) => text);
  expect(told(await night(house, 4))).toEqual([
    expect.stringMatching(/^1 request .* counts as done by now, since the ledger dates it older/),
  ]);
  expect(told(await night(house, 3))).toEqual([]);
  expect(await house.effects()).toEqual([]);
});

test('of an amount that stays, nothing is told', async () => {
  const house = await houseOf('refund_done_elsewhere');
  await night(house, 5);
  await house.db.query(`update ledger.refund_requests set requested_at = '2020-01-01Z'`);
  expect(((await night(house, 4)).notices ?? []).map(({ kind }) => kind)).not.toContain(
    'now_history',
  );
});

test('an order that a wrong meaning of a code made final is looked at once it is put right', async () => {
  const house = await houseOf('capture_due');
  const profile = join(house.folder, 'profile.yaml');
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  const { payment } = sandboxProfile().statuses;
  const meaning = (state: string) =>
    writeFileSync(
      profile,
      JSON.stringify({ ...sandboxProfile(), statuses: { payment: { ...payment, 2000: state } } }),
    );
  meaning('captured');
  expect((await night(house, 5)).state).toBe('tied_out');
  expect(await finalOrders(house)).toBe(1);
  expect((await night(house, 4)).accounts.map(({ orders }) => orders.ledger)).not.toContain(1);
  meaning('authorised');
  await night(house, 3);
  expect(await finalOrders(house)).toBe(0);
  // What a changed meaning frees waits for a person.
  expect(await instructionCounts(house.db)).toEqual({ 'capture held': 1 });
  expect(await house.effects()).toEqual([]);
});
