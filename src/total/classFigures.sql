-- How many orders of each account of a run are in which class, and how many pages of its snapshots
-- after sending failed? $1 run.
with account as materialized (
  select account_id, pull_id from :run_accounts
  where run_id = $1::bigint and pull_id is not null
),
matched as (
  select a.account_id, sum((p.matched ->> a.account_id)::bigint) as matched
  from account a
  join :pulls p on p.pull_id >= a.pull_id and p.run_id = $1 and p.kind <> 'fresh'
  group by a.account_id
),
-- Pages of a snapshot after sending that failed: what was accepted there is not shown yet.
later as (
  select a.account_id, count(*) as failed_later,
    -- below 0: orders that left their page, which was answered (leaveUnread.sql)
    count(*) filter (where p.page_no >= 0) as pages_later
  from account a
  join :pulls l on l.run_id = $1 and l.pull_id > a.pull_id and l.kind = 'confirm'
  join :pages p on p.pull_id = l.pull_id and p.account_id = a.account_id
  where p.state = 'failed'
  group by a.account_id
),
class as (
  select account_id, jsonb_object_agg(class, orders) as classes
  from (
    select account_id, class, sum(orders) as orders
    from (
      select account_id, class, count(*) as orders from :verdicts
      where run_id = $1 group by account_id, class
      union all
      select account_id, 'matched', matched from matched where matched is not null
    ) as part
    group by account_id, class
  ) as whole
  group by account_id
)
select account.account_id, coalesce(failed_later, 0) as failed_later,
  coalesce(pages_later, 0) as pages_later,
  coalesce(classes, '{}') as classes
from account
left join class using (account_id)
left join later using (account_id)
