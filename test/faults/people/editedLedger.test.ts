// Nights over a ledger that is edited between them: requests that we paid leave it, are renamed or
// lowered; and over orders whose transactions change. What was paid stays paid. Whole nights; each
// test ends with what really moved.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sandboxProfile } from '../../../src/gateway/document/profile.js';
import type { RunResult } from '../../../src/night/run.js';
import { findRun } from '../../../src/runs/runsStore.js';
import { verifyRun } from '../../../src/verify/verifyRun.js';
import { byHand } from '../../support/byHand.js';
import type { House } from '../../support/night.js';
import {
  buildHouse,
  dateOf,
  instructionCounts,
  kinds,
  openBreaksOf,
  rewriteSettings,
} from '../../support/night.js';
import { answerJson, showing } from '../front.js';
import { houseBehind } from '../houseBehind.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** One order of which a tenth is asked back: two parts of it are paid, one a night. */
async function twicePaid(): Promise<{ house: House; orderNo: string }> {
  const inLedger = kinds({ partial_refund_due: 1 });
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  const [{ ledger } = { ledger: undefined }] = house.seeded;
  await house.db.query(
    `update ledger.refund_requests set refund_id = 'part-1', refund_amount = 1.00;
     insert into ledger.refund_requests
     select account_id, 'part-2', order_no, 2.00, reason, requested_by,
       requested_at + interval '1 second' from ledger.refund_requests`,
  );
  await night(house, 4);
  await night(house, 3);
  expect(await refunded(house)).toEqual(['1.00', '2.00']);
  expect(await openBreaksOf(house.db)).toEqual([]);
  return { house, orderNo: ledger?.order_no ?? '' };
}

/** The night of that date, in the early morning after it. */
function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

async function refunded(house: House): Promise<(string | undefined)[]> {
  return (await house.effects()).map((effect) => effect.refund_amount);
}

test.each([
  ['renamed', `update ledger.refund_requests set refund_id = 'again' where refund_id = 'part-2'`],
  [
    'deleted, while another one asks',
    `delete from ledger.refund_requests where refund_id = 'part-1';
     insert into ledger.refund_requests
     select account_id, 'part-3', order_no, 1.00, reason, requested_by, requested_at
     from ledger.refund_requests`,
  ],
  [
    'lowered, while another one asks',
    `update ledger.refund_requests set refund_amount = 0.50 where refund_id = 'part-2';
     insert into ledger.refund_requests
     select account_id, 'part-3', order_no, 0.50, reason, requested_by, requested_at
     from ledger.refund_requests where refund_id = 'part-1'`,
  ],
  ['deleted with every other', 'delete from ledger.refund_requests'],
])('a request that was paid and is %s moves nothing more, and is a break', async (_, edit) => {
  const { house, orderNo } = await twicePaid();
  await house.db.query(edit);
  for (const daysAgo of [2, 1]) {
    const { summary } = await night(house, daysAgo);
    expect(summary.state).toBe('broken');
    expect(await openBreaksOf(house.db)).toEqual([`${orderNo} refund_mismatch`]);
  }
  expect(await refunded(house)).toEqual(['1.00', '2.00']);
  expect(await instructionCounts(house.db)).toEqual({ 'refund confirmed': 2 });
});

test('a request that was paid and has left heals as it comes back', async () => {
  const { house, orderNo } = await twicePaid();
  await house.db.query(
    `create table kept as select * from ledger.refund_requests where refund_id = 'part-2';
     delete from ledger.refund_requests where refund_id = 'part-2'`,
  );
  expect((await night(house, 2)).summary.state).toBe('broken');
  expect(await openBreaksOf(house.db)).toEqual([`${orderNo} refund_mismatch`]);
  await house.db.query('insert into ledger.refund_requests select * from kept');
  expect((await night(house, 1)).summary.state).toBe('tied_out');
  expect(await refunded(house)).toEqual(['1.00', '2.00']);
});

/** One order that is older than the look-back, of which a part is asked back and waits for a person. */
async function heldPart(): Promise<{ house: House; orderNo: string }> {
  const inLedger = kinds({ partial_refund_due: 1 });
  const settings = {
    reconcile: { lookbackDays: 1 },
    operations: { refund: 'approve' },
  };
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 6, settings });
  cleanups.push(() => house.end());
  const [{ ledger } = { ledger: undefined }] = house.seeded;
  await night(house, 4);
  expect(await instructionCounts(house.db)).toEqual({ 'refund held': 1 });
  return { house, orderNo: ledger?.order_no ?? '' };
}

