// An order whose row in a view of the merchant's has no currency: it is invalid by name, stands in
// no sum of money, and no command dies of it.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf } from '../support/night.js';

let house: House;
let bad: string;
const date = dateOf(1);

beforeAll(async () => {
  house = await buildHouse({ orders: 500, inLedger: kinds({ capture_due: 3 }) });
  bad = house.seeded[0]?.ledger.order_no ?? '';
  await house.db.query(
    `alter table ledger.orders rename to shop_orders;
     create view ledger.orders as
     select account_id, order_no, case when order_no <> '${bad}' then currency end as currency,
       amount, expected, transaction_id, capture_amount, review_decision, placed_at, updated_at
     from ledger.shop_orders`,
  );
});
afterAll(() => house.end());

const tieout = (...args: string[]) => tieoutHere(args, { cwd: house.folder });

it('the night ends as one with a break, and says so', async () => {
  const tried = await tieout('run', '--date', date, '--dry-run');
  expect(tried.code, tried.stderr).toBe(3);
  const { code, stdout, stderr } = await tieout('run', '--date', date);
  expect(code, stderr).toBe(3);
  expect(stdout).toContain('Money confirmed in this run');
  expect(await openBreaksOf(house.db)).toEqual([`${bad} invalid_record`]);
  expect(await house.effects()).toHaveLength(house.seeded.length - 1);
});

it('it is shown again, in no total without a currency, and comes out the same', async () => {
  const json = await tieout('runs', 'show', date, '--json');
  const { accounts } = JSON.parse(json.stdout) as { accounts: { totals: object[] }[] };
  expect(accounts.flatMap(({ totals }) => totals)).not.toContainEqual(
    expect.objectContaining({ currency: null }),
  );
  const shown = await tieout('runs', 'show', date);
  expect(shown.code, shown.stderr).toBe(0);
  const verified = await tieout('verify', date);
  expect(verified.stdout, verified.stderr).toContain('every figure is the same');
});

it('a night that was kept with such a total is shown and verified as well', async () => {
  const zeros = { captured: '0.00', cancelled: '0.00', refunded: '0.00', net: '0.00' };
  await house.db.query(
    `update tieout.runs
     set summary = jsonb_set(summary::jsonb, '{accounts,0,totals,9}', $1, true)`,
    [JSON.stringify({ currency: null, ...zeros, unknown: '0.00' })],
  );
  const [shown, verified] = [await tieout('runs', 'show', date), await tieout('verify', date)];
  expect(shown.code, shown.stderr).toBe(0);
  expect(verified.stdout, verified.stderr).toContain('every figure is the same');
});

it('the list of orders does not lend its amount the currency of the gateway', async () => {
  const { stdout } = await tieout('report', date, '--kind', 'orders', '--format', 'csv');
  const row = stdout.split('\n').find((line) => line.includes(bad));
  const { amount, currency } = house.seeded[0]?.ledger ?? {};
  expect(row).toContain(`,authorised,2000,,${amount},${currency},${amount},`);
});
