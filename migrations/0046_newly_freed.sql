-- Up Migration
-- What a changed setting newly frees waits for a person, once: `newly_freed` is a reason to hold
-- that an approval overrules (core/decision.ts). Which setting it was stays with the instruction,
-- so that it waits until somebody has decided it, however many nights that takes.
do $$ begin
  execute regexp_replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    '(hold_reason not in \([^)]*)\)', '\1, ''newly_freed'')');
end $$;
alter table tieout.instructions add column freed_by text;
create index instructions_freed on tieout.instructions (account_id, order_no)
  where freed_by is not null;

-- By which settings an account was last planned completely, when it could send: the settings of the
-- next plan are compared with them. From when on its requests were not history in that plan.
alter table tieout.run_accounts
  add column weighed_by bigint,
  add column acted_from timestamptz;
update tieout.run_accounts ra set
  weighed_by = case when ra.send_block is null
    then (select max(s.settings_id) from tieout.run_settings s where s.run_id = ra.run_id) end,
  acted_from = least(r.created_at, (
    select (a ->> 'liveFrom')::timestamptz from jsonb_array_elements(r.settings -> 'accounts') a
    where a ->> 'accountId' = ra.account_id))
from tieout.runs r
where r.run_id = ra.run_id and not r.is_dry and r.state in ('tied_out', 'broken', 'incomplete');

-- Down Migration
alter table tieout.run_accounts drop column weighed_by, drop column acted_from;
drop index tieout.instructions_freed;
alter table tieout.instructions drop column freed_by;
do $$ begin
  execute replace(pg_get_functiondef('tieout.guard_decision()'::regprocedure),
    ', ''newly_freed''', '');
end $$;
