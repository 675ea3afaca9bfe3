-- Which sessions of this role wait for a lock, and for whom, or with a commit for a standby that
-- has kept one of them waiting; $1: how their applications are named.
with ours as materialized (
  select * from pg_stat_activity
  where datname = current_database() and usename = current_user
    and starts_with(application_name, $1)
),
waiting as materialized (select pid from ours where wait_event_type = 'Lock')
select distinct coalesce(lock.relation::regclass::text, lock.locktype) as what,
  nullif(blocking.pid, 0) as holder, holder.usename as "user",
  nullif(holder.application_name, '') as application,
  extract(epoch from clock_timestamp() - holder.xact_start)::int as "openSeconds",
  false as "isForStandby"
from waiting
join pg_locks lock on lock.pid = waiting.pid and not lock.granted
cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
left join pg_stat_activity holder on holder.pid = blocking.pid
where not exists (select from waiting other where other.pid = blocking.pid)
  and holder.wait_event is distinct from 'SyncRep'
union all
select 'a commit', null, null, null,
  extract(epoch from clock_timestamp() - min(query_start))::int, true
from ours where wait_event = 'SyncRep'
-- one that answers holds each commit for a moment, and some commit at every look
having min(query_start) < clock_timestamp() - interval '4 seconds'
order by 1, 2
