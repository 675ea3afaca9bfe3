-- What reservations that are not taken come to, by account and currency. $1 rules and $2 whether
-- all as tieout.open_authorisations has them, $3 now.
select account_id as "accountId", currency, count(distinct order_no)::int as orders,
  count(*)::int as reservations,
  coalesce(round(sum(amount), 2), 0)::numeric(20, 2)::text as amount,
  (count(distinct order_no) filter (where lapses_at > $3::timestamptz
    and lapses_at <= warn_until))::int as "atRisk",
  coalesce(round(sum(amount) filter (where lapses_at > $3 and lapses_at <= warn_until), 2),
    0)::numeric(20, 2)::text as "atRiskAmount",
  (count(distinct order_no) filter (where lapses_at <= $3))::int as lapsed,
  coalesce(round(sum(amount) filter (where lapses_at <= $3), 2), 0)::numeric(20, 2)::text
    as "lapsedAmount",
  (count(distinct order_no) filter (where since is null))::int as undated,
  (count(*) filter (where is_gap))::int as gaps,
  min(lapses_at) filter (where lapses_at > $3) as "nextLapse", min(since) as oldest,
  max(seen_at) as "seenAt"
from tieout.open_authorisations($1::jsonb, $2::boolean, null)
group by account_id, currency
order by account_id, currency nulls last
