-- Up Migration
-- Somebody asked on the console that the newest run be worked on once more: the next clock that
-- looks takes the wish and does what `tieout run` does.
alter table tieout.runs add column again_asked_at timestamptz, add column again_asked_by text,
  add constraint runs_again_asked check ((again_asked_at is null) = (again_asked_by is null));

-- Down Migration
alter table tieout.runs drop column again_asked_at, drop column again_asked_by;
