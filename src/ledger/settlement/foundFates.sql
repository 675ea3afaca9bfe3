-- One row a batch and settle currency of this import, beside the batch of that name that was taken
-- before: `fate` is inserted, unchanged, or differs. Lines are compared one by one, whatever
-- their order; an id that is only a line's number says nothing.
create temp table settlement_batch_in on commit drop as
with cut as (
  select account_id, batch, currency, min(file_no) as file_no, max(last_file_no) as last_file_no,
    min(line_no) as line_no, sum(lines)::bigint as lines, sum(gross) as gross, sum(fee) as fees,
    sum(net) as net, bool_or(type = 'payout') as has_payout,
    max(last_line_no) filter (where type = 'payout') as payout_line_no,
    coalesce(-sum(gross) filter (where type = 'payout'), sum(net)) as payout,
    min(first_booked_at) as first_booked_at, max(last_booked_at) as last_booked_at
  from settlement_sums
  group by account_id, batch, currency
),
taken as materialized (
  select b.account_id, b.batch, min(b.file_id) as file_id, sum(b.lines) as lines
  from tieout.settlement_batches b
  where (b.account_id, b.batch) in (select account_id, batch from cut)
  group by b.account_id, b.batch
),
said as materialized (
  select i.account_id, i.batch, i.has_id, i.line_id, i.type, i.booked_at, i.order_no,
    i.transaction_id, i.reference, i.currency, i.amount, i.settle_currency, i.gross, i.fee, i.net
  from taken
  join settlement_again i using (account_id, batch)
),
known as materialized (
  select l.account_id, l.batch, l.line_id, l.type, l.booked_at, l.order_no, l.transaction_id,
    l.reference, l.currency, l.amount, l.settle_currency, l.gross, l.fee, l.net
  from taken
  join tieout.settlement_lines l using (account_id, batch)
),
other as (
  select account_id, batch from (
    (select account_id, batch, type, booked_at, order_no, transaction_id, reference, currency,
      amount, settle_currency, gross, fee, net from said
    except all
    select account_id, batch, type, booked_at, order_no, transaction_id, reference, currency,
      amount, settle_currency, gross, fee, net from known)
    union all
    (select account_id, batch, type, booked_at, order_no, transaction_id, reference, currency,
      amount, settle_currency, gross, fee, net from known
    except all
    select account_id, batch, type, booked_at, order_no, transaction_id, reference, currency,
      amount, settle_currency, gross, fee, net from said)
  ) unequal
  union
  select account_id, batch from (
    select account_id, batch, line_id, type, booked_at, order_no, transaction_id, reference,
      currency, amount, settle_currency, gross, fee, net from said where has_id
    except all
    select account_id, batch, line_id, type, booked_at, order_no, transaction_id, reference,
      currency, amount, settle_currency, gross, fee, net from known
  ) renamed
)
select cut.*, taken.file_id as taken_file_id, taken.lines as taken_lines,
  case when taken.file_id is null then 'inserted' when other.batch is null then 'unchanged'
    else 'differs' end as fate
from cut
left join taken using (account_id, batch)
left join other using (account_id, batch)
