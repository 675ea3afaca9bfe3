// What changes in the ledger between the two snapshots of one night: an order that needs no further look
// is remembered as the second snapshot judged it, so that a request that was away in that moment is
// looked at when it comes back. Neighbour: faults/people/editedLedger.test.ts, with nights between.

import { afterEach, expect, test } from 'vitest';
import type { RunResult } from '../../src/night/run.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { House } from '../support/night.js';
import { dateOf, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

/** `gone`: which requests leave the ledger while the operation is on its way. */
async function leavingDuring(
  kind: string,
  operation: string,
  prepare: string,
  gone: string,
): Promise<House> {
  const inLedger = kinds({ [kind]: 1 });
  const settings = { reconcile: { lookbackDays: 1 } };
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 5, settings });
  cleanups.push(() => house.end());
  await house.db.query(`${prepare};
    create table kept as select * from ledger.refund_requests where ${gone}`);
  front.trouble = async (call) => {
    if (call.operation === operation) {
      await house.db.query(`delete from ledger.refund_requests where ${gone}`);
    }
    return false;
  };
  await night(house, 4);
  front.trouble = () => false;
  expect((await house.effects()).map((effect) => effect.operation)).toEqual([operation]);
  // A night without it, in which the order is final.
  await night(house, 3);
  await house.db.query('insert into ledger.refund_requests select * from kept');
  await night(house, 2);
  return house;
}

test('a request that goes while another one of its order is paid, and comes back, is paid', async () => {
  const house = await leavingDuring(
    'partial_refund_due',
    'refund',
    `update ledger.refund_requests set refund_id = 'part-1', refund_amount = 1.00;
     insert into ledger.refund_requests
     select account_id, 'part-2', order_no, 2.00, reason, requested_by,
       requested_at + interval '1 second' from ledger.refund_requests`,
    `refund_id = 'part-2'`,
  );
  expect((await house.effects()).map((effect) => effect.refund_amount)).toEqual(['1.00', '2.00']);
});

test('a request that goes while its order is captured, and comes back, is paid', async () => {
  const house = await leavingDuring(
    'capture_due',
    'capture',
    `insert into ledger.refund_requests
     select account_id, 'part', order_no, 1.00, 'returned', null, placed_at + interval '1 hour'
     from ledger.orders`,
    `refund_id = 'part'`,
  );
  expect((await house.effects()).map(({ operation }) => operation)).toEqual(['capture', 'refund']);
});
