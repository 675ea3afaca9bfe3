-- Up Migration
-- Which answers stood when a person found what had become of an instruction: one that comes later
-- has not been read by anybody. Told by what was there, not by clocks, which are set.

create function tieout.answers_to(batch bigint, instruction bigint) returns uuid[]
language sql stable as $$
  select coalesce(array_agg(t.attempt_id), '{}')
  from tieout.attempts t join tieout.answers a using (attempt_id)
  where t.batch_id = batch and t.entries ? instruction::text
$$;

alter table tieout.decisions add column answers_known uuid[];
-- Those of earlier releases say when they were made, and no more.
alter table tieout.decisions disable trigger guard_fact;
update tieout.decisions d set answers_known = (
  select coalesce(array_agg(t.attempt_id), '{}')
  from tieout.instructions i
  join tieout.attempts t on t.batch_id = i.batch_id and t.entries ? i.instruction_id::text
  join tieout.answers a using (attempt_id)
  where i.instruction_id = d.instruction_id and a.received_at <= d.at)
where d.finding is not null;
alter table tieout.decisions enable trigger guard_fact;

-- Down Migration
alter table tieout.decisions drop column answers_known;
drop function tieout.answers_to(bigint, bigint);
