-- Up Migration
-- A decision over thousands fires this for each of its rows, and the first of them seals all. Asked
-- by a statement that is planned once a session, the others cost a hundredth of what one does that
-- is put together for each row.
create or replace function tieout.seal_decision() returns trigger language plpgsql as $$
declare
  account text;
begin
  case tg_table_name
  when 'break_events' then
    select b.account_id into account
    from tieout.break_events e join tieout.breaks b using (break_id)
    where e.event_id = new.event_id and e.link_id is null;
  when 'decisions' then
    select d.account_id into account from tieout.decisions d
    where d.decision_id = new.decision_id and d.link_id is null;
  else
    execute format('select %s from tieout.%I where %I = $1 and link_id is null',
      tg_argv[1], tg_table_name, tg_argv[0])
      using (to_jsonb(new) ->> tg_argv[0])::bigint into account;
  end case;
  -- one that was decided with it may have sealed it
  if account is not null then
    perform tieout.seal(account, (clock_timestamp() at time zone 'UTC')::date, false);
  end if;
  return null;
end $$;

-- Down Migration
create or replace function tieout.seal_decision() returns trigger language plpgsql as $$
declare
  account text;
begin
  execute format('select %s from tieout.%I where %I = $1 and link_id is null',
    tg_argv[1], tg_table_name, tg_argv[0])
    using (to_jsonb(new) ->> tg_argv[0])::bigint into account;
  -- one that was decided with it may have sealed it
  if account is not null then
    perform tieout.seal(account, (clock_timestamp() at time zone 'UTC')::date, false);
  end if;
  return null;
end $$;
