-- What is settled and in no night's figures counts in the run that adds up now. $1 run, $2
-- accounts. People settle between two runs; and a run that its process left, and that a later one
-- covers, may have settled more than it ever told of.
update tieout.instructions i set settled_run_id = $1::bigint
where i.account_id = any ($2::text[]) and i.settled_at is not null and (
  i.settled_run_id is null
  or i.instruction_id in (
    select late.instruction_id
    from tieout.runs r
    cross join lateral (
      select max(w.last_instruction_event) as until from tieout.workings w
      where w.run_id = r.run_id and w.kind = 'total' and r.summary is not null
    ) told
    join tieout.instructions late on late.settled_run_id = r.run_id
    cross join lateral (
      select max(e.seq) as settled from tieout.instruction_events e
      where e.instruction_id = late.instruction_id
    ) last
    where r.state = 'failed' and not r.is_dry and r.run_id <> $1
      and (told.until is null or last.settled > told.until)))
