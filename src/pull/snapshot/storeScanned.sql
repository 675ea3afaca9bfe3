-- Entries of a few pages of a scan, from the temporary table scanned: the first entry of an order
-- is the plain one, every further one is extra. Answers how many stood on an earlier page already,
-- which a scan of pages that keep still never has.
with placed as (
  select w.*, row_number() over (partition by order_no order by page_no, position) as place,
    -- an order that is known has its plain entry, and only those are found by number
    exists (
      select from :look_entries e
      where e.pull_id = w.pull_id and e.account_id = w.account_id and e.order_no = w.order_no
        and not e.is_extra
    ) as is_known,
    exists (
      select from :asked_orders a
      where a.pull_id = w.pull_id and a.account_id = w.account_id and a.order_no = w.order_no
        -- gateway-only entries become orders of the pull later, and were not asked for
        and a.page_no is not null
    ) as is_ours
  from scanned w
),
overlap as (
  select count(*) as shifted
  from scanned w
  -- each half has an index of its own; without it every page would read the whole snapshot
  where exists (
    select from :look_entries e
    where e.pull_id = w.pull_id and e.account_id = w.account_id and e.order_no = w.order_no
      and e.transaction_id = w.transaction_id and not e.is_extra
  ) or exists (
    select from :look_entries e
    where e.pull_id = w.pull_id and e.account_id = w.account_id and e.order_no = w.order_no
      and e.transaction_id = w.transaction_id and e.is_extra
  ) or exists (
    select from scanned earlier
    where earlier.order_no = w.order_no and earlier.transaction_id = w.transaction_id
      and earlier.page_no < w.page_no
  )
),
added as (
  insert into :look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
    is_asked, transaction_id, currency, amount, amount_text, state, payment_status, found,
    query_result, transaction_at, transaction_date, reference_no, fraud_rejected,
    recurring_status)
  select pull_id, account_id, page_no, position, order_no, place > 1 or is_known, is_ours,
    transaction_id, currency, amount, amount_text, state, payment_status, found, query_result,
    transaction_at, transaction_date, reference_no, fraud_rejected, recurring_status
  from placed
)
select shifted from overlap
