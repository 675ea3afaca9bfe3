-- The fees of a month, or of all time since settlement.from: what was taken and what was agreed, by
-- account, currency and type; in all those of settlementFigures.sql, and by month those of
-- report/settlement/feeRows.sql. $1 accounts, $2 first and $3 last business date or null, $4
-- cut-off, $5 timezone, $6 tariff as json [{account_id, type, parts_per_million, fixed, from,
-- until, tolerance}], $7 decimals of coarse currencies, $8 settlement.from.
with since as (select ($8::date + $4::time) at time zone $5 as at),
line as (
  select l.*, dated, day as booked_on
  from tieout.settlement_batches b
  join tieout.settlement_lines l on l.account_id = b.account_id and l.batch = b.batch
    and l.settle_currency = b.currency
  cross join since
  cross join lateral (
    select dated, greatest(dated, $8::date) as day
    from tieout.business_date_of(l.booked_at, $4::time, $5) as dated
  ) booked
  where b.account_id = any ($1) and tieout.is_in_books(b, since.at)
    and (l.type <> 'payout' or l.fee <> 0)
),
weighed as (
  select l.account_id, l.settle_currency as currency, l.type,
    case when l.type = 'payout' then 0 else l.gross end as gross,
    l.fee - case when l.type = 'fee' then l.gross else 0 end as fee, l.fee as line_fee,
    tieout.agreed_fee(l.gross, l.settle_currency, t.parts_per_million, t.fixed, $7::jsonb)
      as agreed, t.tolerance
  from line l
  left join jsonb_to_recordset($6::jsonb) as t (account_id text, type text,
      parts_per_million numeric, fixed jsonb, "from" date, until date, tolerance numeric)
    on t.account_id collate "C" = l.account_id and t.type = l.type and l.dated >= t."from"
      and (t.until is null or l.dated < t.until)
  where ($2::date is null or l.booked_on >= $2) and ($3::date is null or l.booked_on <= $3)
)
select account_id as "accountId", currency, type, count(*)::int as lines,
  round(sum(gross), 2)::text as gross, round(sum(fee), 2)::text as fees,
  round(sum(agreed), 2)::text as agreed,
  round(sum(line_fee - agreed), 2)::text as variance,
  (count(*) filter (where abs(line_fee - agreed) > tolerance))::int as beyond
from weighed
group by account_id, currency, type
having sum(abs(fee)) <> 0 or count(agreed) > 0
order by account_id, currency, type
