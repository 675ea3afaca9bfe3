-- The batches of the files as they are told, with what their lines come to by type.
-- $1 limit.
with told as (
  select * from settlement_batch_in order by file_no, line_no limit $1
),
sums as (
  select account_id, batch, currency, jsonb_object_agg(type, jsonb_build_object('lines',
    lines::int, 'gross', gross::text, 'fee', fee::text, 'net', net::text)) as sums
  from settlement_sums
  group by account_id, batch, currency
)
select b.account_id as "accountId", b.batch, b.currency, b.lines::int, b.payout::text as payout,
  b.fate, s.sums
from told b
join sums s using (account_id, batch, currency)
order by b.file_no, b.line_no
