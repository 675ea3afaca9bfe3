-- Matches the plain ones, nearly all there are, at the cost of a join: lines and movements that
-- wait, of one transaction (or order, where the line names no transaction), kind, currency and
-- amount, each with no other that it may mean. What a reference names is left to matchLines.sql,
-- which would say the same of these. A line is looked at here when it is new, and as long as it
-- waits: what is left of the new ones waits from here on. $1 accounts, $2 the line up to which each
-- was looked at, $3 the least of these, $4 the newest line there is.
with account as (
  select * from unnest($1::text[], $2::bigint[]) as a (account_id, looked_at)
),
-- Read once for each key: that costs less than to keep what was read.
line as not materialized (
  select settlement_line_id, account_id, type, reference, transaction_id, order_no, currency,
    abs(amount) as amount, reference is not null and exists (
      select from tieout.movements r
      where r.account_id = l.account_id and r.reference = l.reference and r.kind = l.type
    ) as is_named, has_waited
  from (
    select l.*, false as has_waited
    from tieout.settlement_lines l
    join account a on a.account_id = l.account_id
    where l.settlement_line_id > $3 and l.settlement_line_id <= $4
      and l.settlement_line_id > a.looked_at and l.type in ('captured', 'refunded')
      and l.settlement_line_id not in (select settlement_line_id from tieout.settlement_unmatched)
    union all
    select l.*, true
    from tieout.settlement_unmatched u
    join tieout.settlement_lines l using (settlement_line_id)
    where l.account_id = any ($1)
  ) l
),
-- Every line, with each movement that it may mean or with none. Joined by one key, and all else
-- compared as a condition that no join is made by: by five keys the planner takes the pairs for a
-- few, and looks each movement up alone.
pair as (
  select l.settlement_line_id, l.has_waited,
    -- another name than the movement's own may be that of a refund which no look has shown yet
    l.is_named or l.type = 'refunded' and coalesce(l.reference <> m.reference, false) as is_named,
    false as is_by_order, m.movement_id
  from line l
  left join tieout.movements m on m.transaction_id = l.transaction_id and m.account_id = any ($1)
    and (m.account_id = l.account_id and m.kind = l.type
      and m.amount = l.amount and m.currency = l.currency) is true
  where l.transaction_id is not null
  union all
  select l.settlement_line_id, l.has_waited,
    l.is_named or l.type = 'refunded' and coalesce(l.reference <> m.reference, false), true,
    m.movement_id
  from line l
  left join tieout.movements m on m.order_no = l.order_no and m.account_id = any ($1)
    and (m.account_id = l.account_id and m.kind = l.type
      and m.amount = l.amount and m.currency = l.currency) is true
  where l.transaction_id is null
  union all
  -- what has its name is not another's
  select l.settlement_line_id, l.has_waited, true, false, m.movement_id
  from line l
  join tieout.movements m on m.account_id = l.account_id and m.reference = l.reference
    and m.kind = l.type
  where l.is_named
),
claimed as (
  select *, lag(movement_id) over same is distinct from movement_id
    and lead(movement_id) over same is distinct from movement_id as is_only_line
  from pair
  window same as (order by movement_id)
),
-- One row a line. Sorted by movement and then by line, each is told apart from its neighbours, and
-- what is awaited stands in the same order: hashes of as many rows cost more.
judged as materialized (
  select settlement_line_id, bool_or(has_waited) as has_waited,
    bool_or(is_by_order) as is_by_order, min(movement_id) as movement_id,
    min(awaited_at) as awaited_at,
    count(*) = 1 and bool_and(is_only_line and not is_named) and min(awaited_at) is not null
      -- of these more became known
      and min(movement_id) not in (select movement_id from tieout.movement_amounts) as is_sure
  from (
    select c.*, a.ctid as awaited_at
    from claimed c
    left join tieout.settlement_awaited a using (movement_id)
    order by settlement_line_id offset 0
  ) c
  group by settlement_line_id
),
-- A movement that has its line is awaited no more. Only who holds settlement writes here, so that
-- each is still where it was read.
taken as (
  delete from tieout.settlement_awaited
  where ctid = any (array(select awaited_at from judged where is_sure))
),
found as (
  delete from tieout.settlement_unmatched u using judged j
  where j.has_waited and j.is_sure and u.settlement_line_id = j.settlement_line_id
),
waiting as (
  insert into tieout.settlement_unmatched (settlement_line_id, order_no)
  select settlement_line_id, l.order_no
  from judged j
  -- Few: the offset keeps this a look into the key.
  cross join lateral (
    select order_no from tieout.settlement_lines
    where settlement_line_id = j.settlement_line_id offset 0
  ) l
  where not has_waited and not is_sure
)
insert into tieout.settlement_matches (settlement_line_id, movement_id, by, differs)
select settlement_line_id, movement_id, case when is_by_order then 'order' else 'transaction' end,
  false
from judged where is_sure order by settlement_line_id
