-- Which orders of a pull match at a glance? Nearly all: one whole entry, equal in all that counts,
-- and a pair that matches. The others go to pg_temp.unsettled, for compare.sql to judge; the answer
-- counts the matched ones by account, where they are found and never by subtraction.
-- $1 pull, $2 null or a later pull: only its orders whose page failed there, $3 the table of
-- positions (core/verdict.ts), $4 time of the look, $5 age of a stale authorisation, $6 accounts.
-- One walk over two indexes in their common order; only what is small is looked up in hashes. Of a
-- matched order nothing but its account is kept.
with position_row as materialized (
  select * from jsonb_to_recordset($3::jsonb)
    as p (expected text, sight text, refunds text, verdict text)
),
-- Pairs that match as long as nothing was ever refunded, however old and whatever was decided.
plain_pair as materialized (
  select expected, sight from position_row group by expected, sight
  having bool_and(verdict = 'matched')
    or (sight = 'captured' and bool_and(verdict = 'matched') filter (where refunds = 'settled'))
),
-- Orders of which one entry beside one ledger row does not tell all.
special as materialized (
  select account_id, order_no from tieout.look_entries where pull_id = $1::bigint and is_extra
  union
  select account_id, order_no from tieout.asked_refunds
  where pull_id = $1 and account_id = any ($6::text[])
  union
  select account_id, order_no from tieout.instructions where is_open and state = 'unknown'
),
answered as materialized (
  select account_id, page_no from tieout.pages where pull_id = $1 and state = 'answered'
),
glance as (
  select a.account_id, case when (a.in_ledger and e.found
      and a.ledger_problem is null
      and e.transaction_id <> '' and e.payment_status is not null
      and coalesce(a.transaction_id = e.transaction_id, a.transaction_id is null)
      and e.amount = a.amount and e.amount > 0 and e.currency = a.currency and e.currency <> ''
      and (e.state <> 'authorised'
        or $4::timestamptz - coalesce(e.transaction_at, a.placed_at) <= $5::interval)
      and (a.account_id, a.page_no) in (select * from answered)
      and (a.expected, e.state) in (select * from plain_pair)
      and (a.account_id, a.order_no) not in (select * from special)) is not true
    then a.order_no end as order_no
  from tieout.asked_orders a
  left join tieout.look_entries e
    on e.pull_id = $1 and e.account_id = a.account_id and e.order_no = a.order_no
      and not e.is_extra
  where a.pull_id = $1 and ($2::bigint is null or exists (
    select from tieout.asked_orders later
    left join tieout.pages page using (pull_id, account_id, page_no)
    where later.pull_id = $2 and later.account_id = a.account_id
      and later.order_no = a.order_no and page.state is distinct from 'answered'))
  -- judged once a row, not once for each use of the answer
  offset 0
),
-- In one pass: what it finds is counted and gathered, never kept as rows. The walk is in the order
-- of the accounts.
found as materialized (
  select account_id, count(*) filter (where order_no is null) as matched,
    array_agg(order_no) filter (where order_no is not null) as unsettled
  from glance group by account_id
),
kept as (
  insert into pg_temp.unsettled (account_id, order_no)
  select account_id, unnest(unsettled) from found
)
select account_id, matched from found where matched > 0
