// What `--part settlement` is measured on: so many captures and refunds of one account, and the
// acquirer's lines for them, nearly all as they should be. Rows for the tables, or the same lines as
// the acquirer's file. Neighbour: settlement.mjs.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

export const ACCOUNT = 'A1001';
/** One of so many movements is a refund; one of so many lines says another amount. */
const [REFUND_EVERY, ODD_EVERY] = [20, 400];
/** Lines of a batch: a day of a large merchant. */
const BATCH_LINES = 10_000;
export const FROM = '2026-11-02';
const [BOOKED_ON, BOOKED_AT] = ['2026-11-10', '2026-11-12T12:00:00Z'];
const NIGHT = '2026-11-20';

/** Writes movements and lines as a night and an import do, each the other's match. */
export async function putRows(db, count) {
  const { rows } = await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     values ($1, array[$1::date], $1, $1::date + 1, 'tied_out', 'test', '{}', '', '0', now(), now(),
       '{}') returning run_id`,
    [NIGHT],
  );
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of,
       events_until)
     values ($1, $2, $3, 'M1001', 'tied_out', now(), 0)`,
    [rows[0].run_id, ACCOUNT, NIGHT],
  );
  await db.query(
    `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount,
       made, business_date, run_id, is_history)
     select $1, 'O' || n, 'T' || md5(n::text), case when n % $2 = 0 then 'refunded' else 'captured'
       end, 'EUR', 10 + n % 5000, 'elsewhere', $3, $4, false
     from generate_series(1, $5::int) n`,
    [ACCOUNT, REFUND_EVERY, BOOKED_ON, rows[0].run_id, count],
  );
  await db.query(
    `with line as (
       select n, case when n % $2 = 0 then -1 else 1 end * (10 + n % 5000
         + case when n % $3 = 0 then 1 else 0 end)::numeric(20, 2) as amount
       from generate_series(1, $6::int) n
     ), line_with_fee as (
       select *, case when amount > 0 then round(amount * 0.014, 2) + 0.25 else 0 end as fee
       from line
     )
     insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
       order_no, transaction_id, currency, amount, settle_currency, gross, fee, net)
     select $1, 'B' || n / $5, n, n, case when amount < 0 then 'refunded' else 'captured' end, $4,
       'O' || n, 'T' || md5(n::text), 'EUR', amount, 'EUR', amount, fee, amount - fee
     from line_with_fee order by md5(n::text)`,
    [ACCOUNT, REFUND_EVERY, ODD_EVERY, BOOKED_AT, BATCH_LINES, count],
  );
  await db.query(
    `with file as (
       insert into tieout.settlement_files (name, sha256, map_sha256, accounts, batches, lines,
         totals)
       values ('f', '', '', array[$1], 1, $2, '{}') returning file_id
     )
     insert into tieout.settlement_batches (account_id, batch, currency, file_id, lines, gross,
       fees, payout, has_payout, first_booked_at, last_booked_at, digest)
     select account_id, batch, 'EUR', (select file_id from file), count(*), sum(gross), sum(fee),
       sum(net), false, min(booked_at), max(booked_at), ''
     from tieout.settlement_lines group by account_id, batch`,
    [ACCOUNT, count],
  );
  await db.query('vacuum analyze');
}

export const COLUMNS = [
  ...['account_id', 'batch', 'line_id', 'type', 'booked_at', 'order_no', 'transaction_id'],
  ...['currency', 'amount', 'fee', 'net'],
];

/** The same lines as a file that `tieout import settlement` takes. */
export async function writeFile(path, count) {
  const file = createWriteStream(path);
  file.write(`${COLUMNS.join(',')}\n`);
  for (let n = 1; n <= count; n += 1) {
    if (!file.write(`${lineOf(n).join(',')}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

function lineOf(n) {
  const isRefund = n % REFUND_EVERY === 0;
  const amount = 1_000 + (n % 5_000) * 100;
  const fee = isRefund ? 0 : Math.round((amount * 14) / 1_000) + 25;
  const gross = isRefund ? -amount : amount;
  const money = [gross, fee, gross - fee].map((cents) => (cents / 100).toFixed(2));
  const type = isRefund ? 'refunded' : 'captured';
  const batch = `B${Math.floor(n / BATCH_LINES)}`;
  return [ACCOUNT, batch, n, type, BOOKED_AT, `O${n}`, `T${n}`, 'EUR', ...money];
}
