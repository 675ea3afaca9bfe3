-- Which pages of a run's snapshots were not answered, by account, and why? $1 run: its newest
-- of each account and, apart, those after sending, but not the small ones right before it. Expects:
-- one row an account that has such pages; the most frequent reason first.
with failed as (
  select p.account_id, coalesce(p.reason, 'it was never asked') as reason, count(*) as pages,
    count(*) filter (where l.pull_id > a.pull_id) as later_pages, sum(p.orders) as orders,
    sum(p.orders) filter (where l.pull_id > a.pull_id) as later_orders
  from tieout.run_accounts a
  join tieout.pulls l on l.run_id = a.run_id
    and (l.pull_id = a.pull_id or l.pull_id > a.pull_id and l.kind = 'confirm')
  join :pages p on p.pull_id = l.pull_id and p.account_id = a.account_id
  where a.run_id = $1::bigint and a.pull_id is not null and p.state = 'failed'
    -- orders that left their page are told by what is wrong there (unreadableEntries.sql)
    and p.page_no >= 0
  group by p.account_id, reason
)
select account_id, sum(pages - later_pages)::bigint as pages,
  (coalesce(sum(orders), 0) - coalesce(sum(later_orders), 0))::bigint as orders,
  sum(later_pages)::bigint as later_pages,
  coalesce(sum(later_orders), 0)::bigint as later_orders,
  array_agg(reason order by pages desc, reason) as reasons
from failed
group by account_id
order by account_id
