-- Up Migration
-- Reports over a day or a month beside those of a night; what each was made from, so that it can be
-- checked later; and which old files were deleted.
alter table tieout.reports
  drop constraint reports_kind_check,
  add constraint reports_kind_check
    check (kind in ('reconciliation', 'orders', 'activity', 'ageing')),
  -- 2026-11-20 or 2026-11, of a report that was asked for; null: the night's own
  add column period text check (period ~ '^\d{4}-\d\d(-\d\d)?$'),
  -- digests of what the database held when it was made
  add column digests jsonb;

-- The file is gone, the record of it stays: its digest is part of the chain.
create table tieout.report_removals (
  report_id bigint primary key references tieout.reports,
  removed_at timestamptz not null,
  finding text not null check (finding in ('deleted', 'was_gone', 'not_ours'))
);

-- Down Migration
drop table tieout.report_removals;
alter table tieout.reports drop column digests, drop column period;
delete from tieout.reports where kind in ('activity', 'ageing') and link_id is null;
alter table tieout.reports drop constraint reports_kind_check,
  add constraint reports_kind_check check (kind in ('reconciliation', 'orders')) not valid;
