-- Up Migration
-- The journal of permits goes on in a next file when one is full: how far it was held against this
-- database is a file and bytes of it. Null: nothing of it counts as read.
alter table tieout.journals add column verified_file int;
update tieout.journals set verified_file = 0 where verified_at is not null;

-- Down Migration
alter table tieout.journals drop column verified_file;
