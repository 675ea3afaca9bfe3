-- The batches of the staged files as they are told, with what their lines come to by type. $1
-- limit.
select b.account_id as "accountId", b.batch, b.currency, b.lines::int,
  b.payout::text as payout, b.fate, b.digest,
  jsonb_object_agg(t.type, jsonb_build_object('lines', t.lines::int, 'gross', t.gross::text,
    'fee', t.fee::text, 'net', t.net::text)) as sums
from (
  select * from settlement_batch_in
  order by file_no, line_no
  limit $1
) b
join lateral (
  select i.type, count(*) as lines, sum(i.gross) as gross, sum(i.fee) as fee, sum(i.net) as net
  from settlement_in i
  where i.account_id = b.account_id and i.batch = b.batch and i.settle_currency = b.currency
  group by i.type
) t on true
group by b.file_no, b.line_no, b.account_id, b.batch, b.currency, b.lines, b.payout, b.fate,
  b.digest
order by b.file_no, b.line_no
