-- The lines of a batch with the movement that each settles. $1 accounts, $2 batch.
select l.account_id as "accountId", l.batch, l.line_id as "lineId", l.type,
  to_char(l.booked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "bookedAt",
  l.order_no as "orderNo", l.transaction_id as "transactionId", l.reference, l.currency,
  l.amount::text as amount, l.settle_currency as "settleCurrency", l.gross::text as gross,
  l.fee::text as fee, l.net::text as net, m.order_no as "settlesOrder",
  m.business_date::text as "movedOn", t.by as "matchedBy"
from tieout.settlement_lines l
left join tieout.settlement_matches t using (settlement_line_id)
left join tieout.movements m using (movement_id)
where l.account_id = any ($1) and l.batch = $2
order by l.account_id, l.settlement_line_id
