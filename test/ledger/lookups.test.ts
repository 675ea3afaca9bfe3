// A view over a table of the merchant's is looked up by bytes: doctor says where no index serves that.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { wholeReads } from '../../src/ledger/lookupsStore.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 60 });
  await house.db.query('alter table ledger.orders rename to our_orders');
});
afterAll(() => house.end());

const found = () => wholeReads(house.db, ['A1001', 'A1002']);
const doctor = async () => (await tieoutHere(['doctor'], { cwd: house.folder })).stdout;

async function shopOf(numbers: string, account: string, more = ''): Promise<void> {
  await house.db.query(`
    drop view if exists ledger.orders;
    drop table if exists public.shop_orders;
    create table public.shop_orders (account_id varchar(40), order_no ${numbers},
      currency text, amount numeric, expected text, transaction_id text, capture_amount numeric,
      review_decision text, placed_at timestamptz, updated_at timestamptz,
      primary key (account_id, order_no)) ${more};
    ${more === '' ? '' : `create table public.shop_first partition of public.shop_orders default;`}
    insert into public.shop_orders
    select 'A1001', n, 'EUR', 10, 'authorised', null, null, null, '2020-01-01Z', now()
    from generate_series(1, 60000) as n;
    analyze public.shop_orders;
    create view ledger.orders as select ${account} as account_id, order_no, currency, amount,
      expected, transaction_id, capture_amount, review_decision, placed_at, updated_at
    from public.shop_orders`);
}

it.each([
  ['numbers that are texts', 'varchar(64)', 'account_id', ''],
  ['numbers that are integers', 'int', 'account_id', ''],
  ['an account that is a constant', 'text', `'A1001'::text`, ''],
  ['partitions', 'text', 'account_id', 'partition by list (account_id)'],
])('of %s it names the table, and the index that serves', async (_, numbers, account, more) => {
  await shopOf(numbers, account, more);
  expect(await found()).toMatchObject([{ relation: 'orders', table: 'shop_orders', rows: 60_000 }]);
  const said = await doctor();
  const [advice] = /create index on shop_orders .*$/m.exec(said) ?? [];
  expect(said).toContain('60,000 rows of shop_orders');
  await house.db.query(advice ?? '');
  expect(await found()).toEqual([]);
  expect(await doctor()).not.toContain('create index');
});
