-- What reservations that are not taken come to, by account and currency: sums of the amounts that
-- can be read, null where none can, and how many orders have one that cannot. $1 rules and $2
-- whether all as tieout.open_authorisations has them, $3 now.
with reserved as (
  select *, lapses_at > $3::timestamptz and lapses_at <= warn_until as is_at_risk,
    lapses_at <= $3 as has_lapsed
  from tieout.open_authorisations($1::jsonb, $2::boolean, null)
)
select account_id as "accountId", currency, count(distinct order_no)::int as orders,
  count(*)::int as reservations,
  round(sum(amount), 2)::text as amount,
  (count(distinct order_no) filter (where amount is null))::int as unread,
  (count(distinct order_no) filter (where is_at_risk))::int as "atRisk",
  case when bool_or(is_at_risk) then round(sum(amount) filter (where is_at_risk), 2)::text
    else '0.00' end as "atRiskAmount",
  (count(distinct order_no) filter (where is_at_risk and amount is null))::int as "atRiskUnread",
  (count(distinct order_no) filter (where has_lapsed))::int as lapsed,
  case when bool_or(has_lapsed) then round(sum(amount) filter (where has_lapsed), 2)::text
    else '0.00' end as "lapsedAmount",
  (count(distinct order_no) filter (where has_lapsed and amount is null))::int as "lapsedUnread",
  (count(distinct order_no) filter (where since is null))::int as undated,
  (count(*) filter (where is_gap))::int as gaps,
  min(lapses_at) filter (where lapses_at > $3) as "nextLapse", min(since) as oldest,
  max(seen_at) as "seenAt"
from reserved
group by account_id, currency
order by account_id, currency nulls last