test('a request that is away for a night and comes back is asked for again', async () => {
  const { house } = await heldPart();
  await house.db.query(
    `create table kept as select * from ledger.refund_requests;
     delete from ledger.refund_requests`,
  );
  await night(house, 3);
  expect(await instructionCounts(house.db)).toEqual({ 'refund withdrawn': 1 });
  await house.db.query('insert into ledger.refund_requests select * from kept');
  await night(house, 2);
  expect(await instructionCounts(house.db)).toEqual({ 'refund held': 1, 'refund withdrawn': 1 });
});

test('a request that was paid and moves to an old order is a break of that one, too', async () => {
  const { house, orderNo } = await twicePaid();
  await house.db.query(
    `insert into ledger.orders
     select account_id, 'another', currency, amount, expected, null, null, null,
       placed_at - interval '90 days', null from ledger.orders;
     insert into tieout.final_orders (account_id, order_no, fingerprint, run_id)
     select account_id, order_no, md5(row(currency, amount::numeric(20, 2), expected,
       transaction_id, capture_amount, review_decision, placed_at)::text), 1
     from ledger.orders where order_no = 'another';
     update ledger.refund_requests set order_no = 'another' where refund_id = 'part-2'`,
  );
  const { summary } = await night(house, 2);
  expect(summary.state).toBe('broken');
  // It is looked at, and the gateway does not know it: what it asks for does not go unsaid.
  expect(await openBreaksOf(house.db)).toEqual([
    `${orderNo} refund_mismatch`,
    'another missing_at_gateway',
  ]);
  expect(await refunded(house)).toEqual(['1.00', '2.00']);
});

async function held(house: House): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ hold_reason: string }>(
    `select hold_reason from tieout.instructions where state = 'held' order by order_no`,
  );
  return rows.map((row) => row.hold_reason);
}

test('one transaction under two orders is refunded for neither by itself', async () => {
  const inLedger = kinds({ partial_refund_due: 2 }, 'A1002');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.orders set transaction_id = null');
  expect(house.seeded).toHaveLength(2);
  showing(front, () => ({ transaction_id: 'shared-1' }));
  await night(house, 4);
  expect(await held(house)).toEqual(['shared_refund', 'shared_refund']);
  await night(house, 3);
  expect(await held(house)).toEqual(['shared_refund', 'shared_refund']);
  expect(front.asked.get('refund')).toBeUndefined();
  expect(await house.effects()).toEqual([]);
});

/** What waits, with its reason, and what has moved. */
async function states(house: House): Promise<{ held: (string | null)[]; moved: string[] }> {
  const moved = (await house.effects()).map(({ operation, account_id, amount, refund_amount }) => {
    return `${operation} ${account_id} ${refund_amount ?? amount}`;
  });
  return { held: await held(house), moved };
}

test('a part that a person refunded by hand is not refunded once more by itself', async () => {
  const { house, orderNo } = await twicePaid();
  await house.db.query(
    `insert into ledger.refund_requests
     select account_id, 'part-3', order_no, 3.00, reason, requested_by,
       requested_at + interval '1 second' from ledger.refund_requests where refund_id = 'part-2'`,
  );
  const [paid] = await house.effects();
  const { rows } = await house.db.query<{ currency: string; amount: string }>(
    'select currency, amount::text as amount from ledger.orders',
  );
  const entry = { transaction_id: paid?.transaction_id, refund_amount: '3.00', ...rows[0] };
  const refund_orders = [{ ...entry, order_no: orderNo, refund_reason: 'by hand' }];
  const account = paid?.account_id ?? '';
  expect(await byHand(house, account, 'refund', { refund_orders })).toBe('accepted');
  for (const daysAgo of [2, 1]) {
    await night(house, daysAgo);
    expect(await held(house)).toEqual(['by_hand']);
  }
  expect(await refunded(house)).toEqual(['1.00', '2.00', '3.00']);
});

test('a refund request that comes again in other letters waits for a person', async () => {
  const { house } = await twicePaid();
  await house.db.query(
    `insert into ledger.refund_requests
     select account_id, 'Part-2 ', order_no, refund_amount, reason, requested_by, requested_at
     from ledger.refund_requests where refund_id = 'part-2'`,
  );
  await night(house, 2);
  expect(await held(house)).toEqual(['twin_request']);
  expect(await refunded(house)).toEqual(['1.00', '2.00']);
});

test('a refund that the gateway refused does not go by itself under another id', async () => {
  const inLedger = kinds({ partial_refund_due: 1 });
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  front.trouble = async (call) => call.operation === 'refund' && refusing(call);
  await night(house, 4);
  expect(await instructionCounts(house.db)).toEqual({ 'refund rejected': 1 });
  front.trouble = () => false;
  await house.db.query(`update ledger.refund_requests set refund_id = 'again'`);
  for (const daysAgo of [3, 2]) {
    await night(house, daysAgo);
    expect(await held(house)).toEqual(['twin_request']);
  }
  expect(await refunded(house)).toEqual([]);
});

