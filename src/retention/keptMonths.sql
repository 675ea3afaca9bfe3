-- The months whose looks are kept, oldest first: what is in them, and why they cannot go yet. A
-- month is held while something that is not settled began in it, or while it has the newest
-- snapshot of an account. $1 first day that is kept whatever else, $2 null or the one month that is
-- asked.
with month as materialized (
  select substring(c.relname from 'verdicts_(.*)') as month,
    case when c.relname = 'verdicts_before' then 0
      else tieout.month_number(to_date(right(c.relname, 7), 'YYYY_MM')) end as low,
    case when c.relname = 'verdicts_before' then tieout.month_number(date '1000-01-01')
      else tieout.month_number(
        (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month')::date) end as high
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'tieout.verdicts'::regclass
),
night as materialized (
  select distinct m.month, r.run_id, r.business_date, r.state
  from month m
  join tieout.runs r on not r.is_dry and (r.run_id >= m.low and r.run_id < m.high or exists (
    select from tieout.pulls p
    where p.run_id = r.run_id and p.pull_id >= m.low and p.pull_id < m.high))
  where $2::text is null or m.month = $2
),
span as materialized (
  select m.month, m.low, m.high, min(n.business_date) as first_date,
    max(n.business_date) as last_date, count(*) as nights, (
      select count(*) from tieout.look_links k where k.pull_id >= m.low and k.pull_id < m.high
    ) as looks, (
      select sum(pg_total_relation_size(format('tieout.%I', relation || '_' || m.month)))
      from unnest(tieout.month_relations()) as relation
    )::bigint as bytes
  from month m
  join night n using (month)
  group by m.month, m.low, m.high
),
newest as materialized (
  select distinct on (ra.account_id) ra.account_id, ra.pull_id
  from tieout.run_accounts ra
  join tieout.runs r using (run_id)
  where ra.pull_id is not null and not r.is_dry
  order by ra.account_id, ra.business_date desc
),
-- With the run that planned it, and those in which it was tried.
open_instruction as materialized (
  select instruction_id, state, run_id from tieout.instructions where is_open
  union
  select i.instruction_id, i.state, t.sending_run_id
  from tieout.instructions i
  cross join lateral tieout.attempts_of(i) t
  where i.state in ('queued', 'sending', 'accepted', 'unknown')
),
hold as (
  select month, 1 as place, 'its last date is ' || last_date || ', and all from ' || $1::date
    || ' on is kept' as reason
  from span where last_date >= $1
  union all
  select month, 2, 'the run of ' || min(business_date) || ' is being worked on'
  from night where state = 'running' group by month
  union all
  select s.month, 3, 'account ' || min(n.account_id) || ' was not checked since'
  from span s join newest n on n.pull_id >= s.low and n.pull_id < s.high group by s.month
  union all
  select n.month, 4, count(distinct p.pull_id) || ' of its looks are not sealed yet'
  from night n
  join tieout.pulls p on p.run_id = n.run_id
  -- The limit keeps this a look-up in one partition: joined as a whole, all snapshots would be
  -- read.
  cross join lateral (
    select from tieout.asked_orders a where a.pull_id = p.pull_id limit 1
  ) asked
  where not p.is_sealed
  group by n.month
  union all
  select n.month, 5, 'breaks not resolved began in it: ' || count(distinct b.break_id)
    || ', one is ' || min(b.kind || ' of ' || b.account_id || ' ' || b.order_no)
  from tieout.breaks b
  join tieout.break_events e using (break_id)
  join night n on n.run_id = e.run_id
  where b.state <> 'resolved'
  group by n.month
  union all
  select n.month, 6, 'instructions of it are not finished: ' || count(distinct i.instruction_id)
    || ', one is #' || min(i.instruction_id)
  from open_instruction i
  join night n using (run_id)
  group by n.month
  union all
  select n.month, 7, 'a day that was closed is not locked: ' || min(d.account_id || ' '
    || d.business_date)
  from (select distinct account_id, business_date from tieout.day_events) d
  join night n using (business_date)
  where tieout.day_state(d.account_id, d.business_date) <> 'locked'
  group by n.month
)
select s.month, s.low, s.high, s.first_date as "firstDate", s.last_date as "lastDate", s.nights,
  s.looks, s.bytes,
  array(select reason from hold h where h.month = s.month order by place) as holds
from span s
order by s.first_date
