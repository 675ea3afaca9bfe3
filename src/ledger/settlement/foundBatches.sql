-- The batches of the staged files as they are told, with what their lines come to by type. The
-- lines are read once, however many batches there are. $1 limit.
with told as materialized (
  select * from settlement_batch_in
  order by file_no, line_no
  limit $1
),
by_type as (
  select i.account_id, i.batch, i.settle_currency as currency, i.type, count(*) as lines,
    sum(i.gross) as gross, sum(i.fee) as fee, sum(i.net) as net
  from settlement_in i
  group by i.account_id, i.batch, i.settle_currency, i.type
),
sums as (
  select account_id, batch, currency, jsonb_object_agg(type, jsonb_build_object('lines',
    lines::int, 'gross', gross::text, 'fee', fee::text, 'net', net::text)) as sums
  from by_type
  group by account_id, batch, currency
)
select b.account_id as "accountId", b.batch, b.currency, b.lines::int,
  b.payout::text as payout, b.fate, b.digest, s.sums
from told b
join sums s using (account_id, batch, currency)
order by b.file_no, b.line_no
