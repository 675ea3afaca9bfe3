-- Writes down every reservation at risk that nobody was told of, and answers what they come to, by
-- account and currency, the amount null where none can be read, and how many have one that cannot:
-- those that lapse by another time than was told are told again. What the
-- gateway has accepted to take waits for nobody. $1 rules as tieout.open_authorisations has them,
-- $2 now.
with risk as materialized (
  select a.account_id, a.order_no, coalesce(a.transaction_id, '') as transaction_id, a.currency,
    a.amount, coalesce(a.lapses_at, 'infinity') as lapses_at
  from tieout.open_authorisations($1::jsonb, false, null) a
  where not exists (
    select from tieout.instructions i
    where i.account_id = a.account_id and i.order_no = a.order_no
      and i.transaction_id = a.transaction_id and i.is_open and i.state = 'accepted')
),
told as (
  insert into tieout.lapse_warnings (account_id, order_no, transaction_id, lapses_at, warned_at)
  select account_id, order_no, transaction_id, lapses_at, $2::timestamptz from risk
  on conflict do nothing
  returning account_id, order_no, transaction_id, lapses_at
)
select account_id as "accountId", currency, count(*)::int as reservations,
  round(sum(amount), 2)::text as amount, (count(*) filter (where amount is null))::int as unread,
  (count(*) filter (where lapses_at <= $2))::int as lapsed,
  min(lapses_at) filter (where lapses_at > $2 and lapses_at < 'infinity') as "nextLapse"
from risk join told using (account_id, order_no, transaction_id, lapses_at)
group by account_id, currency
order by account_id, currency nulls last
