-- Which orders of a pull match at a glance? Nearly all: one whole entry, equal in all that counts,
-- and a pair that matches. The others go to pg_temp.beside, ledger row and entry side by side, for
-- compare.sql to judge; the answer counts the matched ones by account, where they are found and
-- never by subtraction.
-- $1 pull, $2 null or a later pull: only its orders whose page failed there, $3 pairs that match
-- while nothing was asked to be refunded (core/verdict.ts), $4 whether equal states always do,
-- $5 time of the look, $6 age of a stale authorisation, $7 accounts.
-- For each account one walk over two indexes in their common order, and an entry joins only where
-- all is equal: what joins is counted, what does not is gathered, and no row is kept. What is small
-- is looked up in hashes, and not at all where it is empty. A usable ledger row has an amount above
-- zero and a currency, so that an entry equal to it has them too.
with pair as materialized (
  select expected, sight from jsonb_to_recordset($3::jsonb) as p (expected text, sight text)
),
-- Orders of which one entry beside one ledger row does not tell all. By number alone: the order of
-- that number in another account is judged as well, which costs little and changes nothing.
-- One dead attempt beside one live entry is no difference, whatever else it says.
special as materialized (
  select x.order_no
  from tieout.look_entries x
  left join lateral (
    select transaction_id, state from tieout.look_entries e
    where e.pull_id = $1 and e.account_id = x.account_id and e.order_no = x.order_no
      and not e.is_extra
    limit 1
  ) as plain on true
  where x.pull_id = $1::bigint and x.is_extra
  group by x.account_id, x.order_no
  having count(*) > 1 or not bool_and(coalesce(
    x.state in ('cancelled', 'declined') and plain.state not in ('cancelled', 'declined')
    and x.found and x.payment_status is not null
    and x.transaction_id <> '' and x.transaction_id <> plain.transaction_id, false))
  union
  select order_no from tieout.asked_refunds where pull_id = $1 and account_id = any ($7::text[])
  union
  select order_no from tieout.instructions where is_open and state = 'unknown'
),
answered as materialized (
  select account_id, page_no from tieout.pages where pull_id = $1 and state = 'answered'
),
-- Mostly every page up to the last was answered, and then no order needs to look for its own.
account as materialized (
  select given.account_id, max(p.page_no) as last_page,
    count(p.page_no) = max(p.page_no) + 1 as is_whole
  from unnest($7) as given (account_id)
  left join answered p on p.account_id = given.account_id
  group by given.account_id
),
found as materialized (
  select account.account_id, walk.matched, walk.unsettled
  from account
  cross join lateral (
    select count(e.order_no) as matched,
      array_agg(a.order_no) filter (where e.order_no is null) as unsettled
    from tieout.asked_orders a
    left join tieout.look_entries e
      on e.pull_id = $1 and e.account_id = account.account_id and e.order_no = a.order_no
        and not e.is_extra
        and e.found and e.transaction_id <> '' and e.payment_status is not null
        and e.order_no not in (select order_no from special)
        and a.in_ledger and a.ledger_problem is null
        and e.amount = a.amount and e.currency = a.currency
        and (a.transaction_id is null or a.transaction_id = e.transaction_id)
        and ($4::boolean and a.expected = e.state
          or (a.expected, e.state) in (select expected, sight from pair))
        and (e.state <> 'authorised'
          or $5::timestamptz - coalesce(e.transaction_at, a.placed_at) <= $6::interval)
        and (account.is_whole and a.page_no <= account.last_page
          or (a.account_id, a.page_no) in (select account_id, page_no from answered))
    where a.pull_id = $1 and a.account_id = account.account_id
      and ($2::bigint is null or exists (
        select from tieout.asked_orders later
        left join tieout.pages page using (pull_id, account_id, page_no)
        where later.pull_id = $2 and later.account_id = a.account_id
          and later.order_no = a.order_no and page.state is distinct from 'answered'))
  ) as walk
),
kept as (
  insert into pg_temp.beside (account_id, order_no, page_no, in_ledger, ledger_currency,
    ledger_amount, expected, named, capture_amount, review_decision, placed_at, ledger_problem,
    is_answered, has_entry, transaction_id, currency, amount, amount_text, state, payment_status,
    is_found, query_result, transaction_at, transaction_date)
  select a.account_id, a.order_no, a.page_no, a.in_ledger, a.currency, a.amount, a.expected,
    a.transaction_id, a.capture_amount, a.review_decision, a.placed_at, a.ledger_problem,
    coalesce((a.account_id, a.page_no) in (select account_id, page_no from answered), false),
    e.order_no is not null, e.transaction_id, e.currency, e.amount, e.amount_text, e.state,
    e.payment_status, e.found, e.query_result, e.transaction_at, e.transaction_date
  from found
  -- One walk along the index finds all of an account, not one search for each.
  join lateral (
    select * from tieout.asked_orders o
    where o.pull_id = $1 and o.account_id = found.account_id and o.order_no = any (found.unsettled)
  ) as a on true
  left join tieout.look_entries e
    on e.pull_id = $1 and e.account_id = a.account_id and e.order_no = a.order_no
      and not e.is_extra
)
select account_id, matched from found where matched > 0
