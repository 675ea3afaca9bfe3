-- Up Migration
-- What the limit of a waiver is held against has one home: the preview, the verdict and the guard
-- ask it. It is what the break opened with where that is more than what is shown at stake.
create function tieout.waiver_stake(kind text, currency text, amount numeric, expected jsonb,
  actual jsonb)
returns numeric language sql immutable as $function$
  select round(greatest(amount, tieout.break_money(kind, currency, expected, actual)), 2)
$function$;

create or replace function tieout.guard_break() returns trigger language plpgsql as $function$
declare
  stake numeric;
begin
  if old.state = 'waived' then
    new.waiver_asked_by := null;
    new.waiver_asked_reason := null;
    new.waiver_asked_for := null;
    new.waived_by := null;
    new.waived_reason := null;
    new.waived_limit := null;
    return new;
  elsif new.state <> 'waived' then
    return new;
  end if;
  if old.state <> 'open' then
    raise exception 'break %: only an open break is waived', old.break_id
      using errcode = 'check_violation';
  end if;
  if coalesce(btrim(new.waived_by), '') = '' or coalesce(btrim(new.waived_reason), '') = ''
    or new.waived_limit is null then
    raise exception 'break %: a waiver names who, why and the limit in force', old.break_id
      using errcode = 'check_violation';
  end if;
  stake := tieout.waiver_stake(new.kind, new.currency, new.amount, new.expected, new.actual);
  if (stake is null or stake > new.waived_limit)
    and (old.waiver_asked_by is null or old.waiver_asked_for is distinct from new.fingerprint
      or lower(btrim(old.waiver_asked_by)) = lower(btrim(new.waived_by))) then
    raise exception 'break %: a waiver of this size needs a second person', old.break_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

-- Down Migration
create or replace function tieout.guard_break() returns trigger language plpgsql as $function$
declare
  stake numeric;
begin
  if old.state = 'waived' then
    new.waiver_asked_by := null;
    new.waiver_asked_reason := null;
    new.waiver_asked_for := null;
    new.waived_by := null;
    new.waived_reason := null;
    new.waived_limit := null;
    return new;
  elsif new.state <> 'waived' then
    return new;
  end if;
  if old.state <> 'open' then
    raise exception 'break %: only an open break is waived', old.break_id
      using errcode = 'check_violation';
  end if;
  if coalesce(btrim(new.waived_by), '') = '' or coalesce(btrim(new.waived_reason), '') = ''
    or new.waived_limit is null then
    raise exception 'break %: a waiver names who, why and the limit in force', old.break_id
      using errcode = 'check_violation';
  end if;
  stake := greatest(new.amount, tieout.break_money(new.kind, new.currency, new.expected,
    new.actual));
  if (stake is null or stake > new.waived_limit)
    and (old.waiver_asked_by is null or old.waiver_asked_for is distinct from new.fingerprint
      or lower(btrim(old.waiver_asked_by)) = lower(btrim(new.waived_by))) then
    raise exception 'break %: a waiver of this size needs a second person', old.break_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

drop function tieout.waiver_stake(text, text, numeric, jsonb, jsonb);
