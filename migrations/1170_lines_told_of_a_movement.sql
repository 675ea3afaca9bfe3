-- Up Migration
-- One more line of a settled refund, or one of another amount, may be that of a refund which no
-- look has shown yet: it waits, and is told of the refund that was shown for as long. That one is
-- known here, so that breaks and figures need no search.
alter table tieout.settlement_unmatched add column told_of bigint;
create index settlement_unmatched_told on tieout.settlement_unmatched (told_of)
  where told_of is not null;

create or replace function tieout.movements_told_of() returns bigint[]
language sql stable as $$
  select array(
    select movement_id from tieout.settlement_matches where differs
    union select movement_id from tieout.movement_amounts
    union select told_of from tieout.settlement_unmatched where told_of is not null)
$$;

create or replace function tieout.lines_of_movement(of_movement bigint) returns setof bigint
language sql stable rows 1 as $$
  select settlement_line_id from tieout.settlement_matches
  where movement_id = of_movement and by <> 'transaction'
  union all
  select settlement_line_id from tieout.settlement_unmatched where told_of = of_movement
  union all
  select l.settlement_line_id
  from tieout.movements m
  join tieout.settlement_lines l on l.account_id = m.account_id
    and l.transaction_id = m.transaction_id
  -- The offset keeps this a look into the index: joined, all matches would be read.
  cross join lateral (
    select movement_id, by from tieout.settlement_matches
    where settlement_line_id = l.settlement_line_id offset 0
  ) t
  where m.movement_id = of_movement and t.movement_id = of_movement and t.by = 'transaction'
$$;

-- Down Migration
create or replace function tieout.movements_told_of() returns bigint[]
language sql stable as $$
  select array(
    select movement_id from tieout.settlement_matches where differs
    union select movement_id from tieout.movement_amounts)
$$;

create or replace function tieout.lines_of_movement(of_movement bigint) returns setof bigint
language sql stable rows 1 as $$
  select settlement_line_id from tieout.settlement_matches
  where movement_id = of_movement and by <> 'transaction'
  union all
  select l.settlement_line_id
  from tieout.movements m
  join tieout.settlement_lines l on l.account_id = m.account_id
    and l.transaction_id = m.transaction_id
  -- The offset keeps this a look into the index: joined, all matches would be read.
  cross join lateral (
    select movement_id, by from tieout.settlement_matches
    where settlement_line_id = l.settlement_line_id offset 0
  ) t
  where m.movement_id = of_movement and t.movement_id = of_movement and t.by = 'transaction'
$$;

alter table tieout.settlement_unmatched drop column told_of;
