-- Up Migration Which line of the acquirer settles which movement, and what still waits for its
-- other half. A match stays: what is matched is not looked at again, so that a night costs what it
-- brings.
create table tieout.settlement_matches (
  settlement_line_id bigint primary key,
  movement_id bigint not null,
  -- by what they found each other
  by text not null check (by in ('reference', 'transaction', 'order')),
  -- another amount or currency, or not the first line of this movement: looked at each time
  differs boolean not null,
  matched_at timestamptz not null default clock_timestamp()
);
create index settlement_matches_by_movement on tieout.settlement_matches (movement_id);
create index settlement_matches_differing on tieout.settlement_matches (movement_id) where differs;
create trigger guard_settlement before update or delete on tieout.settlement_matches
  for each statement execute function tieout.guard_settlement();

-- Lines of captures and refunds without their movement.
create table tieout.settlement_unmatched (settlement_line_id bigint primary key);
-- Movements without a line.
create table tieout.settlement_awaited (movement_id bigint primary key);

create function tieout.await_movements() returns trigger language plpgsql as $$
begin
  insert into tieout.settlement_unmatched
  select settlement_line_id from added where type in ('captured', 'refunded');
  return null;
end $$;
create trigger await_movements after insert on tieout.settlement_lines
  referencing new table as added for each statement execute function tieout.await_movements();

create function tieout.await_settlement() returns trigger language plpgsql as $$
begin
  insert into tieout.settlement_awaited select movement_id from added;
  return null;
end $$;
create trigger await_settlement after insert on tieout.movements
  referencing new table as added for each statement execute function tieout.await_settlement();

insert into tieout.settlement_unmatched
select settlement_line_id from tieout.settlement_lines where type in ('captured', 'refunded');
insert into tieout.settlement_awaited select movement_id from tieout.movements;

create index movements_by_reference on tieout.movements (account_id, reference)
  where reference is not null;

-- The business date on which a business day that ends at the cut-off holds an instant.
create function tieout.business_date_of(at timestamptz, cut_off time, timezone text) returns date
language sql stable as $$
  select ((at at time zone timezone) - cut_off::interval)::date
$$;

-- What was agreed for a line: percent of its gross and a fixed part in the currency that is
-- settled, to the decimals of that currency, half away from zero.
create function tieout.agreed_fee(gross numeric, currency text, parts_per_million numeric,
  fixed jsonb, coarse jsonb) returns numeric
language sql immutable parallel safe as $$
  select round(
    abs(gross) * parts_per_million / 1000000 + coalesce((fixed ->> currency)::numeric, 0),
    coalesce((coarse ->> currency)::int, 2))::numeric(40, 2)
$$;

-- Down Migration
drop function tieout.agreed_fee(numeric, text, numeric, jsonb, jsonb);
drop function tieout.business_date_of(timestamptz, time, text);
drop index tieout.movements_by_reference;
drop trigger await_settlement on tieout.movements;
drop function tieout.await_settlement();
drop trigger await_movements on tieout.settlement_lines;
drop function tieout.await_movements();
drop table tieout.settlement_awaited;
drop table tieout.settlement_unmatched;
drop table tieout.settlement_matches;
