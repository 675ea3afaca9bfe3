-- Orders of a page that was answered leave it for one of their own, which failed. $1 pull,
-- $2 account, $3 page, $4 the page of their own, $5 these orders, or null: all of the page that
-- have no entry, $6 why. Rows of a snapshot are never changed, so that they are entered anew.
with gone as (
  delete from tieout.asked_orders a
  where a.pull_id = $1::bigint and a.account_id = $2::text and a.page_no = $3::int
    and case when $5::text[] is not null then a.order_no = any ($5)
      -- each half has an index of its own; without it all entries would be read
      else not exists (
        select from tieout.look_entries e where e.pull_id = $1 and e.account_id = $2
          and e.order_no = a.order_no and not e.is_extra)
      and not exists (
        select from tieout.look_entries e where e.pull_id = $1 and e.account_id = $2
          and e.order_no = a.order_no and e.is_extra) end
  returning *
),
kept as (
  insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
    amount, expected, transaction_id, capture_amount, review_decision, placed_at, ledger_problem)
  select pull_id, account_id, order_no, $4::int, in_ledger, currency, amount, expected,
    transaction_id, capture_amount, review_decision, placed_at, ledger_problem
  from gone
)
insert into tieout.pages (pull_id, account_id, page_no, state, orders, attempts, reason)
select $1, $2, $4, 'failed', count(*), 1, $6::text from gone having count(*) > 0
