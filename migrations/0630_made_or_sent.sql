-- Up Migration
-- What counts for the limits of a run: what it made, and what it sent of earlier runs. A run that
-- goes on begins with no new limit. Both are looked up, however much there is of earlier nights.
create index attempts_by_run on tieout.attempts (sending_run_id);

create function tieout.made_or_sent(by_run bigint) returns setof bigint
language sql stable rows 1000 as $$
  select instruction_id from tieout.instructions where run_id = by_run
  union
  select i.instruction_id
  from tieout.attempts t
  join tieout.instructions i on i.batch_id = t.batch_id
  where t.sending_run_id = by_run
$$;

-- Down Migration
drop function tieout.made_or_sent(bigint);
drop index tieout.attempts_by_run;
