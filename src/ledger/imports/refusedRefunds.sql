-- Lines of refund requests that the ledger cannot take. $1 limit, $2 whether older lines are taken,
-- too, $3 coarse currencies, with what amounts in them must be.
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'refund_amount' as "column", refund_amount::text as value,
    'the amount of a refund never changes: the ledger has ' || held_amount as reason
  from import_fate
  where refund_amount <> held_amount
  union all
  select file_no, line_no, 'order_no', order_no,
    'the order of a refund never changes: the ledger has ' || held_order_no
  from import_fate
  where order_no <> held_order_no
  union all
  select f.file_no, f.line_no, 'refund_amount', f.refund_amount::text,
    c.reason
  from import_fate f
  join ledger.orders o on o.account_id = f.account_id and o.order_no = f.order_no
  join jsonb_to_recordset($3::jsonb) as c (currency text, decimals int, reason text)
    on c.currency = o.currency
  where f.refund_amount <> trunc(f.refund_amount, c.decimals)
  union all
  select file_no, line_no, 'requested_at', to_char(requested_at at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'steps back, the ledger has ' || to_char(held_requested_at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': an older export? --allow-older takes it all the same'
  from import_fate
  where requested_at < held_requested_at and not $2::boolean
) refused
order by file_no, line_no
limit $1
