// A large account's newest orders are asked while its others are still being entered: every order is
// entered once, on a page of its own, whatever part it is in, and a look that was left half entered
// is nobody's.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { askOrders } from '../../src/night/askOrders.js';
import type { Beginning } from '../../src/night/begin.js';
import { beginRun } from '../../src/night/begin.js';
import type { NightDeps } from '../../src/night/deps.js';
import { pullChunk } from '../../src/night/pullChunk.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const FIRST = 130;

let house: House;
let deps: NightDeps;
/** What was entered when it was rung. */
const rung: { chunk: bigint; entered: number }[] = [];
beforeAll(async () => {
  house = await buildHouse({ orders: 600 });
  const night = await (await house.open()).night();
  const ring = async (_: string, ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      rung.push({ chunk: BigInt(id), entered: (await asked()).length });
      await pullChunk(deps, BigInt(id));
    }
  };
  deps = { ...night, doorbell: { ring } };
});
afterAll(() => house.end());

interface AskedOrder {
  account_id: string;
  order_no: string;
  page_no: number;
}

/** The orders of the newest look, as far as they are committed. */
async function asked(): Promise<AskedOrder[]> {
  const { rows } = await house.db.query<AskedOrder>(
    `select account_id, order_no, page_no from tieout.asked_orders
     where pull_id = (select max(pull_id) from tieout.pulls) order by account_id, order_no`,
  );
  return rows;
}

async function nightOfOurs(): Promise<Extract<Beginning, { kind: 'mine' }>['night']> {
  const beginning = await beginRun(deps, { date: null, accountIds: [], isDry: false });
  if (beginning.kind !== 'mine') throw new Error(`the run is ${beginning.kind}`);
  return beginning.night;
}

test('a look that was left half entered is not gone on with', async () => {
  const night = await nightOfOurs();
  let transactions = 0;
  const db: NightDeps['db'] = {
    ...deps.db,
    query: (text, values, name) => deps.db.query(text, values, name),
    transaction: (work) => {
      transactions += 1;
      return transactions === 2 ? Promise.reject(new Error('died')) : deps.db.transaction(work);
    },
  };
  await expect(askOrders({ ...deps, db }, night, FIRST)).rejects.toThrow('died');
  expect((await asked()).length).toBe(FIRST);
  const { rows } = await house.db.query('select pull_id from tieout.run_accounts');
  expect(rows).toEqual([{ pull_id: null }, { pull_id: null }]);
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
});

test('the newest orders of a large account are asked while the others are entered', async () => {
  rung.length = 0;
  const { pullId } = await askOrders(deps, await nightOfOurs(), FIRST);
  const whole = await house.db.query(
    'select account_id, order_no from ledger.orders order by account_id, order_no',
  );
  const orders = await asked();
  expect(orders.map(({ account_id, order_no }) => ({ account_id, order_no }))).toEqual(whole.rows);
  expect(rung.map(({ entered }) => entered)).toEqual([FIRST]);
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

function pagesOf(account_id: string, sizes: readonly number[], is_done: boolean, from = 0) {
  return sizes.map((orders, at) => ({ account_id, page_no: from + at, orders, is_done }));
}

function inHundreds(orders: number): number[] {
  return Array.from({ length: Math.ceil(orders / 100) }, (_, at) =>
    Math.min(100, orders - 100 * at),
  );
}
