-- Up Migration
-- When a place was last taken: how many wait is told by the time between the two, whatever a clock
-- says later. What was stored by a clock that was ahead goes.
delete from tieout.rate_buckets;
alter table tieout.rate_buckets add column taken_at timestamptz;

-- Down Migration
alter table tieout.rate_buckets drop column taken_at;
