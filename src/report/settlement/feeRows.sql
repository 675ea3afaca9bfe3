-- The fees of a period, by month, account, currency and type: what was taken, and what was agreed
-- on the date of each line, which is that of its booking. $1 accounts, $2 settlement.from, $3
-- cut-off, $4 timezone, $5 first and $6 last date, $7 tariff as json [{account_id, type,
-- parts_per_million, fixed, from, until, tolerance}], $8 decimals of coarse currencies.
with since as (select ($2::date + $3::time) at time zone $4 as at),
line as (
  select l.*, dated, day as booked_on, to_char(day, 'YYYY-MM') as month
  from tieout.settlement_batches b
  join tieout.settlement_lines l on l.account_id = b.account_id and l.batch = b.batch
    and l.settle_currency = b.currency
  cross join since
  cross join lateral (
    select dated, greatest(dated, $2::date) as day
    from tieout.business_date_of(l.booked_at, $3::time, $4) as dated
  ) booked
  where b.account_id = any ($1) and tieout.is_in_books(b, since.at) and day between $5 and $6
    and (l.type <> 'payout' or l.fee <> 0)
),
weighed as (
  select l.month, l.account_id, l.settle_currency as currency, l.type,
    case when l.type = 'payout' then 0 else l.gross end as gross,
    l.fee - case when l.type = 'fee' then l.gross else 0 end as fee, l.fee as line_fee,
    tieout.agreed_fee(l.gross, l.settle_currency, t.parts_per_million, t.fixed, $8::jsonb)
      as agreed, t.tolerance
  from line l
  left join jsonb_to_recordset($7::jsonb) as t (account_id text, type text,
      parts_per_million numeric, fixed jsonb, "from" date, until date, tolerance numeric)
    on t.account_id collate "C" = l.account_id and t.type = l.type and l.dated >= t."from"
      and (t.until is null or l.dated < t.until)
)
select month, account_id as "accountId", currency, type, count(*)::int as lines,
  round(sum(gross), 2)::text as gross, round(sum(fee), 2)::text as fees,
  case when type in ('captured', 'refunded')
    then round(100 * sum(fee) / nullif(sum(gross), 0), 2)::text end as rate,
  round(sum(agreed), 2)::text as agreed, round(sum(line_fee - agreed), 2)::text as variance,
  round(coalesce(sum(fee) filter (where agreed is null), 0), 2)::text as "withoutTariff",
  (count(*) filter (where abs(line_fee - agreed) > tolerance))::int as beyond
from weighed
group by month, account_id, currency, type
order by month, account_id, currency, type
