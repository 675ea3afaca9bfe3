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
pair as materialized (
  select * from (
    select l.settlement_line_id, l.has_waited, m.movement_id, 'transaction' as by
    from line l
    join tieout.movements m on m.account_id = l.account_id
      and m.transaction_id = l.transaction_id and m.kind = l.type and m.amount = l.amount
      and m.currency = l.currency
    where not l.is_named
    union all
    select l.settlement_line_id, l.has_waited, m.movement_id, 'order'
    from line l
    join tieout.movements m on m.account_id = l.account_id and m.order_no = l.order_no
      and m.kind = l.type and m.amount = l.amount and m.currency = l.currency
    where not l.is_named and l.transaction_id is null
  ) p
  -- of these more became known
  where not exists (select from tieout.movement_amounts a where a.movement_id = p.movement_id)
),
sure as (
  select * from pair
  where settlement_line_id not in (
      select settlement_line_id from pair group by settlement_line_id having count(*) > 1)
    and movement_id not in (
      select movement_id from pair group by movement_id having count(*) > 1)
  -- so that one is found beside the other
  order by movement_id
),
-- A movement that has its line is awaited no more.
taken as (
  delete from tieout.settlement_awaited a using sure s where a.movement_id = s.movement_id
  returning s.settlement_line_id, s.movement_id, s.by, s.has_waited
),
matched as (
  insert into tieout.settlement_matches (settlement_line_id, movement_id, by, differs)
  select settlement_line_id, movement_id, by, false from taken order by settlement_line_id
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
