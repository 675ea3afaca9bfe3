-- Up Migration
-- A night whose chain ends could not be signed and written beside the database is told.
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed'));

-- Down Migration
delete from tieout.outbox where event = 'heads_not_signed';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late'));
