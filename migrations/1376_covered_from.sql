-- Up Migration
-- From when on a run covers what was placed or done: the beginning of the first of its dates, by
-- the schedule of that run.
create function tieout.covered_from(starts_at timestamptz, covers date[], schedule jsonb)
returns timestamptz
language sql stable parallel safe as $$
  select least(starts_at, (covers[1] + (schedule ->> 'cutOff')::time)
    at time zone (schedule ->> 'timezone'))
$$;

-- Down Migration
drop function tieout.covered_from;
