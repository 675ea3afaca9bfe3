// What was moved behind a backup stands in the way of what comes in its place, whoever moved it: a
// person by hand, or a batch whose request leaves the ledger. Neighbour: putBack.test.ts.

import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { unknownPermits } from '../../src/send/journal/journalsStore.js';
import type { LostPermit } from '../../src/send/journal/permitSegments.js';
import { enterLost } from '../../src/send/journal/putBacksStore.js';
import type { Shop } from './sharedShop.js';
import {
  ACCOUNT,
  askForPayout,
  closeShops,
  freezes,
  letGo,
  openShop,
  PAYOUT,
  waiting,
} from './sharedShop.js';

/** Nights, and restarts of a server. */
vi.setConfig({ testTimeout: 240_000 });

afterEach(closeShops);

const ANEW = '00000000-0000-4000-8000-0000000000a0';
const payouts = async (shop: Shop): Promise<string[]> =>
  (await shop.effects()).filter((one) => one.startsWith('payout'));

/** Comes back behind what was done, and is let go by a person who has read what the run found. */
async function putBack(shop: Shop, lost: number): Promise<void> {
  await shop.server.putBack('a base backup');
  await shop.a.night(1);
  expect(await freezes(shop)).toEqual([
    expect.stringMatching(new RegExp(`journal knows ${lost} permit`)),
  ]);
  await letGo(shop);
}

/** An order that was captured, and of which some went back, so that no state tells one part more. */
async function refundedInPart(shop: Shop) {
  await shop.a.night(3);
  const { rows } = await shop.server.at((db) =>
    db.query<Record<'order_no' | 'transaction_id' | 'currency' | 'amount', string>>(
      `select order_no, transaction_id, currency, amount::numeric(20, 2)::text as amount
       from tieout.instructions
       where operation = 'capture' and state = 'confirmed' order by amount desc limit 1`,
    ),
  );
  const [captured] = rows;
  if (!captured) throw new Error('nothing was captured');
  await askForRefund(shop, captured.order_no, 'R-before', '1.00');
  await shop.a.night(2);
  return captured;
}

