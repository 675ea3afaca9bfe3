// A console whose every list has a row, among them orders with numbers as long as they may be and no
// place to break them: a reservation, a capture that waits for approval, a waiver that waits, a
// change since the night before, and a late movement.

import { byHand } from '../support/byHand.js';
import type { House } from '../support/night.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

/** Reserved at the gateway; its capture waits for approval. */
export const LONG = 'X'.repeat(128);
/** In the ledger alone, since the second night. */
export const MISSING = 'Y'.repeat(128);
export const ACCOUNT = 'A1001';
const AMOUNT = { currency: 'EUR', amount: '1234.56' };

/** Two nights. No refund is answered, so that some wait for what somebody finds. */
export async function longNumberHouse(): Promise<ConsoleHouse> {
  const console = await openConsole({
    orders: 150,
    settings: {
      operations: { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'approve' },
    },
    fault: ({ operation }) => (operation === 'refund' ? { kind: 'drop', when: 'after' } : null),
    before: async (house) => {
      await placeOrder(house, LONG, '1 day');
      await pay(house, LONG);
      await house.run({ date: dateOf(2) }, new Date(`${dateOf(1)}T04:15:00Z`));
      await placeOrder(house, MISSING, '3 days');
    },
  });
  await decideAndPost(console.house);
  return console;
}

async function pay(house: House, orderNo: string): Promise<void> {
  const payment = {
    ...{ order_no: orderNo, ...AMOUNT, card: '4111111111111111', expiration_month: '12' },
    ...{ expiration_year: '2030', security_code: '123', accept: 'text/html' },
  };
  const kind = await byHand(house, ACCOUNT, 'authorise', payment);
  if (kind !== 'accepted') throw new Error(`the payment was ${kind}`);
}

async function placeOrder({ db }: House, orderNo: string, ago: string): Promise<void> {
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
     values ($1, $2, $3, $4, 'captured', now() - $5::interval)`,
    [ACCOUNT, orderNo, AMOUNT.currency, AMOUNT.amount, ago],
  );
}

/** A waiver that waits, and a movement that came after its day was closed. */
async function decideAndPost({ db }: House): Promise<void> {
  // Of every age, some of one currency.
  await db.query(
    `update tieout.breaks set first_seen = first_seen - make_interval(days => 7 * break_id::int)`,
  );
  await db.query(
    `update tieout.breaks set waiver_asked_for = fingerprint, waiver_asked_by = 'anna',
       waiver_asked_reason = repeat('Z', 128)
     where order_no = $1`,
    [MISSING],
  );
  await db.query(
    `insert into tieout.day_movements (instruction_id, account_id, order_no, operation, currency,
       amount, belongs_to, posted_to)
     select instruction_id, account_id, order_no, operation, currency, amount, $2, $3
     from tieout.instructions where order_no = $1`,
    [LONG, dateOf(2), dateOf(1)],
  );
}
