-- Up Migration
-- After a restore, what no look can vouch for waits for a person: `restored` is a reason to hold
-- that an approval overrules (core/decision.ts).
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '''approval_void'')', '''approval_void'', ''restored'')');
end $$;
-- When the database last came back from a backup, for the plan of each run.
create index brakes_restored on tieout.brakes (at) where found ? 'restoredFrom';

-- Down Migration
drop index tieout.brakes_restored;
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '''approval_void'', ''restored'')', '''approval_void'')');
end $$;
