-- Up Migration
-- The same as before, as one expression: PostgreSQL then works it out in place, without a call for
-- each break.
create or replace function tieout.break_stake(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select case when kind = 'amount_mismatch'
    then abs(
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end
      - case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end)
    else greatest(
      case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end,
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end)
  end
$$;

-- Down Migration
create or replace function tieout.break_stake(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select case when kind = 'amount_mismatch' then abs(shown - wanted)
    else greatest(wanted, shown) end
  from (select
    case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
      then (expected ->> 'amount')::numeric end as wanted,
    case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
      then (actual ->> 'amount')::numeric end as shown) as side
$$;
