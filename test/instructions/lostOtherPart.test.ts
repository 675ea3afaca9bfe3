// A capture of which nobody knows whether it happened, while a journal names another amount that was
// captured of its transaction and that the database forgot when it was put back: a snapshot shows
// that something was captured and not how much, so that a person says it, and no figure is wrong.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drop } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, openBreaksOf } from '../support/night.js';

interface Unknown {
  orderNo: string;
  accountId: string;
  transactionId: string;
  currency: string;
  amount: string;
}

let house: House;
let orders: Unknown[];

/** In the morning after that date. */
const night = (daysAgo: number) =>
  house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));

beforeAll(async () => {
  const { house: built, front } = await houseBehind({
    orders: 900,
    daysAgo: 3,
    inLedger: kinds({ capture_due: 3 }),
    settings: { operations: { capture: 'auto' } },
  });
  house = built;
  // No look after the send is answered, so that nothing is known in this night.
  let isSent = false;
  front.trouble = async (call) => {
    if (call.operation === 'capture') {
      isSent = true;
      await call.pass();
      return drop(call);
    }
    return isSent && drop(call);
  };
  await night(3);
  front.trouble = () => false;
  const found = await house.db.query<Unknown>(
    `select order_no as "orderNo", account_id as "accountId", transaction_id as "transactionId",
       currency, amount::numeric(20, 2)::text as amount
     from tieout.instructions where state = 'unknown' and operation = 'capture'
     order by order_no`,
  );
  orders = found.rows;
}, 180_000);

afterAll(() => house.end());

async function lose({ accountId, orderNo, transactionId, currency }: Unknown, amount: string) {
  await house.db.query(
    `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,
       transaction_id, currency, amount, sent_at, host)
     values ($1, 0, $2, 'capture', $3, $4, $5, $6, now(), 'other')`,
    [randomUUID(), accountId, orderNo, transactionId, currency, amount],
  );
}

test('is settled by a snapshot only where no journal names another amount', async () => {
  const [plain, same, other] = orders as [Unknown, Unknown, Unknown];
  await lose(same, same.amount);
  await lose(other, '0.01');
  await night(2);
  const { rows } = await house.db.query<{ orderNo: string; state: string }>(
    `select order_no as "orderNo", state from tieout.instructions where operation = 'capture'
     order by order_no`,
  );
  expect(rows).toEqual([
    { orderNo: plain.orderNo, state: 'confirmed' },
    { orderNo: same.orderNo, state: 'confirmed' },
    { orderNo: other.orderNo, state: 'unknown' },
  ]);
  expect(await openBreaksOf(house.db)).toEqual([`${other.orderNo} outcome_unknown`]);
});
