// Row 93 of the list of faults, in a ledger that is the merchant's own view: whatever stands in it,
// the night goes on for all others, and each row that cannot be used is named with its reason.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { ORDER_CLASSES, type RunSummary } from '../../src/core/runs/summary.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

/** What each row has in place of its own values, as SQL. */
const BAD: Record<string, Record<string, string>> = {
  negative: { amount: '-1.00' },
  nothing: { amount: 'null' },
  nan: { amount: `'NaN'` },
  infinite: { amount: `'Infinity'` },
  dust: { amount: '19.989999' },
  huge: { amount: '1e30' },
  foreign: { currency: `'KWD'` },
  noCurrency: { currency: 'null' },
  odd: { expected: `'paid'` },
  decision: { review_decision: `'maybe'` },
  undated: { placed_at: 'null' },
};

let house: House;
let summary: RunSummary;

beforeAll(async () => {
  house = await buildHouse({ orders: 120, seed: 5, inLedger: kinds({ plain: 30 }, 'A1001') });
  await house.db.query(`
    alter table ledger.orders rename to shop_orders;
    create view ledger.orders as
      select account_id, order_no, currency, amount::numeric, expected, transaction_id,
        capture_amount, review_decision, placed_at, updated_at from ledger.shop_orders
      ${Object.entries(BAD)
        .map(([name, change]) => rowOf(`'${name}'`, change))
        .join('\n')}
      ${rowOf(`'twice'`, {})} ${rowOf(`'twice'`, { amount: '11.00' })}
      ${rowOf('null', {})} ${rowOf(`repeat('x', 3000)`, {})};
    -- a table of the merchant's own, as a query makes one: it has no key
    alter table ledger.refund_requests rename to shop_requests;
    create table ledger.refund_requests as select * from ledger.shop_requests;
    insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, requested_at)
    select account_id, 'R1', order_no, asked.amount, now() - interval '40 hours'
    from (select * from ledger.shop_orders order by order_no limit 1) one
    cross join (values (1.00), (2.00)) as asked (amount)`);
  ({ summary } = await house.run({ date: dateOf(1) }));
}, 60_000);
afterAll(() => house.end());

it('goes on: all other orders are compared, and every order is in one class', () => {
  const account = summary.accounts.find((one) => one.accountId === 'A1001');
  const { ledger = 0, strangers = 0 } = account?.orders ?? {};
  expect(ledger).toBe(30 + Object.keys(BAD).length + 1);
  const classed = ORDER_CLASSES.reduce((sum, name) => sum + (account?.orders[name] ?? 0), 0);
  expect(classed).toBe(ledger + strangers);
  // All but the one whose refund request stands there twice.
  expect(account?.orders.matched).toBe(29);
});

it('names a refund request that a table without a key has twice', async () => {
  const { rows } = await house.db.query(
    `select kind, expected ->> 'problem' as problem from tieout.breaks
     where expected ->> 'problem' like '%R1%'`,
  );
  const problem = 'its refund request R1 stands in the ledger more than once';
  expect(rows).toEqual([{ kind: 'invalid_record', problem }]);
});

it.each([...Object.keys(BAD), 'twice'])(
  'names the row "%s" as no valid record',
  async (orderNo) => {
    const { rows } = await house.db.query<{ kind: string; problem: string }>(
      `select kind, expected ->> 'problem' as problem from tieout.breaks where order_no = $1`,
      [orderNo],
    );
    expect(rows).toMatchObject([{ kind: 'invalid_record', problem: expect.any(String) }]);
    if (orderNo === 'twice')
      expect(rows[0]?.problem).toBe('it stands in the ledger more than once');
  },
);

it('counts rows without a usable number, and names one; they keep nothing else up', () => {
  expect(summary.state).toBe('broken');
  expect(summary.notices?.map((notice) => notice.text).join('\n')).toContain(
    '2 rows of ledger.orders that no number and account tells apart (missing, or too long), such as',
  );
});

function rowOf(number: string, change: Record<string, string>): string {
  const row = {
    account_id: `'A1001'`,
    order_no: number,
    currency: `'EUR'`,
    amount: '10.00',
    expected: `'captured'`,
    transaction_id: 'null',
    capture_amount: 'null::numeric',
    review_decision: 'null',
    placed_at: `now() - interval '40 hours'`,
    updated_at: 'null::timestamptz',
    ...change,
  };
  return `union all select ${Object.values(row).join(', ')}`;
}
