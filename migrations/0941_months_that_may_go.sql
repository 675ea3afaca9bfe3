-- Up Migration
-- The months whose looks are kept, oldest first: what is in them, and why they cannot go yet. A
-- month is held while something that is not settled began in it, or while it has the newest
-- snapshot of an account. kept_from is the first day that is kept whatever else; of_month null or
-- the one month that is asked.
create function tieout.kept_months(kept_from date, of_month text)
returns table (month text, low bigint, high bigint, first_date date, last_date date, nights bigint,
  looks bigint, bytes bigint, holds text[])
language sql stable as $$
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
  where of_month is null or m.month = of_month
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
  select month, 1 as place, 'its last date is ' || last_date || ', and all from ' || kept_from
    || ' on is kept' as reason
  from span where last_date >= kept_from
  union all
  select month, 1, 'runs of it began after ' || kept_from || ', from when on all is kept'
  from span
  where month <> 'before' and month >= to_char(kept_from, 'YYYY_MM') and last_date < kept_from
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
select s.month, s.low, s.high, s.first_date, s.last_date, s.nights,
  s.looks, s.bytes,
  array(select reason from hold h where h.month = s.month order by place) as holds
from span s
order by s.first_date
$$;

-- Who removes a month does not say by himself that it may go.
create or replace function tieout.drop_month(month_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
  relation text;
  kept bigint;
  holds text[];
begin
  -- What no setting lets go is younger than three whole months; nor does what is not settled.
  select m.holds into holds from tieout.kept_months(
    (date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '3 months')::date,
    month_name) m where m.month = month_name;
  if holds <> '{}' then
    raise exception 'month %: it is kept: %', month_name, array_to_string(holds, '; ')
      using errcode = 'check_violation';
  end if;
  if not exists (select from tieout.evidence_removals e where e.month = month_name) then
    raise exception 'month %: no removal of it is on record', month_name;
  end if;
  execute format('select min(pull_id) from tieout.%I p join tieout.look_links k
      using (pull_id, account_id)
    where not exists (select from tieout.removed_looks w
      where w.pull_id = k.pull_id and w.account_id = k.account_id)', 'pages_' || month_name)
    into kept;
  if kept is not null then
    raise exception 'month %: the removal does not say what snapshot % was', month_name, kept;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('drop table tieout.%I', relation || '_' || month_name);
  end loop;
end $$;

create or replace function tieout.keep_to_owner() returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  kept text;
  role name;
begin
  foreach kept in array array['fact_sources', 'installation', 'redactions', 'redacted_texts',
    'redacted_links']
  loop
    for role in
      select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
      where c.oid = ('tieout.' || kept)::regclass and a.grantee <> c.relowner and a.grantee <> 0
    loop
      execute format('revoke insert, update, delete on tieout.%I from %I', kept, role);
      -- who seals facts marks those that have no link yet; their guard lets nothing else through
      if kept = 'redactions' and has_table_privilege(role, 'tieout.runs', 'update') then
        execute format('grant update (link_id) on tieout.redactions to %I', role);
      end if;
    end loop;
  end loop;
  -- What a night needs of the owner's rights is for whoever works nights, and for nobody else.
  for role in
    select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
    where c.oid = 'tieout.runs'::regclass and a.privilege_type = 'UPDATE'
      and a.grantee <> c.relowner and a.grantee <> 0
  loop
    execute format('grant execute on function tieout.make_month(date), tieout.drop_month(text),
      tieout.analyse(regclass, text[]) to %I', role);
  end loop;
end $$;
revoke execute on function tieout.make_month(date), tieout.drop_month(text),
  tieout.analyse(regclass, text[]) from public;
select tieout.keep_to_owner();

-- Down Migration
grant execute on function tieout.make_month(date), tieout.drop_month(text),
  tieout.analyse(regclass, text[]) to public;
create or replace function tieout.keep_to_owner() returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  kept text;
  role name;
begin
  foreach kept in array array['fact_sources', 'installation', 'redactions', 'redacted_texts',
    'redacted_links']
  loop
    for role in
      select distinct a.grantee::regrole::name from pg_class c cross join aclexplode(c.relacl) a
      where c.oid = ('tieout.' || kept)::regclass and a.grantee <> c.relowner and a.grantee <> 0
    loop
      execute format('revoke insert, update, delete on tieout.%I from %I', kept, role);
      -- who seals facts marks those that have no link yet; their guard lets nothing else through
      if kept = 'redactions' and has_table_privilege(role, 'tieout.runs', 'update') then
        execute format('grant update (link_id) on tieout.redactions to %I', role);
      end if;
    end loop;
  end loop;
end $$;
create or replace function tieout.drop_month(month_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
  relation text;
  kept bigint;
begin
  if not exists (select from tieout.evidence_removals e where e.month = month_name) then
    raise exception 'month %: no removal of it is on record', month_name;
  end if;
  execute format('select min(pull_id) from tieout.%I p join tieout.look_links k
      using (pull_id, account_id)
    where not exists (select from tieout.removed_looks w
      where w.pull_id = k.pull_id and w.account_id = k.account_id)', 'pages_' || month_name)
    into kept;
  if kept is not null then
    raise exception 'month %: the removal does not say what snapshot % was', month_name, kept;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('drop table tieout.%I', relation || '_' || month_name);
  end loop;
end $$;
drop function tieout.kept_months;
