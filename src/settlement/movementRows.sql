-- Movements that `captured` or `refunded` of settlementFigures.sql is the sum of, newest first,
-- with their number and sum. $1 account, $2 currency, $3 kind, $4 limit, $5 offset.
select m.business_date::text as on, m.kind as what, m.order_no as "orderNo",
  m.transaction_id as "transactionId", null as batch, round(m.amount, 2)::text as amount,
  (count(*) over ())::int as found, round(coalesce(sum(m.amount) over (), 0), 2)::text as total
from tieout.movements_now m
where m.account_id = $1 and m.currency = $2 and m.kind = $3 and not m.is_history
  and m.amount is distinct from 0
order by m.business_date desc, m.movement_id desc
limit $4 offset $5
