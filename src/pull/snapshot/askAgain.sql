-- A second snapshot, at the orders whose instructions were sent or are about to be: writes them
-- with their ledger rows as they stand now. $1 pull, $2 instruction ids, $3 separator, $4 orders a
-- page, $5 $6 currencies: usable, coarse.
with wanted as (
  select distinct account_id, order_no from tieout.instructions
  where instruction_id = any ($2::bigint[])
),
-- Refund requests of these orders that cannot be used, and how fine an amount they ask for.
request as (
  select w.account_id, w.order_no, max(min_scale(r.refund_amount)) as decimals,
    coalesce(min(r.problem), case when count(*) > count(distinct r.refund_id)
      then 'a refund request of it stands in the ledger more than once' end) as problem
  from wanted w
  join tieout.ledger_refunds() r
    on r.account_id collate "C" = w.account_id and r.order_no collate "C" = w.order_no
  group by w.account_id, w.order_no
),
askable as (
  select w.account_id, w.order_no, l.order_no is not null as in_ledger, l.currency, l.amount,
    l.expected, l.transaction_id, l.capture_amount, l.review_decision, l.placed_at,
    case when l.copies > 1 then 'it stands in the ledger more than once'
      else coalesce(l.problem, r.problem,
        tieout.too_fine(r.decimals, l.currency, $6::jsonb)
          || ', and a refund request of it asks for less')
      end as ledger_problem,
    $3 = '' or (w.order_no <> '' and position($3 in w.order_no) = 0) as is_askable
  from wanted w
  left join (
    select l.*, count(*) over same as copies, row_number() over same as copy
    from tieout.ledger_orders($5::text[], $6::jsonb, $3) l
    join wanted on wanted.account_id = l.account_id collate "C"
      and wanted.order_no = l.order_no collate "C"
    window same as (partition by l.account_id, l.order_no)
  ) l on l.account_id collate "C" = w.account_id and l.order_no collate "C" = w.order_no
    and l.copy = 1
  left join request r on r.account_id = w.account_id and r.order_no = w.order_no
)
insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
  amount, expected, transaction_id, capture_amount, review_decision, placed_at, ledger_problem)
select $1::bigint, account_id, order_no,
  case when is_askable then
    (row_number() over (partition by account_id, is_askable order by order_no) - 1) / $4::int
  end,
  in_ledger, currency, amount, expected, transaction_id, capture_amount, review_decision, placed_at,
  ledger_problem
from askable
