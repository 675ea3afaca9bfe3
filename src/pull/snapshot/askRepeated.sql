-- Orders that the ledger has more than once: each is asked, once, and cannot be compared. They get
-- pages of their own after all others. $1 pull, $2 accounts and $3 numbers of them, $4 orders a
-- page, $5 separator of the order list.
with repeated as (
  select distinct on (l.account_id collate "C", l.order_no collate "C")
    l.account_id collate "C" as account_id, l.order_no collate "C" as order_no, l.currency,
    l.amount, l.expected, l.placed_at
  from tieout.ledger_orders('{}', '{}', '') l
  join unnest($2::text[], $3::text[]) as k (account_id, order_no)
    on k.account_id = l.account_id and k.order_no = l.order_no
  order by l.account_id collate "C", l.order_no collate "C", l.placed_at
),
askable as (
  select *, $5 = '' or (order_no <> '' and position($5 in order_no) = 0) as is_askable
  from repeated
),
last_page as (
  select account_id, max(page_no) as page_no from tieout.asked_orders
  where pull_id = $1::bigint and page_no >= 0 group by account_id
)
insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
  amount, expected, placed_at, ledger_problem)
select $1, a.account_id, a.order_no, case when is_askable and $5 = '' then 0
    when is_askable then coalesce(p.page_no + 1, 0) + (row_number() over (
      partition by a.account_id, is_askable order by a.order_no) - 1) / $4::int end,
  true, a.currency, a.amount, a.expected,
  a.placed_at, 'it stands in the ledger more than once'
from askable a left join last_page p on p.account_id = a.account_id
-- One that had left the ledger as the others were read, and is back, is entered already.
on conflict do nothing
