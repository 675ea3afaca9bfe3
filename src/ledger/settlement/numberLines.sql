-- The staged lines of which some have no id of the acquirer's: the id is then the line's number
-- within the batch.
create temp table settlement_in on commit drop as
select file_no, line_no, account_id, batch, has_id,
  coalesce(line_id, row_number() over (
    partition by account_id, batch order by file_no, line_no)::text) as line_id,
  type, booked_at, order_no, transaction_id, reference, currency, amount, settle_currency, gross,
  fee, net
from settlement_read
order by file_no, line_no
