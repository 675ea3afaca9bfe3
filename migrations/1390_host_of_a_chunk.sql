-- Up Migration
-- The processes of one host have one way to the gateway: whether others are answered, where one is
-- not, is seen by the host that took their pages.
alter table tieout.chunks add column host text;

-- Down Migration
alter table tieout.chunks drop column host;
