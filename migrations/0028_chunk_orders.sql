-- Up Migration
-- The first and the last order of a chunk's pages: whoever works on it reads these orders by the
-- key of the look instead of looking through all of them. Null where pages are walked.
alter table tieout.chunks
  add column first_order text collate "C",
  add column last_order text collate "C",
  add check ((first_order is null) = (last_order is null));

-- Down Migration
alter table tieout.chunks drop column first_order, drop column last_order;
