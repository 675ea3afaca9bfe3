-- Lines of the acquirer that a figure of settlementFigures.sql is the sum of, newest first, with
-- their number and sum. $1 account, $2 currency, $3 figure: settled, gross, fees, chargebacks or
-- other, $4 limit, $5 offset, $6 settlement.from, $7 cut-off, $8 timezone.
with since as (select ($6::date + $7::time) at time zone $8 as at),
part as (
  select l.settlement_line_id, l.booked_at, l.type, l.order_no, l.transaction_id, l.batch, l.amount
  from tieout.settlement_lines l
  left join tieout.settlement_matches t using (settlement_line_id)
  left join tieout.movements m using (movement_id)
  cross join since
  where $3 = 'settled' and l.account_id = $1 and l.currency = $2
    and l.type in ('captured', 'refunded')
    and not coalesce(m.is_history, l.booked_at < since.at)
  union all
  select l.settlement_line_id, l.booked_at, l.type, l.order_no, l.transaction_id, l.batch,
    case $3 when 'fees' then l.fee - case when l.type = 'fee' then l.gross else 0 end
      when 'chargebacks' then -l.gross else l.gross end
  from tieout.settlement_batches b
  join tieout.settlement_lines l on l.account_id = b.account_id and l.batch = b.batch
    and l.settle_currency = b.currency
  cross join since
  where $3 <> 'settled' and b.account_id = $1 and b.currency = $2
    and tieout.is_in_books(b, since.at)
    and l.type = any (case $3 when 'gross' then array['captured', 'refunded']
      when 'chargebacks' then array['chargeback', 'chargeback_reversed']
      when 'other' then array['reserve', 'carried', 'adjustment'] else array[l.type] end)
)
select tieout.business_date_of(booked_at, $7::time, $8)::text as on, type as what,
  order_no as "orderNo", transaction_id as "transactionId", batch, round(amount, 2)::text as amount,
  (count(*) over ())::int as found, round(coalesce(sum(amount) over (), 0), 2)::text as total
from part
where amount <> 0
order by booked_at desc, settlement_line_id desc
limit $4 offset $5
