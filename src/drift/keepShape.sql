-- Keeps what a run's answers of one kind looked like. Of older runs one row stays: what this one
-- was held against, in case the run is added up again.
-- $1 account, $2 answer, $3 run, $4 looked at, $5 memory, $6 changes.
with kept as (
  insert into tieout.answer_shapes (account_id, answer, run_id, looked_at, memory, changes)
  values ($1, $2, $3::bigint, $4::timestamptz, $5::jsonb, $6::jsonb)
  on conflict (account_id, answer, run_id) do update
    set looked_at = excluded.looked_at, memory = excluded.memory, changes = excluded.changes
)
delete from tieout.answer_shapes s
where s.account_id = $1 and s.answer = $2 and s.run_id < (
  select max(b.run_id) from tieout.answer_shapes b
  where b.account_id = $1 and b.answer = $2 and b.run_id < $3::bigint)
