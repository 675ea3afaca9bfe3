-- One row a batch, settle currency and type of the lines of this import.
create temp table settlement_sums on commit drop as
select account_id, batch, currency, type, min(file_no) as file_no,
  max(last_file_no) as last_file_no, min(line_no) as line_no, max(last_line_no) as last_line_no,
  sum(lines)::bigint as lines, sum(amount) as amount, sum(gross) as gross, sum(fee) as fee,
  sum(net) as net, min(first_booked_at) as first_booked_at, max(last_booked_at) as last_booked_at,
  sum(history)::bigint as history, sum(ahead)::bigint as ahead
from settlement_parts
group by account_id, batch, currency, type
