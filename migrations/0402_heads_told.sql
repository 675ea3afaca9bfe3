-- Up Migration
-- The signed ends of a run are told to the webhook where the configuration asks for it.
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse', 'security', 'heads_signed'));

-- Down Migration
delete from tieout.outbox where event = 'heads_signed';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse', 'security'));
