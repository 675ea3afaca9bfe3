-- Up Migration
-- A file of the inbox that was refused is told to the outside like what nobody else would tell.
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused'));

-- Down Migration
delete from tieout.outbox where event = 'file_refused';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed'));
