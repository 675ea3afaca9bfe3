-- Up Migration
-- What somebody had typed into the form of a decision when the password was asked for first: it
-- stands in the form again afterwards. Of one session, shown once, gone with the session.
alter table tieout.sessions add column draft jsonb;

-- Lists of what had no effect, among millions that had one.
create index instructions_void on tieout.instructions (instruction_id) where is_void;

-- A report of a day or month is counted by its period: another night's run may write the next
-- revision, and its file stands in the same folder.
alter table tieout.reports drop constraint if exists reports_run_id_kind_format_revision_key;
drop index if exists tieout.reports_run_id_kind_format_revision_key;
create unique index reports_of_run_once on tieout.reports (run_id, kind, format, revision)
  where period is null;
create unique index reports_of_period_once on tieout.reports (period, kind, format, revision)
  where period is not null;

-- Down Migration
drop index tieout.reports_of_period_once;
alter index tieout.reports_of_run_once rename to reports_run_id_kind_format_revision_key;
drop index tieout.instructions_void;
alter table tieout.sessions drop column draft;
