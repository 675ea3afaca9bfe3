-- One row a batch, settle currency and type of the lines of this import, which are read once for
-- all that is told of a batch. $1 settlement.from, $2 cut-off, $3 timezone, $4 days ahead, $5 the
-- first id of each file.
create temp table settlement_sums on commit drop as
select account_id, batch, settle_currency as currency, type, min(file_no) as file_no,
  max(file_no) as last_file_no, min(line_no) as line_no, max(line_no) as last_line_no,
  count(*) as lines, sum(amount) as amount, sum(gross) as gross, sum(fee) as fee, sum(net) as net,
  min(booked_at) as first_booked_at, max(booked_at) as last_booked_at,
  count(*) filter (where booked_at < ($1::date + $2::time) at time zone $3::text) as history,
  count(*) filter (where booked_at > now() + make_interval(days => $4)) as ahead
from (
  select width_bucket(settlement_line_id, $5::bigint[]) - 1 as file_no, line_no, account_id, batch,
    settle_currency, type, amount, gross, fee, net, booked_at
  from tieout.settlement_lines where settlement_line_id >= ($5::bigint[])[1]
  union all
  select file_no, line_no, account_id, batch, settle_currency, type, amount, gross, fee, net,
    booked_at
  from settlement_again
) line
group by account_id, batch, settle_currency, type
