-- The chargebacks, and those that were reversed, on the lines of a period. $1 accounts, $2
-- settlement.from, $3 cut-off, $4 timezone, $5 first and $6 last date.
with since as (select ($2::date + $3::time) at time zone $4 as at)
select l.account_id as "accountId", l.batch, l.line_id as "lineId", l.type,
  tieout.business_date_of(l.booked_at, $3::time, $4)::text as "bookedOn",
  l.order_no as "orderNo", l.transaction_id as "transactionId", l.settle_currency as currency,
  round(-l.gross, 2)::text as amount, round(l.fee, 2)::text as fee
from tieout.settlement_batches b
join tieout.settlement_lines l on l.account_id = b.account_id and l.batch = b.batch
  and l.settle_currency = b.currency
cross join since
cross join lateral (
  select greatest(tieout.business_date_of(l.booked_at, $3::time, $4), $2::date) as day
) booked
where b.account_id = any ($1) and tieout.is_in_books(b, since.at)
  and day between $5 and $6
  and l.type in ('chargeback', 'chargeback_reversed')
order by l.account_id, l.booked_at, l.settlement_line_id
