-- One row a batch and settle currency of the staged lines, beside the batch of that name that was
-- taken before: `fate` is inserted, unchanged, or differs.
create temp table settlement_batch_in on commit drop as
with cut as (
  select account_id, batch, settle_currency as currency, min(file_no) as file_no,
    max(file_no) as last_file_no, min(line_no) as line_no, count(*) as lines, sum(gross) as gross,
    sum(fee) as fees, sum(net) as net, count(*) filter (where type = 'payout') > 0 as has_payout,
    max(line_no) filter (where type = 'payout') as payout_line_no,
    case when count(*) filter (where type = 'payout') > 0
      then -sum(gross) filter (where type = 'payout') else sum(net) end as payout,
    min(booked_at) as first_booked_at, max(booked_at) as last_booked_at,
    encode(sha256(string_agg(digest, '' order by digest)), 'hex') as digest
  from settlement_in
  group by account_id, batch, settle_currency
),
sets as (
  select account_id, batch, string_agg(currency || ' ' || digest, ' ' order by currency) as said
  from cut group by account_id, batch
),
taken as (
  select b.account_id, b.batch, min(b.file_id) as file_id, sum(b.lines) as lines,
    string_agg(b.currency || ' ' || b.digest, ' ' order by b.currency) as said
  from tieout.settlement_batches b
  where (b.account_id, b.batch) in (select account_id, batch from sets)
  group by b.account_id, b.batch
)
select cut.*, taken.file_id as taken_file_id, taken.lines as taken_lines,
  case when taken.said is null then 'inserted' when taken.said = sets.said then 'unchanged'
    else 'differs' end as fate
from cut
join sets using (account_id, batch)
left join taken using (account_id, batch)
