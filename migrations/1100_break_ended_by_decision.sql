-- Up Migration
-- An outcome that nobody knew is known because a person said what became of it: neither side
-- changed, nor the settings, the profile or the clock.
alter table tieout.break_events drop constraint break_events_cause_check;
alter table tieout.break_events add constraint break_events_cause_check check (cause in
  ('instruction', 'decision', 'outside', 'ledger', 'tolerance', 'gone', 'other_break', 'rules',
    'settlement'));

-- Down Migration
alter table tieout.break_events drop constraint break_events_cause_check;
alter table tieout.break_events add constraint break_events_cause_check check (cause in
  ('instruction', 'outside', 'ledger', 'tolerance', 'gone', 'other_break', 'rules', 'settlement'))
  not valid;