function refusing(call: Parameters<typeof answerJson>[0]): true {
  const asked = JSON.parse(call.body) as { refund_orders: Record<string, string>[] };
  const refused = { refund_status: '0', refund_message: 'E0009:not today' };
  const refund_orders = asked.refund_orders.map((entry) => ({ ...entry, ...refused }));
  return answerJson(call, { ...asked, return_status: '1', error_message: '', refund_orders });
}

test('one transaction under two orders, of which one is captured and one cancelled, waits', async () => {
  const inLedger = kinds({ capture_due: 1, cancel_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  await house.db.query('update ledger.orders set transaction_id = null');
  showing(front, () => ({ transaction_id: 'shared-1' }));
  await night(house, 4);
  expect(await held(house)).toEqual(['shared_transaction', 'shared_transaction']);
  expect([...front.asked.keys()]).toEqual(['retrievalTrans']);
});

test('no more goes back than was captured, when the ledger forgets that it was a part', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  const profile = join(house.folder, 'profile.yaml');
  writeFileSync(profile, JSON.stringify({ ...sandboxProfile(), partialCapture: true }));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  const { rows } = await house.db.query<{ amount: string }>(
    'update ledger.orders set capture_amount = 1.00 returning amount::text as amount',
  );
  // After a capture of a part the gateway may show either amount.
  showing(front, () => ({ amount: rows[0]?.amount }));
  await night(house, 4);
  await house.db.query(
    `update ledger.orders set capture_amount = null;
     insert into ledger.refund_requests
     select account_id, 'all', order_no, amount, null, null, placed_at + interval '1 hour'
     from ledger.orders`,
  );
  await night(house, 3);
  // Less was captured than the ledger says: a difference, and nothing of the order is sent.
  expect((await openBreaksOf(house.db)).map((one) => one.split(' ')[1])).toEqual([
    'amount_mismatch',
  ]);
  expect(await states(house)).toEqual({ held: [], moved: ['capture A1001 1.00'] });
  await house.db.query(`update ledger.orders set expected = 'cancelled'`);
  await night(house, 2);
  expect(await states(house)).toEqual({
    held: ['over_captured'],
    moved: ['capture A1001 1.00'],
  });
  expect(front.asked.get('refund')).toBeUndefined();
});

test('nothing goes back in a currency that was not captured, whatever both sides say by now', async () => {
  const inLedger = kinds({ capture_due: 1 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 4 });
  cleanups.push(() => house.end());
  let other: string | null = null;
  showing(front, () => (other === null ? {} : { currency: other }));
  await night(house, 4);
  const moved = (await states(house)).moved;
  expect(moved).toHaveLength(1);
  const { rows } = await house.db.query<{ currency: string }>('select currency from ledger.orders');
  other = rows[0]?.currency === 'USD' ? 'GBP' : 'USD';
  await house.db.query(
    `update ledger.orders set currency = '${other}';
     insert into ledger.refund_requests
     select account_id, 'R' || order_no, order_no, 1.00, null, null, placed_at + interval '1 hour'
     from ledger.orders`,
  );
  await night(house, 3);
  expect(await states(house)).toEqual({ held: ['over_captured'], moved });
  expect(front.asked.get('refund')).toBeUndefined();
});

test('a refund request whose order the ledger lacks is a break until it has one', async () => {
  const inLedger = kinds({ partial_refund_due: 2 }, 'A1002');
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 5 });
  cleanups.push(() => house.end());
  const [one] = house.seeded;
  const orderNo = one?.ledger.order_no ?? '';
  await house.db.query('update ledger.refund_requests set order_no = $1 where order_no = $2', [
    'typo-1',
    orderNo,
  ]);
  for (const daysAgo of [5, 4]) {
    const { summary } = await night(house, daysAgo);
    expect(summary.state).toBe('broken');
    expect(await openBreaksOf(house.db)).toEqual(['typo-1 refund_without_order']);
    const account = summary.accounts.find(({ accountId }) => accountId === 'A1002');
    expect(account?.breaks).toEqual({ refund_without_order: 1 });
    // It stands in no class of orders.
    expect(account?.orders).toMatchObject({ ledger: 2, strangers: 0, broken: 0, matched: 2 });
    expect(account?.tie).toMatchObject({ openAfter: 1 });
  }
  const run = await findRun(house.db, dateOf(4));
  const { db, config, version } = await house.open();
  if (run === null) throw new Error('no run');
  const again = await verifyRun({ db, config, version, progress: () => {} }, run);
  expect(again.differences).toEqual([]);
  expect(await house.effects()).toHaveLength(1);
  await house.db.query('update ledger.refund_requests set order_no = $1 where order_no = $2', [
    orderNo,
    'typo-1',
  ]);
  expect((await night(house, 3)).summary.state).toBe('tied_out');
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(await house.effects()).toHaveLength(2);
});
