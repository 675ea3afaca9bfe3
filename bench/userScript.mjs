// What a user would write in an afternoon for the same work: fetch, eight at a time, the entries of
// each answer in one INSERT of many rows with what the gateway said beside them, both sides in
// memory and one Map, what differs into a table and a CSV file. No COPY, no merge join, no pooled
// client, no compression; nothing is sent. Run by user.mjs as a process of its own; prints the time
// of each stage.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

const AT_ONCE = 8;
const PAGE_ORDERS = 100;
const ROWS_A_STATEMENT = 1_000;
const STATES = {
  1000: 'pending',
  1500: 'in_review',
  2000: 'authorised',
  3000: 'captured',
  4000: 'cancelled',
  5000: 'declined',
  6000: 'partially_refunded',
  6500: 'refunded',
};

const TABLES = `
  create schema script;
  create table script.entries (account_id text, order_no text, transaction_id text, currency text,
    amount numeric(20, 2), state text, raw jsonb, primary key (account_id, order_no, transaction_id));
  create table script.differences (account_id text, order_no text, kind text, expected text,
    shown text, primary key (account_id, order_no, kind))`;

async function main() {
  const place = JSON.parse(process.argv[2]);
  const pool = new pg.Pool({ ...place.connection, ssl: false, max: AT_ONCE });
  const laps = {};
  await pool.query(TABLES);
  await lap(laps, 'pull and store', () => pull(place, pool));
  const differences = await lap(laps, 'compare', () => compare(pool));
  await lap(laps, 'list', () => list(place, pool, differences));
  await pool.end();
  const answer = { differences: differences.length, stages: laps };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function lap(laps, name, work) {
  const began = performance.now();
  const result = await work();
  laps[name] = performance.now() - began;
  return result;
}

async function pull({ baseUrl, accounts }, pool) {
  for (const account of accounts) {
    const { rows } = await pool.query('select order_no from ledger.orders where account_id = $1', [
      account.accountId,
    ]);
    let next = 0;
    const work = async () => {
      while (next < rows.length) {
        const page = rows.slice(next, next + PAGE_ORDERS);
        next += PAGE_ORDERS;
        const entries = await ask(
          baseUrl,
          account,
          page.map((row) => row.order_no),
        );
        await store(pool, account.accountId, entries);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
}

async function ask(baseUrl, { merchantId, accountId, signingKey }, orderNos) {
  const text = merchantId + accountId + signingKey;
  const response = await fetch(`${baseUrl}/v1/retrievalTrans`, {
    method: 'POST',
    body: new URLSearchParams({
      merchant_id: merchantId,
      account_id: accountId,
      order_no: orderNos.join(','),
      encryption_data: createHash('sha256').update(text).digest('hex'),
    }),
  });
  const answer = await response.json();
  if (answer.return_status !== '1') throw new Error(answer.return_message);
  return answer.orders_list.filter((entry) => entry.query_result === '1');
}

async function store(pool, accountId, entries) {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => [
    accountId,
    entry.order_no,
    entry.transaction_id,
    entry.currency,
    /^\d+\.\d\d$/.test(entry.amount) ? entry.amount : null,
    STATES[entry.payment_status] ?? null,
    JSON.stringify(entry),
  ]);
  await insert(pool, 'script.entries', rows);
}

async function insert(pool, table, rows) {
  const marks = rows.map(
    (row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join()})`,
  );
  const values = rows.flat();
  await pool.query(`insert into ${table} values ${marks.join()} on conflict do nothing`, values);
}

async function compare(pool) {
  const ledger = await pool.query('select * from ledger.orders');
  const shown = await pool.query('select * from script.entries');
  const byOrder = new Map();
  for (const entry of shown.rows) {
    const key = `${entry.account_id}|${entry.order_no}`;
    byOrder.set(key, [...(byOrder.get(key) ?? []), entry]);
  }
  const found = [];
  for (const order of ledger.rows) {
    const key = `${order.account_id}|${order.order_no}`;
    found.push(...differencesOf(order, byOrder.get(key) ?? []));
    byOrder.delete(key);
  }
  for (const [entry] of byOrder.values()) {
    found.push([entry.account_id, entry.order_no, 'missing_in_ledger', null, entry.state]);
  }
  return found;
}

function differencesOf(order, entries) {
  const ids = [order.account_id, order.order_no];
  const [entry, second] = entries;
  if (!entry) return [[...ids, 'missing_at_gateway', order.expected, null]];
  if (second) return [[...ids, 'several', order.expected, entry.state]];
  const pairs = { currency: 'currency', amount: 'amount', expected: 'state' };
  return Object.entries(pairs)
    .filter(([left, right]) => order[left] !== entry[right])
    .map(([left, right]) => [...ids, right, order[left], entry[right]]);
}

async function list({ folder }, pool, differences) {
  for (let at = 0; at < differences.length; at += ROWS_A_STATEMENT) {
    await insert(pool, 'script.differences', differences.slice(at, at + ROWS_A_STATEMENT));
  }
  writeFileSync(
    join(folder, 'differences.csv'),
    differences.map((row) => row.join(',')).join('\n'),
  );
}

await main();
