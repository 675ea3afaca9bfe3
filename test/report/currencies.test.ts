// Every amount bears its own currency: what the gateway shows in another one than the ledger's
// stands in no sum of the ledger's, neither on the first sheets nor in the file of all orders.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LongReads } from '../../src/database/db.js';
import { currencyRows } from '../../src/report/reportFiguresStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

let house: House;
let runId = 0n;
let orders = '';

beforeAll(async () => {
  house = await buildHouse({ orders: 300 });
  const { summary } = await house.run();
  runId = (await findRun(house.db, dateOf(1)))?.runId ?? 0n;
  orders = summary.reports.find(({ kind }) => kind === 'orders')?.path ?? '';
}, 120_000);

afterAll(() => house.end());

/** What the gateway's newest entries of the night's orders come to, each in its own currency. */
async function shownByGateway(): Promise<Map<string, string>> {
  const { rows } = await house.db.query<{ key: string; sum: string }>(
    `select account_id || ' ' || coalesce(currency, '') as key, sum(amount)::text as sum
     from (
       select distinct on (e.account_id, e.order_no) e.account_id, e.currency, e.amount
       from tieout.look_entries e join tieout.pulls p using (pull_id)
       where p.run_id = $1 and not e.is_extra
         and not exists (select from tieout.look_entries x where x.pull_id = e.pull_id
           and x.account_id = e.account_id and x.order_no = e.order_no and x.is_extra)
       order by e.account_id, e.order_no, e.pull_id desc
     ) as newest
     where amount is not null group by 1 order by 1`,
    [runId],
  );
  return new Map(rows.map(({ key, sum }) => [key, sum]));
}

test('an amount in another currency than the ledger’s is summed in its own', async () => {
  const { rows: foreign } = await house.db.query(
    `select from tieout.breaks where state = 'open' and kind = 'currency_mismatch'`,
  );
  expect(foreign.length).toBeGreaterThan(0);
  const wanted = await shownByGateway();
  // Orders with more than one entry are few, and left out of what is held against each other here.
  const { rows: crowded } = await house.db.query<{ key: string; sum: string }>(
    `select o.account_id || ' ' || coalesce(o.gateway_currency, '') as key,
       sum(o.gateway_amount)::text as sum
     from tieout.run_accounts a
     cross join lateral tieout.seen_orders(a.run_id, a.account_id, a.pull_id) o
     where a.run_id = $1 and o.gateway_amount is not null and exists (
       select from tieout.look_entries x where x.pull_id = a.pull_id and x.account_id = o.account_id
         and x.order_no = o.order_no and x.is_extra)
     group by 1`,
    [runId],
  );
  const besides = new Map(crowded.map(({ key, sum }) => [key, Number(sum)]));
  for (const row of await currencyRows(house.db, runId)) {
    const key = `${row.accountId} ${row.currency}`;
    const sum = Number(wanted.get(key) ?? 0) + (besides.get(key) ?? 0);
    expect([key, row.gateway]).toEqual([key, sum.toFixed(2)]);
  }
});

test('an order is counted at the gateway in the currency that the gateway shows', async () => {
  const { rows } = await house.db.query<{ currency: string; orders: number }>(
    `select actual ->> 'currency' as currency, count(*)::int as orders from tieout.breaks
     where kind = 'currency_mismatch' and state = 'open' group by 1`,
  );
  const counted = await currencyRows(house.db, runId);
  for (const { currency, orders } of rows) {
    const of = counted.filter((row) => row.currency === currency);
    expect(of.reduce((sum, { atGateway }) => sum + Number(atGateway), 0)).toBe(orders);
  }
  expect(rows.length).toBeGreaterThan(0);
});

test('the sums of all accounts are one statement, however many they are', async () => {
  const asked: string[] = [];
  const reads: LongReads = {
    stream: (text, ...rest) => {
      asked.push(text);
      return house.db.stream(text, ...rest);
    },
  };
  const rows = await currencyRows(reads, runId);
  expect(new Set(rows.map(({ accountId }) => accountId)).size).toBe(house.accounts.length);
  expect(asked).toHaveLength(1);
});

test('and the file of all orders names it beside the amount', async () => {
  const book = await readPlainly(orders);
  const sheet = book.sheets.find(({ name }) => name === 'Orders');
  const lines = (sheet?.rows ?? []).map((row) => row.map(({ value }) => value));
  const head = lines.find((line) => line.includes('Gateway amount')) ?? [];
  expect(head).toContain('Gateway currency');
  const { rows } = await house.db.query<{ order_no: string; shown: string }>(
    `select order_no, actual ->> 'currency' as shown from tieout.breaks
     where kind = 'currency_mismatch' and state = 'open' order by order_no limit 1`,
  );
  const line = (sheet?.rows ?? []).find((row) => row[1]?.value === rows[0]?.order_no);
  const column = head.indexOf('Gateway currency');
  const letters = String.fromCharCode(65 + column);
  expect(line?.find(({ ref }) => ref.startsWith(letters))?.value).toBe(rows[0]?.shown);
});
