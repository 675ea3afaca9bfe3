-- Records that orders are about to be compared or added up, how far history has come, and the
-- breaks that were carried into a night. $1 run, $2 kind, $3 accounts, $4 look, $5 the later look
-- whose pages failed.
with working as (
  insert into tieout.workings (run_id, kind, settings_id, account_ids, pull_id, failed_in,
    last_instruction_event, last_break_event)
  select $1, $2, (select max(settings_id) from tieout.run_settings where run_id = $1), $3,
    $4::bigint, $5::bigint,
    (select coalesce(max(seq), 0) from tieout.instruction_events),
    (select coalesce(max(event_id), 0) from tieout.break_events)
  returning working_id, kind, account_ids
)
insert into tieout.carried_breaks (working_id, break_id, account_id, state, expected, actual,
  fingerprint, currency, amount, last_run_id)
select w.working_id, b.break_id, b.account_id, b.state, b.expected, b.actual, b.fingerprint,
  b.currency, b.amount, b.last_run_id
from working w join tieout.breaks b on b.account_id = any (w.account_ids)
where w.kind = 'night' and b.state <> 'resolved'
