-- Up Migration
-- The calendar of business dates: date D ends at the cut-off on D+1 in its zone. A time that the
-- zone skips is as much later as was skipped; of one that it repeats the second counts. A date that
-- a zone left out altogether ends when the one before it does: there is no such business date.
create function tieout.day_end(day date, zone text, cut_off time) returns timestamptz
language sql immutable parallel safe as $$
  select (day + 1 + cut_off) at time zone zone
$$;

create function tieout.is_business_date(day date, zone text, cut_off time) returns boolean
language sql immutable parallel safe as $$
  select (day + 1 + cut_off) at time zone zone > (day + cut_off) at time zone zone
$$;

-- The last business date that has ended at a time: that of the local time less the cut-off, or the
-- one before where the cut-off itself was moved or the date left out.
create function tieout.last_ended_date(at timestamptz, zone text, cut_off time) returns date
language sql immutable parallel safe as $$
  select case
    when tieout.day_end(((at at time zone zone) - cut_off)::date - 1, zone, cut_off) <= at
      and tieout.is_business_date(((at at time zone zone) - cut_off)::date - 1, zone, cut_off)
    then ((at at time zone zone) - cut_off)::date - 1
    else ((at at time zone zone) - cut_off)::date - 2 end
$$;

-- Until when the night that a tick of the clock began is resumed: the next such time after it.
create function tieout.resume_end(tick timestamp, zone text, resume_until time)
returns timestamptz language sql immutable parallel safe as $$
  select (tick::date + (tick::time >= resume_until)::int + resume_until) at time zone zone
$$;

-- Whether its looks wait for a gateway that goes away: those of a night that a clock began. Whoever
-- typed the command is told within seconds.
alter table tieout.runs add column waits_for_gateway boolean not null default false;

-- Down Migration
alter table tieout.runs drop column waits_for_gateway;
drop function tieout.resume_end(timestamp, text, time),
  tieout.last_ended_date(timestamptz, text, time), tieout.is_business_date(date, text, time),
  tieout.day_end(date, text, time);
