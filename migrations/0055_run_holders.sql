-- Up Migration
-- Who holds a run. Every write of a run is fenced by this row: whoever works on the run locks it
-- with each transaction, and whoever takes the run over writes another one in its place, so that a
-- process that wakes after it was taken over writes nothing any more. It is apart from the run,
-- whose sign of life is written every few seconds. Of all dates one is worked on at a time.
create table tieout.run_holders (
  run_id bigint primary key references tieout.runs on delete cascade,
  holder uuid not null,
  is_dry boolean not null
);

-- A date whose process is gone is only the newest one's to go on with.
update tieout.runs r set state = 'failed', runner_id = null, finished_at = now(),
  failure = 'nobody worked on it any more'
where state = 'running' and not is_dry
  and business_date < (select max(business_date) from tieout.runs where not is_dry);
insert into tieout.run_holders (run_id, holder, is_dry)
select run_id, runner_id, is_dry from tieout.runs where runner_id is not null;
create unique index run_holders_one_date on tieout.run_holders (is_dry) where not is_dry;

-- The accounts that the present runner works on; null: not said.
alter table tieout.runs add column runner_accounts text[];

create function tieout.keep_holder() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.runner_id is not distinct from old.runner_id then
    return null;
  end if;
  delete from tieout.run_holders where run_id = new.run_id;
  if new.runner_id is not null then
    insert into tieout.run_holders (run_id, holder, is_dry)
    values (new.run_id, new.runner_id, new.is_dry);
  end if;
  return null;
end $$;
create trigger keep_holder after insert or update of runner_id on tieout.runs
  for each row execute function tieout.keep_holder();

-- Ahead of every statement of a run: refused where somebody else holds it.
create procedure tieout.hold_run(run bigint, of_holder uuid) language plpgsql as $$
begin
  perform from tieout.run_holders where run_id = run and holder = of_holder for key share;
  if not found then
    raise exception 'the run was taken over by another process' using errcode = 'TO001';
  end if;
end $$;

-- Down Migration
drop procedure tieout.hold_run;
drop trigger keep_holder on tieout.runs;
drop function tieout.keep_holder;
alter table tieout.runs drop column runner_accounts;
drop table tieout.run_holders;
