-- The relations in which a run is worked out again, in the session's own temporary schema, under
-- the names that the statements of the run use: what was seen is seen again, what was worked out
-- begins empty. The run is the one row of pg_temp.verified.
create temp view asked_orders as select * from tieout.asked_orders;
create temp view asked_refunds as select * from tieout.asked_refunds;
create temp view pages as select * from tieout.pages;
create temp view runs as select * from tieout.runs;
create temp view ledger_changes as select * from tieout.ledger_changes;
-- Done long ago: a chunk of a run that ended does not change.
create temp view chunks as select * from tieout.chunks;
-- When something was sent changes no more either.
create temp view attempts as select * from tieout.attempts;
-- Tells by whose word a break is resolved, which no working out again compares.
create temp view instruction_events as select * from tieout.instruction_events;

create temp table look_entries (like tieout.look_entries);
create temp table verdicts (like tieout.verdicts including defaults including indexes);
create temp table pulls as
  select * from tieout.pulls where run_id = (select run_id from pg_temp.verified);
update pg_temp.pulls set matched = null;
create temp table run_accounts as
  select * from tieout.run_accounts where run_id = (select run_id from pg_temp.verified);

-- Every instruction that the run could see, as it is today, and its whole history.
create temp table every_instruction as
  select i.* from tieout.instructions i
  where i.account_id in (select account_id from pg_temp.run_accounts)
    and (i.run_id = (select run_id from pg_temp.verified)
      -- of a run that was left, and whose money this one told
      or i.settled_run_id = (select run_id from pg_temp.verified)
      or (i.account_id, i.order_no) in (
        select a.account_id, a.order_no from tieout.asked_orders a
        where a.pull_id in (select pull_id from pg_temp.pulls))
      -- a payout is of no order that was asked; of an account that is not configured none is
      or ((i.operation = 'payout' or i.account_id in (
          select account_id from pg_temp.run_accounts where merchant_id is null))
        and i.run_id < (select run_id from pg_temp.verified)
        and (i.settled_at is null
          or i.settled_run_id >= (select run_id from pg_temp.verified)
          or i.settled_at >= (select created_at from tieout.runs
            where run_id = (select run_id from pg_temp.verified)))));
create temp table moves as
  select e.instruction_id, e.seq, e.to_state, e.at
  from tieout.instruction_events e join pg_temp.every_instruction using (instruction_id);
create temp table instructions (like tieout.instructions including defaults including indexes);

-- Above every number that was ever given: what is new here is told by it.
create temp sequence scratch_ids start 1000000000000000;
create temp table breaks (like tieout.breaks including defaults including indexes);
alter table pg_temp.breaks alter column break_id set default nextval('pg_temp.scratch_ids');
create temp table break_events (like tieout.break_events including defaults);
alter table pg_temp.break_events alter column event_id set default nextval('pg_temp.scratch_ids');
