-- Up Migration
-- What came first is told by a count that never goes back, not by clocks, which are set: looks are
-- counted as they begin, and whatever has to come before or after a look notes how far that count
-- had come. The number of a look bears the same count behind its month.

create function tieout.looks_drawn() returns bigint language sql volatile as $$
  select last_value from tieout.pulls_pull_id_seq
$$;

create function tieout.drawn_as(pull_id bigint) returns bigint
language sql immutable parallel safe as $$
  select pull_id % 100000000
$$;

-- Whether the time of a look can be believed: it does not lie ahead, and no later look bears a
-- clearly earlier one, which would say that the clock was set back since.
create function tieout.is_in_time(look bigint, as_of timestamptz) returns boolean
language sql volatile as $$
  select as_of <= clock_timestamp() and not exists (
    select from tieout.pulls later
    where later.pull_id > look and later.as_of < $2 - interval '1 second')
$$;

-- As it was claimed; null: by an earlier release.
alter table tieout.attempts add column looks_before bigint;
-- As it was decided to send it a second time.
alter table tieout.instructions add column again_after_look bigint;
-- As it began and, once it has ended, as it ended.
alter table tieout.gateway_calls add column looks_before bigint;
create index gateway_calls_by_look on tieout.gateway_calls (looks_before);
create index gateway_calls_open on tieout.gateway_calls (at) where outcome is null;

-- Down Migration
drop index tieout.gateway_calls_by_look, tieout.gateway_calls_open;
alter table tieout.gateway_calls drop column looks_before;
alter table tieout.instructions drop column again_after_look;
alter table tieout.attempts drop column looks_before;
drop function tieout.is_in_time(bigint, timestamptz), tieout.drawn_as(bigint),
  tieout.looks_drawn();
