-- Lines of a batch with the movement that each settles, and the fee that was agreed where a tariff
-- says one. $1 account, $2 batch, $3 limit, $4 offset, $5 cut-off, $6 timezone, $7 tariff as json
-- [{account_id, type, parts_per_million, fixed, from, until, tolerance}], $8 decimals of coarse
-- currencies.
with line as materialized (
  select * from tieout.settlement_lines
  where account_id = $1 and batch = $2
  order by settlement_line_id
  limit $3 offset $4
)
select l.line_id as "lineId", l.type, l.booked_at as "bookedAt", l.order_no as "orderNo",
  l.settle_currency as "settleCurrency", l.gross::text as gross, l.fee::text as fee,
  l.net::text as net, m.order_no as "settlesOrder", m.business_date::text as "movedOn",
  t.by as "matchedBy", agreed.fee::text as agreed, abs(l.fee - agreed.fee) > f.tolerance as beyond
from line l
left join tieout.settlement_matches t using (settlement_line_id)
left join tieout.movements m using (movement_id)
left join jsonb_to_recordset($7::jsonb) as f (account_id text, type text, parts_per_million numeric,
    fixed jsonb, "from" date, until date, tolerance numeric)
  on f.account_id collate "C" = l.account_id and f.type = l.type
    and tieout.business_date_of(l.booked_at, $5::time, $6) >= f."from"
    and (f.until is null or tieout.business_date_of(l.booked_at, $5::time, $6) < f.until)
left join lateral (
  select tieout.agreed_fee(l.gross, l.settle_currency, f.parts_per_million, f.fixed, $8::jsonb)
    as fee
) agreed on f.account_id is not null
order by l.settlement_line_id
