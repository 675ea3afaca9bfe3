-- Up Migration
-- Every attempt to send an instruction. It names its newest batch alone, and where it is sent again
-- or held again it has another one, or none: what may have moved money stands with the one before.
create function tieout.attempts_of(i tieout.instructions) returns setof tieout.attempts
language sql stable rows 1 as $$
  select t.* from tieout.attempts t
  where t.batch_id = i.batch_id and t.entries ? i.instruction_id::text
  union all
  select t.* from tieout.attempts t
  where i.resends > 0 and t.sending_run_id >= i.run_id and t.account_id = i.account_id
    and t.batch_id is distinct from i.batch_id and t.entries ? i.instruction_id::text
$$;

-- The attempts of an instruction to which an answer came. That by one batch stays for processes of
-- the version before.
create function tieout.answers_to(i tieout.instructions) returns uuid[] language sql stable as $$
  select coalesce(array_agg(t.attempt_id), '{}')
  from tieout.attempts_of(i) t join tieout.answers a using (attempt_id)
$$;

-- Down Migration
drop function tieout.answers_to(tieout.instructions);
drop function tieout.attempts_of(tieout.instructions);
