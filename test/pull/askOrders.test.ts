// A large account's newest orders are asked while its others are still being entered: every order is
// entered once, on a page of its own, whatever part it is in, and a snapshot that was left half entered
// is nobody's.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { OrderRow } from '../../src/core/runs/reporting.js';
import { openDatabase } from '../../src/database/db.js';
import type { Beginning } from '../../src/night/begin.js';
import { beginRun } from '../../src/night/begin.js';
import { askOrders } from '../../src/pull/askOrders.js';
import { newestOrders } from '../../src/pull/snapshot/ledgerKeysStore.js';
import { orderRows } from '../../src/report/reportRowsStore.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const FIRST = 130;

let house: House;
let deps: SendDeps;
/** How many orders were entered when each page was asked. */
const entered: number[] = [];
beforeAll(async () => {
  house = await buildHouse({ orders: 600 });
  const night = await (await house.open()).sendDeps();
  const queryPage: SendDeps['gateway']['queryPage'] = async (...question) => {
    entered.push((await asked()).length);
    return night.gateway.queryPage(...question);
  };
  deps = { ...night, gateway: { ...night.gateway, queryPage } };
});
afterAll(() => house.end());

interface AskedOrder {
  account_id: string;
  order_no: string;
  page_no: number;
}

/** The orders of the newest snapshot, as far as they are committed. */
async function asked(): Promise<AskedOrder[]> {
  const { rows } = await house.db.query<AskedOrder>(
    `select account_id, order_no, page_no from tieout.asked_orders
     where pull_id = (select max(pull_id) from tieout.pulls) order by account_id, order_no`,
  );
  return rows;
}

async function runOfOurs(): Promise<Extract<Beginning, { kind: 'mine' }>['run']> {
  const beginning = await beginRun(deps, { date: null, accountIds: [], isDry: false });
  if (beginning.kind !== 'mine') throw new Error(`the run is ${beginning.kind}`);
  return beginning.run;
}

/** The database, whose second transaction is in other hands. */
function withSecond(second: SendDeps['db']['transaction']): SendDeps['db'] {
  let transactions = 0;
  return {
    ...deps.db,
    transaction: (work) => {
      transactions += 1;
      return transactions === 2 ? second(work) : deps.db.transaction(work);
    },
  };
}

test('a snapshot that was left half entered is not gone on with', async () => {
  const night = await runOfOurs();
  const db = withSecond(() => Promise.reject(new Error('died')));
  await expect(askOrders({ ...deps, db }, night, FIRST)).rejects.toThrow('died');
  expect((await asked()).length).toBe(FIRST);
  const { rows } = await house.db.query('select pull_id from tieout.run_accounts');
  expect(rows).toEqual([{ pull_id: null }, { pull_id: null }]);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
});

test('the newest orders of a large account are asked while the others are entered', async () => {
  entered.length = 0;
  const night = await runOfOurs();
  // The others are not committed before both pages were asked.
  const db = withSecond((work) =>
    deps.db.transaction(async (tx) => {
      const done = await work(tx);
      await vi.waitUntil(() => entered.length === 2, { timeout: 20_000 });
      return done;
    }),
  );
  const made = await askOrders({ ...deps, db }, night, FIRST);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
  await made.asked;
  const { pullId } = made.snapshot;
  const whole = await house.db.query(
    'select account_id, order_no from ledger.orders order by account_id, order_no',
  );
  const orders = await asked();
  expect(orders.map(({ account_id, order_no }) => ({ account_id, order_no }))).toEqual(whole.rows);
  expect(entered).toEqual([FIRST, FIRST]);
  const { rows: pages } = await house.db.query(
    `select account_id, page_no, count(*)::int as orders, bool_and(c.state = 'done') as is_done
     from tieout.asked_orders a join tieout.chunks c using (pull_id, account_id)
     where pull_id = $1 and page_no between first_page and last_page
       and order_no between first_order and last_order
     group by 1, 2 order by 1, 2`,
    [pullId],
  );
  const large = orders.filter(({ account_id }) => account_id === 'A1001').length;
  const small = orders.length - large;
  expect(pages).toEqual([
    ...pagesOf('A1001', [100, FIRST - 100], true),
    ...pagesOf('A1001', inHundreds(large - FIRST), false, 2),
    ...pagesOf('A1002', inHundreds(small), false),
  ]);
});

test('a snapshot that was left half entered after a whole one is in no report', async () => {
  const night = await runOfOurs();
  const before = await reported(night.runId);
  const queryPage: SendDeps['gateway']['queryPage'] = async (...question) => {
    const result = await deps.gateway.queryPage(...question);
    if (result.kind !== 'page') return result;
    const entries = result.entries.map((entry) => ({ ...entry, amount: '0.01' }));
    return { ...result, entries };
  };
  const db = withSecond(() => Promise.reject(new Error('died')));
  const dying = { ...deps, db, gateway: { ...deps.gateway, queryPage } };
  await expect(askOrders(dying, night, FIRST)).rejects.toThrow('died');
  expect(await reported(night.runId)).toEqual(before);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
});

