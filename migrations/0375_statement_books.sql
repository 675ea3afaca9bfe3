-- Up Migration
-- The statement of a night goes on to what the acquirer settled, where books of it are kept.
alter table tieout.statements add column books jsonb;

-- Down Migration
alter table tieout.statements drop column books;
