-- Matches lines of captures and refunds to movements: by the reference, else the transaction, else
-- the order. Of several that a line may mean, the one of its exact amount; equal movements get as
-- many of the equal lines, one each; anything else waits, and is never guessed. A movement in
-- suspense gets its amount from its line; one in another currency differs. What waits is told
-- meanwhile of the movement that it seems to be of (told_of). $1 accounts, $2 the date up to which
-- each was seen whole, $3 cut-off, $4 timezone.
with account as (
  select * from unnest($1::text[], $2::date[]) as a (account_id, seen_until)
),
newest_look as (
  select distinct on (r.account_id) r.account_id, r.pull_id
  from tieout.run_accounts r join account a on a.account_id = r.account_id
  where r.pull_id is not null
  order by r.account_id, r.business_date desc
),
line as materialized (
  select u.settlement_line_id, u.told_of, l.*
  from tieout.settlement_unmatched u
  cross join lateral (
    select account_id, type, amount, currency, reference, transaction_id, l.order_no, booked_at
    from tieout.settlement_lines l where l.settlement_line_id = u.settlement_line_id offset 0
  ) l
  where account_id = any ($1)
),
-- Each goes on with its line, which is looked up no more.
candidate as materialized (
  select l.*, 1 as way, l.reference as key, m.movement_id
  from line l
  join tieout.movements m on m.account_id = l.account_id and m.reference = l.reference
    and m.kind = l.type
  union all
  select l.*, 2, l.transaction_id, m.movement_id
  from line l
  join tieout.movements m on m.account_id = l.account_id
    and m.transaction_id = l.transaction_id and m.kind = l.type
  union all
  select l.*, 3, l.order_no, m.movement_id
  from line l
  join tieout.movements m on m.account_id = l.account_id and m.order_no = l.order_no
    and m.kind = l.type
),
worth as materialized (
  select c.*, m.order_no as of_order, m.amount as worth, m.currency as in_currency, m.is_history,
    c.type = 'refunded' and coalesce(c.reference <> m.reference, false) as is_named_otherwise,
    min(c.way) over (partition by c.settlement_line_id) as best_way
  from candidate c
  join tieout.movements_now m using (movement_id)
  -- what was shown by mistake is nobody's
  where m.amount is distinct from 0
),
best as materialized (
  select settlement_line_id, account_id, type, amount, currency, way, key, movement_id, told_of,
    of_order, booked_at, worth, in_currency, is_history, is_named_otherwise,
    worth is null and in_currency = currency as is_suspense,
    coalesce(worth = abs(amount) and in_currency = currency, false) as is_exact,
    count(*) over (partition by settlement_line_id) as candidates,
    not exists (
      select from tieout.settlement_awaited a where a.movement_id = w.movement_id) as is_taken
  from worth w
  where way = best_way
),
alone as (
  select *, case when not is_taken then worth when type = 'refunded' then worth - (
      select sum(abs(l.amount))
      from tieout.lines_of_movement(b.movement_id) s (settlement_line_id)
      join tieout.settlement_lines l using (settlement_line_id)
      having bool_and(l.currency = b.in_currency)) end as left_over,
    -- whether a look after the line came to its order, and would have shown another refund
    type <> 'refunded' or coalesce(tieout.business_date_of(booked_at, $3::time, $4) <= (
      select seen_until from account a where a.account_id = b.account_id), false)
      and not exists (
        select from newest_look n
        join tieout.asked_orders q using (pull_id, account_id)
        left join tieout.pages g using (pull_id, account_id, page_no)
        where n.account_id = b.account_id and q.order_no = b.of_order
          and g.state is distinct from 'answered') as is_seen,
    row_number() over (
      partition by movement_id order by is_exact desc, way, settlement_line_id) as nth,
    count(*) over (partition by movement_id) as claims,
    count(*) filter (where way = 1) over (partition by movement_id) as named,
    sum(abs(amount)) over (partition by movement_id) as claimed,
    bool_and(currency = in_currency) over (partition by movement_id) as is_own_currency
  from best b
  where candidates = 1
),
-- Equal ones, by whatever each line names them.
equal as (
  select settlement_line_id, movement_id, way, is_exact, is_suspense, first, last, several,
    is_of_one,
    -- of more lines than refunds those that say less are left over, as of a refund alone
    dense_rank() over (
      partition by first, last, several order by way, settlement_line_id) as line_nth,
    dense_rank() over (partition by first, last, several order by movement_id) as movement_nth,
    dense_rank() over (of_order order by movement_id) as equal_nth,
    min(movement_id) over of_order as equals
  from (
    select *, min(movement_id) over of_line as first, max(movement_id) over of_line as last,
      count(*) over of_line as several,
      min(of_order) over of_line = max(of_order) over of_line as is_of_one
    from best where candidates > 1 and is_exact and not is_taken
    window of_line as (partition by settlement_line_id)
  ) which
  window of_order as (partition by account_id, of_order, type, currency, amount)
),
counted as (
  select *, max(line_nth) over same as lines, max(movement_nth) over same as movements,
    -- one that may mean each of its order
    bool_and(is_of_one) over of_order and several = max(equal_nth) over of_order as is_wide
  from equal
  window same as (partition by first, last, several), of_order as (partition by equals)
),
narrow as (
  select * from counted where not is_wide and line_nth = movement_nth
),
-- What the lines that name less leave over, and so many others: each has its line.
wide as (
  select c.*
  from counted c
  join (
    select equals, movement_id, row_number() over (partition by equals order by movement_id) as nth,
      count(*) over (partition by equals) as left_over
    from (select distinct equals, movement_id from counted where is_wide) of_wide
    where movement_id not in (select movement_id from narrow)
  ) l using (equals, movement_id)
  where c.is_wide and c.line_nth = l.nth and c.lines >= l.left_over
),
paired as (
  select settlement_line_id, movement_id, way, is_exact, is_suspense from wide
  union all
  select settlement_line_id, movement_id, way, is_exact, is_suspense from narrow
  where lines >= movements or equals in (select equals from wide)
),
unknown as (
  select settlement_line_id, movement_id, way, is_exact, is_suspense
  from (
    select *, count(*) over (partition by settlement_line_id) as choices,
      count(*) over (partition by movement_id) as claims
    from best b
    where candidates > 1 and not is_taken and is_suspense and not exists (
      select from best e
      where e.settlement_line_id = b.settlement_line_id and e.is_exact and not e.is_taken)
  ) choice
  where choices = 1 and claims = 1
),
chosen as (
  select settlement_line_id, movement_id, way, is_exact, is_suspense,
    (is_taken or nth > 1 or not (is_exact or is_suspense)) as differs
  from alone
  -- A capture has all of its lines, a refund those that name it or make it up to the cent. One more
  -- line of its amount may be that of an equal refund which no look has shown yet: it waits. So may
  -- one of another amount, or one that bears another name: it takes this one only where no better
  -- line does, and a look after it showed no other. One of an unknown amount gets that of the line
  -- which names it, else of the only line that may mean it.
  where type = 'captured' or is_exact and (way = 1 or is_history and is_seen)
    or coalesce(claimed = left_over and is_own_currency and (claims > 1 or is_taken), false)
    or nth = 1 and case
      when is_exact and is_taken then coalesce(left_over > 0, false)
      when is_exact then not is_named_otherwise or is_seen
      when is_suspense then not is_taken and (claims = 1 or way = 1 and named = 1)
      else not is_taken and (way = 1 or is_seen) end
  union all
  select settlement_line_id, movement_id, way, is_exact, is_suspense, false
  from (
    select settlement_line_id, movement_id, way, is_exact, is_suspense,
      count(*) over (partition by movement_id) as claims
    from (
      select * from paired
      union all
      select * from unknown
    ) several
  ) claimed
  where claims = 1 and movement_id not in (select movement_id from alone)
),
-- What waits says again what is settled, or seems to be of a refund that has no other line.
told as (
  select settlement_line_id, told_of,
    min(movement_id) filter (where is_exact and not is_history) as movement_id
  from best group by settlement_line_id, told_of having bool_and(is_taken)
  union all
  select settlement_line_id, told_of, movement_id from alone
  where nth = 1 and not is_taken and not is_suspense
),
matched as (
  insert into tieout.settlement_matches (settlement_line_id, movement_id, by, differs)
  select settlement_line_id, movement_id, (array['reference', 'transaction', 'order'])[way], differs
  from chosen
  returning settlement_line_id, movement_id
),
known as (
  insert into tieout.movement_amounts (movement_id, amount, known_by, business_date)
  select distinct on (c.movement_id) c.movement_id, abs(l.amount), 'settlement',
    greatest((select max(a.business_date) from tieout.run_accounts a
      where a.account_id = l.account_id), tieout.closed_until(l.account_id) + 1)
  from chosen c
  join tieout.settlement_lines l using (settlement_line_id)
  join tieout.movements m using (movement_id)
  where c.is_suspense and m.currency = l.currency
  order by c.movement_id, c.settlement_line_id
),
found as (
  delete from tieout.settlement_unmatched u using matched
  where u.settlement_line_id = matched.settlement_line_id
),
meanwhile as (
  update tieout.settlement_unmatched u set told_of = t.movement_id
  from (
    select settlement_line_id, told_of, movement_id from told
    union all
    select settlement_line_id, told_of, null from line
    where told_of is not null and settlement_line_id not in (select settlement_line_id from told)
  ) t
  where u.settlement_line_id = t.settlement_line_id and t.told_of is distinct from t.movement_id
    and u.settlement_line_id not in (select settlement_line_id from chosen)
)
delete from tieout.settlement_awaited a using matched
where a.movement_id = matched.movement_id