async function reported(runId: bigint): Promise<OrderRow[]> {
  const all: OrderRow[] = [];
  for await (const rows of orderRows(house.db, runId)) all.push(...rows);
  return all;
}

test('who is told to stop asks nothing more right here, and hands back what is left', async () => {
  const night = await runOfOurs();
  const told = { toStop: false };
  const queryPage: SendDeps['gateway']['queryPage'] = async (...question) => {
    told.toStop = true;
    return deps.gateway.queryPage(...question);
  };
  const sleep: SendDeps['sleep'] = async (ms) => {
    if (told.toStop) throw new Error('told to stop');
    return deps.sleep(ms);
  };
  const { profile } = deps.config.gateway;
  const limits = { ...profile.limits, concurrency: 1 };
  const gateway = { ...deps.config.gateway, profile: { ...profile, limits } };
  const config = { ...deps.config, gateway };
  entered.length = 0;
  const stopped = { ...deps, config, sleep, gateway: { ...deps.gateway, queryPage } };
  const made = await askOrders(stopped, night, 2 * FIRST);
  await made.asked;
  expect(entered.length).toBe(2);
  const { rows } = await house.db.query(
    'select state from tieout.chunks where pull_id = $1 order by first_page, account_id limit 1',
    [made.snapshot.pullId],
  );
  expect(rows).toEqual([{ state: 'queued' }]);
});

test('orders that a large table without a key has twice are entered once, as no valid records', async () => {
  await house.db.query('alter table ledger.orders drop constraint orders_pkey');
  const { rows: numbers } = await house.db.query<{ account_id: string; order_no: string }>(
    `select account_id, order_no from (
       select account_id, min(order_no) as oldest, max(order_no) as newest
       from ledger.orders group by 1) o
     cross join lateral (values (oldest), (newest)) as n (order_no) order by 1, 2`,
  );
  await house.db.query(
    `insert into ledger.orders select o.* from ledger.orders o
     join unnest($1::text[], $2::text[]) as n (account_id, order_no) using (account_id, order_no)`,
    [numbers.map((one) => one.account_id), numbers.map((one) => one.order_no)],
  );
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
  const night = await runOfOurs();
  const made = await askOrders(deps, night, FIRST);
  await made.asked;
  const { rows } = await house.db.query(
    `select account_id, order_no from tieout.asked_orders where pull_id = $1
       and ledger_problem = 'it stands in the ledger more than once'
       and page_no is not null order by account_id, order_no`,
    [made.snapshot.pullId],
  );
  expect(rows).toEqual(numbers);
  const whole = await house.db.query('select distinct account_id, order_no from ledger.orders');
  expect((await asked()).length).toBe(whole.rows.length);
});

test('an order that comes to stand twice while the others are entered is entered once', async () => {
  await house.db.query(`
    alter table ledger.orders drop constraint if exists orders_pkey;
    delete from ledger.orders where ctid not in (
      select min(ctid) from ledger.orders group by account_id, order_no)`);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
  const night = await runOfOurs();
  // Between the question which orders stand twice, and the reading of all.
  const other = openDatabase(house.connection, { max: 1 });
  const db: SendDeps['db'] = {
    ...deps.db,
    transaction: (work) =>
      deps.db.transaction((tx) => {
        const query: typeof tx.query = async (text, values) => {
          if (text.startsWith('-- Which orders does the run look at?')) {
            await other.query(
              `insert into ledger.orders select * from ledger.orders
               where order_no = (select max(order_no) from ledger.orders)`,
            );
          }
          return tx.query(text, values);
        };
        return work({ ...tx, query });
      }),
  };
  const made = await askOrders({ ...deps, db }, night);
  await made.asked;
  await other.close();
  const { rows } = await house.db.query('select distinct account_id, order_no from ledger.orders');
  expect((await asked()).length).toBe(rows.length);
  expect((await house.db.query('select from ledger.orders')).rowCount).toBe(rows.length + 1);
});

test('a table of other types with its key is asked for its newest orders as any', async () => {
  await house.db.query(`
    alter table ledger.orders rename to shop_orders;
    create table ledger.orders (account_id integer, order_no integer,
      primary key (account_id, order_no));
    insert into ledger.orders select 7, n from generate_series(1, 12) n`);
  const newest = (orders: number) =>
    house.db.transaction((tx) => newestOrders(tx, ['A1001', '7'], orders));
  expect(await newest(9)).toEqual({ accountId: '7', orderNo: '11' });
  expect(await newest(12)).toBeNull();
});

function pagesOf(account_id: string, sizes: readonly number[], is_done: boolean, from = 0) {
  return sizes.map((orders, at) => ({ account_id, page_no: from + at, orders, is_done }));
}

function inHundreds(orders: number): number[] {
  return Array.from({ length: Math.ceil(orders / 100) }, (_, at) =>
    Math.min(100, orders - 100 * at),
  );
}
