-- What was open in each account when its run before ended, by currency: how many breaks, and how
-- much money as both sides stood then. $1 run, $2 accounts. What has no event since is read as it
-- stands, as report/listedBreaks.sql does: the cost grows with what happened since.
with account as materialized (
  select account_id, events_after from tieout.run_accounts
  where run_id = $1::bigint and account_id = any ($2) and events_after > 0
),
touched as materialized (
  select distinct break_id from tieout.break_events
  where event_id > (select min(events_after) from account)
),
untouched as (
  select b.account_id, b.kind, b.expected, b.actual, b.currency, b.amount
  from account join tieout.breaks b using (account_id)
  where b.state = 'open' and not exists (select from touched t where t.break_id = b.break_id)
),
then_open as (
  select b.account_id, b.kind, said.expected, said.actual, said.currency, said.amount
  from touched t
  cross join lateral (select * from tieout.breaks b where b.break_id = t.break_id offset 0) b
  join account a on a.account_id = b.account_id
  cross join lateral (
    select event from tieout.break_events e
    where e.break_id = b.break_id and e.event_id <= a.events_after
      and event in ('opened', 'reopened', 'resolved', 'waived')
    order by event_id desc limit 1) as state
  cross join lateral (
    select expected, actual, currency, amount from tieout.break_events e
    where e.break_id = b.break_id and e.event_id <= a.events_after
      and event in ('opened', 'reopened', 'changed')
    order by event_id desc limit 1) as said
  where state.event in ('opened', 'reopened')
)
select account_id as "accountId", currency, count(*)::int as breaks,
  coalesce(sum(round(coalesce(tieout.break_money(kind, currency, expected, actual), amount), 2)),
    0.00)::text as money
from (select * from untouched union all select * from then_open) as open
group by account_id, currency order by account_id, currency nulls last
