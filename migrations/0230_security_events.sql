-- Up Migration
-- Who came in, who was kept out and who may do what is told outside, where that is wanted.
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse', 'security'));

-- Down Migration
delete from tieout.outbox where event = 'security';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse'));
