-- Up Migration
-- How a night went for one account. One that an earlier try began with and left keeps `running`
-- until a try that works on it comes to its end: a night that has ended is incomplete for it.
create function tieout.state_in_night(of_run text, of_account text) returns text
language sql immutable parallel safe as $$
  select case
    when of_account <> 'running' then of_account
    when of_run in ('running', 'failed') then of_run
    else 'incomplete' end
$$;

-- Down Migration
drop function tieout.state_in_night;
