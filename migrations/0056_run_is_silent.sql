-- Up Migration
-- A run that nobody works on any more is told to the outside, too.
alter table tieout.outbox drop constraint outbox_event_check;
alter table tieout.outbox add constraint outbox_event_check check (event in
  ('night_finished', 'night_did_not_start', 'run_is_silent', 'unknown_waits', 'job_failed'));

-- Down Migration
delete from tieout.outbox where event = 'run_is_silent';
alter table tieout.outbox drop constraint outbox_event_check;
alter table tieout.outbox add constraint outbox_event_check check (event in
  ('night_finished', 'night_did_not_start', 'unknown_waits', 'job_failed'));
