-- Up Migration
-- A freeze of all sending is told to the webhook by itself, and not only by the log of the night.
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse', 'security', 'heads_signed', 'sending_frozen'));

-- Down Migration
delete from tieout.outbox where event = 'sending_frozen';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse', 'security', 'heads_signed'));
