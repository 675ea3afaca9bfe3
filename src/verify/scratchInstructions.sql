-- The instructions as they stood at some point of their history. $1 the last event that counts,
-- $2 the time of it.
with stood as (
  select distinct on (instruction_id) instruction_id, to_state, at
  from pg_temp.moves where seq <= $1::bigint
  order by instruction_id, seq desc
),
then_so as (
  select i, s.to_state, s.at,
    s.to_state in ('confirmed', 'rejected', 'withdrawn') as is_settled,
    s.to_state = i.state as is_still
  from pg_temp.every_instruction i join stood s using (instruction_id)
)
insert into pg_temp.instructions
select was.*
from then_so t
cross join lateral jsonb_populate_record(t.i, jsonb_build_object(
  'state', t.to_state,
  'is_open', tieout.is_open(t.to_state),
  'is_void', tieout.is_void(t.to_state),
  'settled_at', case when t.is_settled and t.is_still then (t.i).settled_at
    when t.is_settled then t.at end,
  'settled_run_id', case when t.is_settled and t.is_still then (t.i).settled_run_id
    when t.is_settled then (select max(run_id) from tieout.runs r
      where not r.is_dry and r.created_at <= t.at) end,
  'is_refused', t.to_state = 'withdrawn' and (t.i).is_refused,
  'replan_id', (select max(d.decision_id) from tieout.decisions d
    where d.instruction_id = (t.i).instruction_id and d.decision = 'replan'
      and d.at > t.at and d.at <= $2::timestamptz)
)) was
