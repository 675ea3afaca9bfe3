-- Up Migration
-- Whoever is asked to agree to a waiver may say no, and who asked may take it back: the break stays
-- open, and its life says by whom and why.
alter table tieout.break_events drop constraint break_events_event_check,
  add constraint break_events_event_check check (event in ('opened', 'reopened', 'resolved',
    'waived', 'changed', 'noted', 'assigned', 'waiver_asked', 'waiver_refused'));

-- Down Migration
alter table tieout.break_events drop constraint break_events_event_check,
  add constraint break_events_event_check check (event in ('opened', 'reopened', 'resolved',
    'waived', 'changed', 'noted', 'assigned', 'waiver_asked')) not valid;
