-- Up Migration
-- A sum is of any number of rows: it has room for all of them.
alter table tieout.day_sums alter column amount type numeric;

-- Down Migration
alter table tieout.day_sums alter column amount type numeric(24, 2);
