-- A second look, at the orders whose instructions were sent or are about to be: writes them with
-- their ledger rows as they stand now.
-- $1 pull, $2 instruction ids, $3 separator, $4 orders a page, $5 $6 currencies.
with wanted as (
  select distinct account_id, order_no from tieout.instructions
  where instruction_id = any ($2::bigint[])
),
askable as (
  select w.account_id, w.order_no, l.order_no is not null as in_ledger, l.currency, l.amount,
    l.expected, nullif(l.transaction_id, '') as transaction_id, l.capture_amount,
    l.review_decision, l.placed_at,
    case when l.order_no is not null then tieout.ledger_problem(l.currency, l.amount, l.expected,
      l.capture_amount, l.review_decision, l.placed_at, $5::text[], $6::text[]) end
      as ledger_problem,
    $3 = '' or (w.order_no <> '' and position($3 in w.order_no) = 0) as is_askable
  from wanted w
  left join ledger.orders l
    on l.account_id collate "C" = w.account_id and l.order_no collate "C" = w.order_no
)
insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
  amount, expected, transaction_id, capture_amount, review_decision, placed_at, ledger_problem)
select $1::bigint, account_id, order_no,
  case when is_askable then
    (row_number() over (partition by account_id, is_askable order by order_no) - 1) / $4::int
  end,
  in_ledger, currency, case when amount > 0 and amount < 1e18 then amount end, expected,
  transaction_id, case when capture_amount > 0 and capture_amount < 1e18 then capture_amount end,
  review_decision, placed_at, ledger_problem
from askable
