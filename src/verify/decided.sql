-- What people decided held against what follows from it. A decision is sealed as it is committed,
-- and moves its instruction in the same transaction: a decision without its move, a move of a
-- person without a decision, and one that nothing sealed were made behind the program's back.
with said as (
  select instruction_id, decided_by as by, decision, count(*) as times
  from tieout.decisions where decision in ('approve', 'reject', 'resolve') group by 1, 2, 3
),
moved as (
  select instruction_id, by, case when from_state = 'unknown' then 'resolve'
      when from_state = 'held' and to_state in ('planned', 'queued') then 'approve'
      else 'reject' end as decision, count(*) as times
  from tieout.instruction_events where by <> 'tieout' group by 1, 2, 3
)
select i.account_id, i.order_no, 'instruction ' || instruction_id as what,
  coalesce(moved.times, 0) || ' times moved by ' || coalesce(moved.by, said.by) || ' as after '
    || decision as state,
  coalesce(said.times, 0) || ' such decisions' as history
from said
full join moved using (instruction_id, decision, by)
join tieout.instructions i using (instruction_id)
where said.times is distinct from moved.times
union all
select i.account_id, i.order_no, 'instruction ' || i.instruction_id,
  'approved by decision ' || i.approval_id, 'no such approval'
from tieout.instructions i
where i.approval_id is not null and not exists (
  select from tieout.decisions d where d.decision_id = i.approval_id
    and d.instruction_id = i.instruction_id and d.decision = 'approve')
union all
-- What waits is let go by a person, or by a plan, which comes between a look and the total of its
-- run; told by how far history had come at each, whatever clocks say.
select i.account_id, i.order_no, 'instruction ' || i.instruction_id,
  'let go on ' || to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'no decision, and no run that planned'
from tieout.instruction_events e
join tieout.instructions i using (instruction_id)
cross join lateral (
  select w.kind from tieout.workings w
  where i.account_id = any (w.account_ids) and w.last_instruction_event < e.seq
  order by w.working_id desc limit 1
) newest
where e.from_state = 'held' and e.to_state = 'planned' and e.by = 'tieout'
  and newest.kind = 'total'
union all
select account_id, null, what || ' ' || id, 'there', 'no link that sealed it with its commit'
from (
  select account_id, 'decision' as what, decision_id as id, link_id from tieout.decisions
  union all
  select account_id, 'event of day ' || business_date, event_id, link_id from tieout.day_events
  union all
  select '', kind || ' on record as', seq, link_id from tieout.brakes
  union all
  select b.account_id, 'what ' || e.by || ' did about break ' || b.break_id || ' as event',
    e.event_id, e.link_id
  from tieout.break_events e join tieout.breaks b using (break_id) where e.by <> 'tieout'
  union all
  select '', 'removal of looks', removal_id, link_id from tieout.evidence_removals
) decided
where link_id is null
order by 1, 2, 3
limit 1000
