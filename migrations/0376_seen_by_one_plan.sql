-- Up Migration
-- What a person saw of an instruction is looked up by keys alone: planned once for all of them. The
-- server plans it anew for each one otherwise, which took five times as long.
alter function tieout.seen_of(tieout.instructions) set plan_cache_mode = force_generic_plan;
alter function tieout.seen_at(tieout.instructions, bigint) set plan_cache_mode = force_generic_plan;

-- Down Migration
alter function tieout.seen_at(tieout.instructions, bigint) reset plan_cache_mode;
alter function tieout.seen_of(tieout.instructions) reset plan_cache_mode;
