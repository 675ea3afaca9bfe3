-- Which orders of a pull plainly match? Nearly all: one whole entry that is equal in all that
-- counts, and a pair of states that matches. All others are kept in pg_temp.unmatched
-- (fastMatchStore.ts), ledger row and entry side by side: compare.sql judges them. Each account has
-- a row there with the number of its orders that match. They are counted where they are found and
-- never by subtraction, and where no other order is left, that row names none. $1 pull, $2 null or
-- a later pull: only its orders whose page failed there, $3 pairs that match while nothing was
-- asked to be refunded (core/orders/verdict.ts), $4 whether equal states always do, $5 time of the
-- snapshot, $6 age of a stale authorisation, $7 whether every page was answered, $8 accounts.
-- Two indexes are walked in their common order, and an entry joins only where all is equal: what
-- joins is counted, what does not is gathered, and no row is kept. A usable ledger row has an
-- amount above zero and a currency, so that an entry equal to it has them too. With one account
-- the walk compares order numbers alone: the planner sees that before it plans.
-- What is looked up by key is written `= any (array[...])`, which no other kind of join takes, so
-- that all others can be ruled out for the walk.
insert into pg_temp.unmatched
select walk.account_id,
  case when aside.order_no is not distinct from walk.unsettled[1] then walk.matched end as matched,
  aside.*
from (
  select a.account_id, count(e.order_no) as matched,
    array_agg(a.order_no) filter (where e.order_no is null) as unsettled
  from :asked_orders a
  left join :look_entries e
    on e.pull_id = $1 and e.account_id = a.account_id and e.order_no = a.order_no
      and (cardinality($8::text[]) = 1 and e.account_id = ($8::text[])[1]
        or cardinality($8::text[]) > 1 and e.account_id = any ($8)) and not e.is_extra
      and e.found and e.transaction_id <> '' and e.payment_status is not null
      -- Orders of which one entry beside one ledger row does not tell all. By number alone: the
      -- order of that number in another account is judged as well, which costs little and changes
      -- nothing. One dead attempt beside one live entry is no difference, whatever else it says.
      and e.order_no not in (
        select x.order_no
        from :look_entries x
        left join :look_entries plain
          on plain.pull_id = $1 and plain.account_id = any (array[x.account_id])
            and plain.order_no = any (array[x.order_no]) and not plain.is_extra
        where x.pull_id = $1 and x.is_extra
          and (cardinality($8::text[]) = 1 and x.account_id = ($8::text[])[1]
            or cardinality($8::text[]) > 1 and x.account_id = any ($8))
        group by x.account_id, x.order_no
        having count(*) > 1 or not bool_and(coalesce(
          x.state in ('cancelled', 'declined') and plain.state not in ('cancelled', 'declined')
          and x.found and x.payment_status is not null
          and x.transaction_id <> '' and x.transaction_id <> plain.transaction_id, false))
        union all
        select order_no from :asked_refunds where pull_id = $1 and account_id = any ($8)
        union all
        select order_no from :instructions
        where is_open and state = 'unknown' and order_no is not null
        union all
        -- the gateway may show the whole where we captured a part
        select part.order_no from :instructions part
        where part.is_part and part.account_id = any ($8) and exists (
          select from :asked_orders live
          where live.pull_id = $1 and live.account_id = any (array[part.account_id])
            and live.order_no = any (array[part.order_no]))
      )
      and (a.capture_amount is null or a.capture_amount = a.amount)
      and a.in_ledger and a.ledger_problem is null
      and e.amount = a.amount and e.currency = a.currency
      and (a.transaction_id is null or a.transaction_id = e.transaction_id)
      and ($4::boolean and a.expected = e.state
        or (a.expected, e.state) in (
          select expected, observed
          from jsonb_to_recordset($3::jsonb) as pair (expected text, observed text)))
      and (e.state <> 'authorised'
        or $5::timestamptz - coalesce(e.transaction_at, a.placed_at) <= $6::interval)
      and ($7::boolean and a.page_no is not null or (a.account_id, a.page_no) in (
        select account_id, page_no from :pages where pull_id = $1 and state = 'answered'))
  where a.pull_id = $1::bigint
    and (cardinality($8::text[]) = 1 and a.account_id = ($8::text[])[1]
      or cardinality($8::text[]) > 1 and a.account_id = any ($8))
    and ($2::bigint is null or exists (
      select from :asked_orders later
      left join :pages page using (pull_id, account_id, page_no)
      where later.pull_id = $2 and later.account_id = a.account_id
        and later.order_no = a.order_no and page.state is distinct from 'answered'))
  group by a.account_id
) as walk
-- What is left is looked up one by one, with its entry: servers before 18 would join two lists that
-- they take for unordered, each row with each.
left join lateral (
  select a.order_no, a.page_no, a.in_ledger, a.currency as ledger_currency,
    a.amount as ledger_amount, a.expected, a.transaction_id as named, a.capture_amount,
    a.review_decision, a.placed_at, a.ledger_problem,
    coalesce($7 and a.page_no is not null or (a.account_id, a.page_no) in (
      select account_id, page_no from :pages
      where pull_id = $1 and state = 'answered'), false) as is_answered,
    e.order_no is not null as has_entry, e.transaction_id, e.currency, e.amount, e.amount_text,
    e.state, e.payment_status, e.found as is_found, e.query_result, e.transaction_at,
    e.transaction_date
  from unnest(walk.unsettled) as left_over (order_no)
  join :asked_orders a
    on a.pull_id = $1 and a.account_id = any (array[walk.account_id])
      and a.order_no = any (array[left_over.order_no])
  left join :look_entries e
    on e.pull_id = $1 and e.account_id = any (array[a.account_id])
      and e.order_no = any (array[a.order_no]) and not e.is_extra
) as aside on true
