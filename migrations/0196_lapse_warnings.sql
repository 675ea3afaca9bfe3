-- Up Migration
-- Who is to know of a reservation that lapses untaken is told once: what was told, and when.
create table tieout.lapse_warnings (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C" not null,
  -- infinity: nobody knows when
  lapses_at timestamptz not null,
  warned_at timestamptz not null,
  primary key (account_id, order_no, transaction_id, lapses_at)
);
create trigger guard_history before update or delete or truncate on tieout.lapse_warnings
  for each statement execute function tieout.guard_history();

alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed', 'reservations_lapse'));

-- Down Migration
delete from tieout.outbox where event = 'reservations_lapse';
alter table tieout.outbox drop constraint outbox_event_check,
  add constraint outbox_event_check check (event in ('night_finished', 'night_did_not_start',
    'run_is_silent', 'unknown_waits', 'job_failed', 'file_refused', 'batch_late',
    'heads_not_signed'));
drop table tieout.lapse_warnings;
