// The least that a night can be: ask, parse, check lightly, COPY, one merge join, one small
// workbook; raw answers kept in one gzip file. No queue, no restart, no money, no audit. What the
// program costs beside it is the price of being safe. Run by bench.mjs as a process of its own;
// prints the time of each stage. The workbook of all orders comes last and is counted apart.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import Excel from 'exceljs';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import Cursor from 'pg-cursor';
import { ask, inTurn, openPool, pagesOf } from './wire.mjs';

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
const AMOUNT = /^\d{1,18}\.\d\d$/;
const SPECIAL = /[\\\t\n\r]/;
const REPORT_ROWS = 1_000;
const PIPE_BYTES_MAX = 256 * 1024;
const MONEY = { numFmt: '#,##0.00' };
const TEXT = { numFmt: '@' };

const COMPARE = `
  insert into bare.breaks
  select coalesce(l.account_id, g.account_id), coalesce(l.order_no, g.order_no),
    case when g.order_no is null then 'missing_at_gateway'
      when l.order_no is null then 'missing_in_ledger'
      when l.currency <> g.currency then 'currency' when l.amount <> g.amount then 'amount'
      else 'state' end,
    l.amount, g.amount, l.currency, g.currency, l.expected, g.state
  from ledger.orders l full join bare.entries g using (account_id, order_no)
  where l.order_no is null or g.order_no is null or l.amount <> g.amount
    or l.currency <> g.currency or l.expected <> g.state`;

const BREAKS = 'select * from bare.breaks order by kind, account_id, order_no';

const ORDERS = `
  select l.account_id, l.order_no, l.currency, l.amount, g.amount as shown, l.expected, g.state,
    g.payment_status, g.transaction_id, g.transaction_date, l.placed_at::text, b.kind
  from ledger.orders l left join bare.entries g using (account_id, order_no)
    left join bare.breaks b using (account_id, order_no)
  order by l.account_id, l.order_no`;

async function main() {
  const place = JSON.parse(process.argv[2]);
  const client = new pg.Client({ ...place.connection, ssl: false });
  await client.connect();
  const watch = stopwatch();
  await createTables(client);
  await pull(place, client);
  watch.lap('pull');
  await client.query('analyze bare.entries');
  await client.query('set jit = off; set enable_hashjoin = off; set enable_sort = off');
  await client.query(COMPARE);
  watch.lap('compare');
  await client.query('reset enable_hashjoin; reset enable_sort');
  const breaks = await report(client, BREAKS, join(place.folder, 'breaks.xlsx'));
  watch.lap('breaksReport');
  await report(client, ORDERS, join(place.folder, 'orders.xlsx'));
  watch.lap('ordersReport');
  await client.end();
  process.stdout.write(`${JSON.stringify({ breaks, stages: watch.laps })}\n`);
}

function stopwatch() {
  const laps = {};
  let last = performance.now();
  return {
    laps,
    lap(name) {
      laps[name] = performance.now() - last;
      last = performance.now();
    },
  };
}

/** The index rides along from the start: the merge join reads it in order. */
async function createTables(client) {
  await client.query(`
    create schema bare;
    create table bare.entries (account_id text collate "C", order_no text collate "C",
      transaction_id text, currency text, amount numeric(20, 2), state text, payment_status text,
      query_result text, transaction_date text, reference_no text);
    create index on bare.entries (account_id, order_no);
    create table bare.breaks (account_id text collate "C", order_no text collate "C", kind text,
      ledger_amount numeric(20, 2), amount numeric(20, 2), ledger_currency text, currency text,
      expected text, state text)`);
}

async function pull({ baseUrl, accounts, folder }, client) {
  const { rows } = await client.query(
    'select account_id, order_no from ledger.orders order by account_id, order_no',
  );
  const byId = new Map(accounts.map((account) => [account.accountId, account]));
  const pool = openPool(baseUrl);
  const copy = client.query(from('copy bare.entries from stdin'));
  const raw = createGzip({ level: constants.Z_BEST_SPEED });
  const file = raw.pipe(createWriteStream(join(folder, 'pages.gz')));
  const put = { copy: writer(copy), raw: writer(raw) };
  await inTurn(pagesOf(rows), async (page) => {
    const account = byId.get(page[0].account_id);
    const body = await ask(
      pool,
      account,
      page.map((row) => row.order_no),
    );
    const answer = JSON.parse(body.toString());
    if (answer.return_status !== '1') throw new Error(answer.return_message);
    await put.copy(answer.orders_list.map((entry) => line(account.accountId, entry)).join(''));
    await put.raw(body);
  });
  copy.end();
  raw.end();
  await Promise.all([finished(copy), finished(file), pool.close()]);
}

/** Writes and waits while the other end is behind; many may wait at once. */
function writer(stream) {
  let drained = null;
  return async (data) => {
    if (stream.write(data)) return;
    drained ??= once(stream, 'drain').finally(() => {
      drained = null;
    });
    await drained;
  };
}

function line(accountId, entry) {
  const texts = [entry.order_no, entry.transaction_id, entry.currency];
  const amount = AMOUNT.test(entry.amount) ? entry.amount : '\\N';
  const rest = [entry.query_result, entry.transaction_date, entry.reference_no];
  const state = STATES[entry.payment_status] ?? '\\N';
  if (![...texts, ...rest].every((text) => typeof text === 'string')) throw new Error('no text');
  const fields = [
    accountId,
    ...texts.map(escaped),
    amount,
    state,
    escaped(entry.payment_status),
    ...rest.map(escaped),
  ];
  return `${fields.join('\t')}\n`;
}

function escaped(text) {
  return SPECIAL.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => ESCAPES[char]) : text;
}

const ESCAPES = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** exceljs with its two fixes: one style object for all cells alike, and a wait for the pipe. */
async function report(client, sql, filename) {
  const book = new Excel.stream.xlsx.WorkbookWriter({ filename, useStyles: true });
  const sheet = book.addWorksheet('Rows');
  const cursor = client.query(new Cursor(sql));
  let count = 0;
  for (;;) {
    const rows = await cursor.read(REPORT_ROWS);
    if (rows.length === 0) break;
    for (const row of rows) addRow(sheet, row);
    count += rows.length;
    const pipe = sheet.stream.pipes[0];
    while (pipe._writableState.length > PIPE_BYTES_MAX) await new Promise(setImmediate);
  }
  await cursor.close();
  sheet.commit();
  await book.commit();
  return count;
}

function addRow(sheet, fields) {
  const row = sheet.addRow([]);
  for (const [index, [name, value]] of Object.entries(fields).entries()) {
    if (value === null) continue;
    const isMoney = name.endsWith('amount') || name === 'shown';
    const cell = row.getCell(index + 1);
    cell.value = isMoney ? Number(value) : value;
    cell.style = isMoney ? MONEY : TEXT;
  }
  row.commit();
}

await main();
