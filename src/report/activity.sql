-- What happened on each business date of a period, by account and currency: the money in open
-- breaks before and after, and the money that moved. $1 first date, $2 last date.
with day as (
  select r.business_date, r.summary, a.account_id, a.stake_before,
    coalesce(a.stake_after, '{}') as stake_after
  from tieout.runs r join tieout.run_accounts a using (run_id)
  where not r.is_dry and r.summary is not null
    and r.business_date between $1::date and $2::date
),
moved as (
  select d.business_date, d.account_id, t ->> 'currency' as currency,
    (t ->> 'captured')::numeric as captured, (t ->> 'cancelled')::numeric as cancelled,
    (t ->> 'refunded')::numeric as refunded, (t ->> 'net')::numeric as net,
    (t ->> 'unknown')::numeric as unknown
  from day d
  cross join jsonb_array_elements(d.summary -> 'accounts') as account
  cross join jsonb_array_elements(account -> 'totals') as t
  where account ->> 'accountId' = d.account_id
),
stake as (
  select business_date, account_id, s.key as currency,
    coalesce((stake_before ->> s.key)::numeric, 0) as open_before,
    coalesce((stake_after ->> s.key)::numeric, 0) as open_after
  from day cross join lateral (
    select jsonb_object_keys(stake_before) as key
    union select jsonb_object_keys(stake_after)
  ) as s
)
select business_date as "businessDate", account_id as "accountId", currency,
  round(coalesce(open_before, 0), 2)::text as "openBefore",
  round(coalesce(open_after, 0) - coalesce(open_before, 0), 2)::text as change,
  round(coalesce(open_after, 0), 2)::text as "openAfter",
  round(coalesce(captured, 0), 2)::text as captured,
  round(coalesce(cancelled, 0), 2)::text as cancelled,
  round(coalesce(refunded, 0), 2)::text as refunded,
  round(coalesce(net, 0), 2)::text as net,
  round(coalesce(unknown, 0), 2)::text as unknown
from moved full join stake using (business_date, account_id, currency)
order by account_id, currency, business_date
