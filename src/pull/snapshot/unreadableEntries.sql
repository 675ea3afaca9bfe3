-- Entries that name no order, in the newest snapshot of each account of a run and those after
-- sending: how many, where the first stand, and how many orders they may be about. $1 run, $2 what
-- they are called, $3 so many places.
with snapshot as materialized (
  select l.pull_id, a.account_id
  from tieout.run_accounts a
  join tieout.pulls l on l.run_id = a.run_id and l.pull_id >= a.pull_id and l.kind <> 'fresh'
  where a.run_id = $1::bigint and a.pull_id is not null
),
found as (
  select e.account_id, e.page_no, e.position,
    row_number() over (partition by e.account_id order by e.pull_id, e.page_no, e.position) as place
  from snapshot
  -- the offset keeps the walk of the index: joined as a whole, all snapshots would be read
  cross join lateral (
    select * from tieout.look_entries x
    where x.pull_id = snapshot.pull_id and x.account_id = snapshot.account_id
      and not x.is_asked and starts_with(x.order_no, $2::text)
    offset 0
  ) e
)
select f.account_id, count(*) as entries,
  jsonb_agg(jsonb_build_object('pageNo', f.page_no, 'position', f.position) order by f.place)
    filter (where f.place <= $3::int) as places,
  coalesce((select sum(p.orders) from snapshot
    join tieout.pages p on p.pull_id = snapshot.pull_id and p.account_id = snapshot.account_id
    where snapshot.account_id = f.account_id and p.page_no < 0), 0)::bigint as orders
from found f
group by f.account_id
order by f.account_id
