-- How far a run ($1) has come for the accounts $2: pages asked, batches sent, reports written.
with night as (
  select pull_id, finished_at, matched from tieout.pulls
  where run_id = $1 and kind = 'night' order by pull_id desc limit 1
), later as (
  select count(*) as looks, bool_and(finished_at is not null) as done from tieout.pulls
  where run_id = $1 and kind = 'confirm'
), sent as (
  select count(*) as batches,
    count(*) filter (where state not in ('queued', 'sending')) as done
  from tieout.batches where run_id = $1 and account_id = any ($2)
), written as (
  select count(*) as reports, count(*) filter (where state <> 'queued') as done
  from tieout.reports where run_id = $1
)
select
  coalesce((select sum(c.last_page - c.first_page + 1) from tieout.chunks c, night
    where c.pull_id = night.pull_id and c.account_id = any ($2)), 0)::int as pages,
  coalesce((select count(*) from tieout.pages p, night
    where p.pull_id = night.pull_id and p.account_id = any ($2)
      and not p.stands_for_walk), 0)::int as "pagesDone",
  coalesce((select finished_at is not null from night), false) as "pullDone",
  coalesce((select matched is not null from night), false) as compared,
  sent.batches::int as batches,
  sent.done::int as "batchesDone",
  later.looks > 0 as confirming,
  coalesce(later.done, false) as confirmed,
  written.reports::int as reports,
  written.done::int as "reportsWritten"
from sent, later, written
