-- Up Migration
-- Each key of lines costs an import as much as a third of reading the file. Nearly all lines are
-- captures that name a transaction, and are found by it: these have no key by order. Where such a
-- line settles a movement that its transaction does not name, its match leads from the one to the
-- other; where it waits for a movement, what waits has the order. A reference leads to a line by
-- its match alone.
drop index tieout.settlement_lines_by_reference;
drop index tieout.settlement_lines_by_order;
create index settlement_lines_by_order on tieout.settlement_lines (order_no, account_id)
  where order_no is not null and (transaction_id is null or type <> 'captured');
create index settlement_matches_without_transaction on tieout.settlement_matches (movement_id)
  where by <> 'transaction';

alter table tieout.settlement_unmatched add order_no text collate "C";
update tieout.settlement_unmatched u set order_no = l.order_no
from tieout.settlement_lines l where l.settlement_line_id = u.settlement_line_id;
create index settlement_unmatched_by_order on tieout.settlement_unmatched (order_no)
  where order_no is not null;

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

-- Down Migration
create or replace function tieout.lines_of_movement(of_movement bigint) returns setof bigint
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
drop index tieout.settlement_unmatched_by_order;
alter table tieout.settlement_unmatched drop order_no;
drop index tieout.settlement_matches_without_transaction;
drop index tieout.settlement_lines_by_order;
create index settlement_lines_by_order on tieout.settlement_lines (order_no, account_id)
  where order_no is not null;
create index settlement_lines_by_reference on tieout.settlement_lines (account_id, reference)
  where reference is not null;
