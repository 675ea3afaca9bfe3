-- Up Migration
-- The path of a report is one of the host that wrote it: others see the file where the folder is
-- shared, and have to say whose it is where it is not.
alter table tieout.reports add column host text;

-- Down Migration
alter table tieout.reports drop column host;
