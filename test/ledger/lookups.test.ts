// A view over a table of the merchant's is looked up by bytes: doctor says where no index serves that.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { wholeReads } from '../../src/ledger/lookupsStore.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 60 });
});
afterAll(() => house.end());

const doctor = async () => (await tieoutHere(['doctor'], { cwd: house.folder })).stdout;

it('says which table is read whole for one order, and by which index it is not', async () => {
  expect(await wholeReads(house.db)).toEqual([]);
  await house.db.query(`
    create table public.shop_orders (account_id varchar(40), order_no varchar(64),
      currency text, amount numeric, expected text, transaction_id text, capture_amount numeric,
      review_decision text, placed_at timestamptz, updated_at timestamptz,
      primary key (account_id, order_no));
    insert into public.shop_orders
    select 'A1001', 'N' || n, 'EUR', 10, 'authorised', null, null, null, '2020-01-01Z', now()
    from generate_series(1, 60000) as n;
    analyze public.shop_orders;
    alter table ledger.orders rename to our_orders;
    create view ledger.orders as select * from public.shop_orders`);
  expect(await wholeReads(house.db)).toEqual([
    { relation: 'orders', key: 'order_no', table: 'public.shop_orders', rows: 60_000 },
  ]);
  const said = await doctor();
  const [advice] = /create index on public\.shop_orders \([^)]*\)/.exec(said) ?? [];
  expect(said).toContain('60,000 rows of public.shop_orders');
  await house.db.query(advice ?? '');
  expect(await wholeReads(house.db)).toEqual([]);
  expect(await doctor()).not.toContain('create index');
});
