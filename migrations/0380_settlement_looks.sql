-- Up Migration
-- Up to which line of the acquirer an account was looked at: what is newer has no movement yet, and
-- only what found none waits by name. Before, each line was written down as waiting and struck out
-- again, mostly in the same minute. An import that is under way ends first: its lines would wait by
-- name and be new as well.
lock table tieout.settlement_lines in access exclusive mode;
create table tieout.settlement_looks (
  account_id text collate "C" primary key,
  settlement_line_id bigint not null
);
insert into tieout.settlement_looks
select account_id, (select max(settlement_line_id) from tieout.settlement_lines)
from (select distinct account_id from tieout.settlement_lines) known;

drop trigger await_movements on tieout.settlement_lines;
drop function tieout.await_movements();

-- The lines that settle a movement, found as they were matched: by reference, transaction or order.
-- An index of the matches by movement would say it too, and cost more than all else that a match
-- writes.
create index settlement_lines_by_reference on tieout.settlement_lines (account_id, reference)
  where reference is not null;
drop index tieout.settlement_matches_by_movement;
create function tieout.lines_of_movement(of_movement bigint) returns setof bigint
language sql stable rows 1 as $$
  select named.settlement_line_id
  from tieout.movements m
  cross join lateral (
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = m.account_id and l.reference = m.reference
    union
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = m.account_id and l.transaction_id = m.transaction_id
    union
    select l.settlement_line_id from tieout.settlement_lines l
    where l.account_id = m.account_id and l.order_no = m.order_no
  ) named
  -- The offset keeps this a look into the index: joined, all matches would be read.
  cross join lateral (
    select movement_id from tieout.settlement_matches
    where settlement_line_id = named.settlement_line_id offset 0
  ) t
  where m.movement_id = of_movement and t.movement_id = of_movement
$$;

-- Few: movements with a line that is not plainly what it settles, and those of which more became
-- known. An array, which the planner takes for few: of a table that was just written it would think
-- that half of it differs, and read all movements.
create function tieout.movements_told_of() returns bigint[] language sql stable as $$
  select array(
    select movement_id from tieout.settlement_matches where differs
    union select movement_id from tieout.movement_amounts)
$$;

-- Down Migration
drop function tieout.movements_told_of();
drop function tieout.lines_of_movement(bigint);
drop index tieout.settlement_lines_by_reference;
create index settlement_matches_by_movement on tieout.settlement_matches (movement_id);
create function tieout.await_movements() returns trigger language plpgsql as $$
begin
  insert into tieout.settlement_unmatched
  select settlement_line_id from added where type in ('captured', 'refunded');
  return null;
end $$;
create trigger await_movements after insert on tieout.settlement_lines
  referencing new table as added for each statement execute function tieout.await_movements();
insert into tieout.settlement_unmatched
select l.settlement_line_id from tieout.settlement_lines l
left join tieout.settlement_looks k using (account_id)
where l.settlement_line_id > coalesce(k.settlement_line_id, 0)
  and l.type in ('captured', 'refunded');
drop table tieout.settlement_looks;
