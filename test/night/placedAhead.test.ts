// An order whose time lies far ahead, by a slip: no night would come to it, and so it is told.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { importOrders } from '../../src/ledger/imports/importOrders.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf } from '../support/night.js';

let house: House;
afterEach(() => house.end());

test('in the ledger it is invalid_record every night; one of today waits in silence', async () => {
  house = await buildHouse({ orders: 60, inLedger: kinds({}), daysAgo: 2 });
  await house.db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
     values ('A1001', 'FUT', 'EUR', 70.00, 'captured', '2062-11-10T12:00:00Z'),
       ('A1001', 'TODAY', 'EUR', 70.00, 'captured', now())`,
  );
  for (const daysAgo of [2, 1]) {
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    expect(summary.state).toBe('broken');
    expect(await openBreaksOf(house.db)).toEqual(['FUT invalid_record']);
  }
  const { rows } = await house.db.query('select expected from tieout.breaks');
  expect(rows).toMatchObject([
    { expected: { problem: expect.stringMatching(/^its placed_at 2062-11-10 .* a day ahead$/) } },
  ]);
  await house.db.query(`update ledger.orders set placed_at = now() where order_no = 'FUT'`);
  expect((await house.run({ date: dateOf(1) })).summary.state).toBe('tied_out');
});

test('a request so far ahead is invalid_record, and nothing of it is sent', async () => {
  const inLedger = kinds({ partial_refund_due: 1 });
  house = await buildHouse({ orders: 600, inLedger, daysAgo: 2 });
  await house.db.query(
    `update ledger.refund_requests set requested_at = '2099-01-01T00:00:00Z';
     update ledger.payout_requests set requested_at = '2099-01-01T00:00:00Z'`,
  );
  const { summary } = await house.run({ date: dateOf(2) });
  expect(summary.state).toBe('broken');
  expect(await house.effects()).toEqual([]);
  const { rows } = await house.db.query<{ problem: string }>(
    `select expected ->> 'problem' as problem from tieout.breaks where kind = 'invalid_record'`,
  );
  expect(rows).toEqual([
    { problem: expect.stringMatching(/^its refund request .* requested_at 2099-.* a day ahead$/) },
  ]);
});

test('a file with one is refused by line, column and value, and nothing of it is taken', async () => {
  house = await buildHouse({ orders: 60, inLedger: kinds({}), daysAgo: 2 });
  const file = join(house.folder, 'orders.csv');
  const head = 'account_id,order_no,currency,amount,expected,placed_at';
  const value = '2062-11-10T12:00:00Z';
  const early = `A1001,OK,EUR,70.00,captured,${dateOf(1)}T12:00:00Z`;
  writeFileSync(file, `${head}\n${early}\nA1001,FUT,EUR,70.00,captured,${value}\n`);
  const deps = { db: house.db, profile: sandboxProfile(), accounts: house.accounts };
  expect(await importOrders(deps, [file], { check: false })).toMatchObject({
    kind: 'refused',
    problems: [{ line: 3, column: 'placed_at', value, reason: 'lies more than a day ahead' }],
  });
  const { rows } = await house.db.query('select order_no from ledger.orders');
  expect(rows).toEqual([]);
});
