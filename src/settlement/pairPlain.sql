-- Matches the plain ones, nearly all there are, at the cost of a join: lines and movements that
-- wait, of one transaction (or order, where the line names no transaction), kind, currency and
-- amount, each with no other that it may mean. What a reference names is left to matchLines.sql,
-- which would say the same of these. A line is looked at here when it is new, and as long as it
-- waits: what is left of the new ones waits from here on. $1 accounts, $2 the line up to which each
-- was looked at, $3 the least of these, $4 the newest line there is.
with account as (
  select * from unnest($1::text[], $2::bigint[]) as a (account_id, looked_at)
),
line as materialized (
  select settlement_line_id, account_id, type, transaction_id,
    case when transaction_id is null then order_no end as order_no, currency,
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
-- Joined by one key, and all else compared after: by five the planner takes the pairs for a few,
-- and looks each movement up alone.
pair as materialized (
  select settlement_line_id, has_waited, movement_id, is_by_order
  from (
    select l.settlement_line_id, l.has_waited, m.movement_id, false as is_by_order,
      m.account_id = l.account_id and m.kind = l.type and m.amount = l.amount
        and m.currency = l.currency as is_same
    from line l
    join tieout.movements m on m.transaction_id = l.transaction_id
    where not l.is_named and m.account_id = any ($1)
    union all
    select l.settlement_line_id, l.has_waited, m.movement_id, true,
      m.account_id = l.account_id and m.kind = l.type and m.amount = l.amount
        and m.currency = l.currency
    from line l
    join tieout.movements m on m.order_no = l.order_no
    where not l.is_named and l.transaction_id is null and m.account_id = any ($1)
    offset 0
  ) p
  where is_same
    -- of these more became known
    and movement_id not in (select movement_id from tieout.movement_amounts)
),
sure as (
  select * from (
    select *, lag(movement_id) over same is distinct from movement_id
      and lead(movement_id) over same is distinct from movement_id as is_only_line
    from (
      select *, lag(settlement_line_id) over same is distinct from settlement_line_id
        and lead(settlement_line_id) over same is distinct from settlement_line_id
        as is_only_movement
      from pair
      window same as (order by settlement_line_id)
    ) p
    window same as (order by movement_id)
  ) p
  where is_only_line and is_only_movement
),
-- A movement that has its line is awaited no more.
taken as (
  delete from tieout.settlement_awaited a using sure s where a.movement_id = s.movement_id
  returning s.settlement_line_id, s.movement_id, s.is_by_order, s.has_waited
),
matched as (
  insert into tieout.settlement_matches (settlement_line_id, movement_id, by, differs)
  select settlement_line_id, movement_id, case when is_by_order then 'order' else 'transaction' end,
    false
  from taken order by settlement_line_id
),
found as (
  delete from tieout.settlement_unmatched u using taken t
  where t.has_waited and u.settlement_line_id = t.settlement_line_id
),
waiting as (
  insert into tieout.settlement_unmatched
  select settlement_line_id from line
  where not has_waited and settlement_line_id not in (select settlement_line_id from taken)
)
select count(*)::int as matched from taken
