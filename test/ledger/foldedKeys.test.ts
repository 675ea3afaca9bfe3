// A merchant's view whose texts fold cases and accents, as columns of a nondeterministic collation
// do, and whose ids are integers: numbers are the bytes that they are. Two that differ in case are
// two orders, and each is worked on.

import { afterEach, expect, test } from 'vitest';
import { findOrders } from '../../src/orders/historyStore.js';
import { auditRun } from '../faults/audit.js';
import { approveHeld } from '../support/approveHeld.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function foldedHouse(twinOf: (numbers: readonly string[]) => string): Promise<House> {
  const inLedger = kinds({ capture_due: 4, partial_refund_due: 2 }, 'A1002');
  const settings = { operations: { refund: 'approve' } };
  const house = await buildHouse({ orders: 900, daysAgo: 2, inLedger, settings });
  cleanups.push(() => house.end());
  const numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '');
  const folded = 'text collate ledger.folded';
  await house.db.query(`
    create collation ledger.folded (provider = icu, locale = 'und-u-ks-level1',
      deterministic = false);
    alter table ledger.orders rename to shop_orders;
    alter table ledger.refund_requests rename to shop_refunds;
    create view ledger.orders as
      select account_id::${folded} as account_id, order_no::${folded} as order_no,
        currency::${folded} as currency, amount, expected::${folded} as expected,
        transaction_id::${folded} as transaction_id, capture_amount,
        review_decision::${folded} as review_decision, placed_at, updated_at
      from ledger.shop_orders
      union all select account_id, lower(order_no), currency, amount, 'declined', null, null, null,
        placed_at, null from ledger.shop_orders where order_no = '${twinOf(numbers)}';
    create view ledger.refund_requests as
      select account_id::${folded} as account_id,
        ('x' || left(md5(refund_id), 12))::bit(48)::bigint as refund_id,
        order_no::${folded} as order_no, refund_amount, reason::${folded} as reason,
        requested_by::${folded} as requested_by, requested_at from ledger.shop_refunds`);
  return house;
}

test('orders that differ in case alone are two, and each is found', async () => {
  let twin = '';
  const house = await foldedHouse((numbers) => {
    twin = numbers.find((one) => one !== one.toLowerCase()) ?? '';
    return twin;
  });
  expect(twin).not.toBe('');
  const { summary } = await house.run({ date: dateOf(2) });
  const { rows: told } = await house.db.query('select kind, order_no from tieout.breaks');
  expect(told).toEqual([]);
  await expectIdentities(house.db, summary);
  expect(new Set(await approveHeld(house))).toEqual(new Set(['done']));
  expect((await house.run({ date: dateOf(2) })).summary.state).toBe('tied_out');
  const effects = await house.effects();
  const moved = effects.map(({ order_no: orderNo }) => orderNo).sort();
  expect(moved).toEqual(house.seeded.map(({ ledger }) => ledger.order_no ?? '').sort());
  expect(await auditRun(house.db, effects)).toEqual([]);
  for (const number of [twin, twin.toLowerCase()]) {
    const shown = await tieoutHere(['order', 'A1002', number, '--json'], { cwd: house.folder });
    expect(shown.code, shown.stderr).toBe(0);
    expect(JSON.parse(shown.stdout)).toMatchObject({ ledger: { order_no: number } });
  }
  const { rows: refunds } = await house.db.query<{ id: string }>(
    'select refund_id::text as id from ledger.refund_requests',
  );
  for (const [asked, orders] of [
    [refunds[0]?.id ?? '', 1],
    [twin.slice(1), 2],
  ] as const) {
    const found = await findOrders(house.db, ['A1002'], asked, 9);
    expect(found.orders.length, asked).toBe(orders);
  }
}, 120_000);
