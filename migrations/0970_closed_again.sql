-- Up Migration
-- A closed day whose workbook has other figures by now is closed again, on them, before it is
-- reviewed, also where days after it are closed: it stays closed, and nothing moves.
create or replace function tieout.guard_day() returns trigger language plpgsql as $$
declare
  state text := tieout.day_state(new.account_id, new.business_date);
  closed date := tieout.closed_until(new.account_id);
  problem text;
begin
  problem := case
    when new.event = 'closed' and state = 'locked' then 'is ' || state || ' already'
    when new.event = 'closed' and state = 'open' and new.business_date < closed
      then 'lies before a closed day'
    when new.event = 'locked' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and new.business_date < closed
      then 'is followed by a closed day, ' || closed
  end;
  if problem is not null then
    raise exception 'day % of account % %', new.business_date, new.account_id, problem
      using errcode = 'check_violation';
  end if;
  return new;
end $$;

-- Down Migration
create or replace function tieout.guard_day() returns trigger language plpgsql as $$
declare
  state text := tieout.day_state(new.account_id, new.business_date);
  closed date := tieout.closed_until(new.account_id);
  problem text;
begin
  problem := case
    when new.event = 'closed' and state <> 'open' then 'is ' || state || ' already'
    when new.event = 'closed' and new.business_date < closed then 'lies before a closed day'
    when new.event = 'locked' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and new.business_date < closed
      then 'is followed by a closed day, ' || closed
  end;
  if problem is not null then
    raise exception 'day % of account % %', new.business_date, new.account_id, problem
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