async function askForRefund({ server }: Shop, orderNo: string, id: string, amount: string) {
  await server.at((db) =>
    db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
         requested_by, requested_at)
       values ($1, $2, $3, $4, 'back', 'shop', now())`,
      [ACCOUNT, id, orderNo, amount],
    ),
  );
}

it('a refund by hand that the database has lost: the request that it was for is asked about', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  const captured = await refundedInPart(shop);
  await server.keep('a base backup');
  await a.byHand('refund', {
    refund_orders: [{ ...captured, refund_amount: '2.00', refund_reason: 'by phone' }],
  });
  const moved = await shop.effects();
  expect(moved.filter((one) => one.startsWith(`refund ${captured.order_no}`))).toHaveLength(2);
  await putBack(shop, 1);
  await askForRefund(shop, captured.order_no, 'R-by-phone', '2.00');
  await a.night(1);
  expect(await shop.effects()).toEqual(moved);
  expect(await waiting(shop)).toEqual([expect.stringMatching(/^refund held: (by_hand|restored)$/)]);
  const { rows: calls } = await server.at((db) =>
    db.query('select operation, called_by, outcome from tieout.gateway_calls'),
  );
  expect(calls).toEqual([
    { operation: 'refund', called_by: expect.stringMatching(/^journal of /), outcome: null },
  ]);
});

it('a refund by hand that the gateway refused stands in the way of nothing, though it was lost', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  const captured = await refundedInPart(shop);
  await server.keep('a base backup');
  const before = await shop.effects();
  // More than is left of it: the gateway says no.
  const tooMuch = { ...captured, refund_amount: captured.amount, refund_reason: 'by phone' };
  await a.byHand('refund', { refund_orders: [tooMuch] });
  expect(await shop.effects()).toEqual(before);
  await putBack(shop, 1);
  const { rows: calls } = await server.at((db) =>
    db.query('select operation, called_by, outcome, host from tieout.gateway_calls'),
  );
  expect(calls).toEqual([
    expect.objectContaining({
      ...{ operation: 'refund', outcome: 'rejected' },
      called_by: expect.stringMatching(/^journal of /),
    }),
  ]);
  await askForRefund(shop, captured.order_no, 'R-after', '2.00');
  await a.night(1, new Date());
  const added = (await shop.effects()).filter((one) => !before.includes(one));
  expect(added).toEqual([`refund ${captured.order_no} 2.00`]);
});

it('a payout that the database has lost is made by nobody a second time by hand', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  await a.night(3);
  await askForPayout(shop);
  await server.keep('a base backup');
  await a.payByHand();
  await putBack(shop, 1);
  await expect(a.payByHand()).rejects.toThrow(/was sent at .* before the database was put back/);
  expect(await payouts(shop)).toHaveLength(1);
});

it('a payout of a batch that the database has lost is not made by hand', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  await a.night(3);
  await askForPayout(shop);
  await server.keep('a base backup');
  await a.night(2);
  expect(await payouts(shop)).toHaveLength(1);
  // With the second refund of the order.
  await putBack(shop, 2);
  await expect(a.payByHand()).rejects.toThrow(/was sent at .* before the database was put back/);
  expect(await payouts(shop)).toHaveLength(1);
});

it('a payout that waits, as it may have been sent, bars what comes in the place of its request', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  a.set('approve');
  await a.night(3);
  await askForPayout(shop);
  await a.night(2);
  expect(await waiting(shop)).toContain('payout held: approval');
  await server.keep('a base backup');
  await a.decide('approve');
  await a.comeBy();
  expect(await payouts(shop)).toHaveLength(1);
  a.set('auto');
  await shop.server.putBack('a base backup');
  await a.night(1);
  await letGo(shop);
  // Who has found that it was paid takes it out, and the next load brings it under another number.
  await server.at((db) =>
    db.query('delete from ledger.payout_requests where request_id = $1', [PAYOUT]),
  );
  await askForPayout(shop, 0, ANEW);
  await a.night(1);
  expect(await payouts(shop)).toHaveLength(1);
  expect(await waiting(shop)).toContain('payout held: twin_request');
});

it('a payout whose very request was lost bars what comes in its place', async () => {
  const shop = await openShop();
  const { a, server } = shop;
  await a.night(3);
  await server.keep('a base backup');
  await askForPayout(shop);
  await a.night(2);
  expect(await payouts(shop)).toHaveLength(1);
  // With the second refund of the order.
  await putBack(shop, 2);
  // The ledger went back, too; what is imported again bears another number, and the date of now.
  const { rows } = await server.at((db) => db.query('select from ledger.payout_requests'));
  expect(rows).toHaveLength(0);
  await askForPayout(shop, 0, ANEW);
  await a.night(1, new Date());
  expect(await payouts(shop)).toHaveLength(1);
  expect(await waiting(shop)).toContain('payout held: twin_request');
  // Who has looked, and found that it is another one, lets it go.
  await a.decide('approve', 'seen');
  await a.comeBy();
  expect(await payouts(shop)).toHaveLength(2);
});

it('a payout by hand that moved nothing is entered as such, and pays nobody’s request', async () => {
  const shop = await openShop();
  const { server } = shop;
  const permit: LostPermit = {
    ...{ attemptId: randomUUID(), batchId: '', accountId: ACCOUNT, operation: 'payout' },
    ...{ bodySha256: 'f'.repeat(64), at: '2026-11-20T10:00:00Z', outcome: 'rejected' },
    entries: [{ id: '1', order: PAYOUT, transaction: PAYOUT, amount: '120', currency: 'EUR' }],
  };
  const { rows } = await server.at(async (db) => {
    await db.transaction((tx) => enterLost(tx, 'a', [permit]));
    expect(await unknownPermits(db, [permit.attemptId])).toEqual([]);
    return db.query(
      `select outcome, (select count(*)::int from tieout.calls_by_hand($1)) as paying,
         (select count(*)::int from tieout.lost_permits) as lost from tieout.gateway_calls`,
      [PAYOUT],
    );
  });
  expect(rows).toEqual([{ outcome: 'rejected', paying: 0, lost: 0 }]);
});
