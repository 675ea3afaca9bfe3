-- Every order of a run as its reports see it, one row each, in no order: the ledger as it stood,
-- the newest look of the run (of several entries the one that counts), the class. $1 run.
-- Reports read these rows as they are (orderRows in reportRows.ts) and sum them up (currencyRows in
-- reportFigures.ts), so that rows and sums cannot differ in what they see.
with account as materialized (
  select account_id, pull_id from tieout.run_accounts
  where run_id = $1::bigint and pull_id is not null
),
-- Orders with more than one entry, or looked at again after sending: few.
special as materialized (
  select distinct on (e.account_id, e.order_no) e.account_id, e.order_no, e.state,
    e.payment_status, e.currency, e.amount, e.amount_text, e.transaction_id, e.transaction_date
  from account a
  join tieout.pulls p on p.run_id = $1 and p.pull_id >= a.pull_id and p.kind <> 'fresh'
  join tieout.look_entries e on e.pull_id = p.pull_id and e.account_id = a.account_id
  where p.pull_id > a.pull_id or exists (
    select from tieout.look_entries x
    where x.pull_id = e.pull_id and x.account_id = e.account_id and x.order_no = e.order_no
      and x.is_extra)
  order by e.account_id, e.order_no, e.pull_id desc,
    coalesce(e.state, '') in ('cancelled', 'declined'), e.transaction_at desc nulls last,
    e.transaction_id desc
)
select o.account_id, o.order_no, coalesce(v.class, 'matched') as class, v.kinds, o.expected,
  case when s.order_no is null then e.state else s.state end as gateway_state,
  case when s.order_no is null then e.payment_status else s.payment_status end as payment_status,
  coalesce(o.currency, s.currency, e.currency) as currency, o.amount as ledger_amount,
  case when s.order_no is null then e.amount else s.amount end as gateway_amount,
  -- of an amount that lacks the printed shape
  case when s.order_no is null then e.amount_text else s.amount_text end as gateway_amount_text,
  case when s.order_no is null then e.transaction_id else s.transaction_id end as transaction_id,
  case when s.order_no is null then e.transaction_date else s.transaction_date end
    as transaction_date,
  o.placed_at
from account a
join tieout.asked_orders o using (pull_id, account_id)
left join tieout.look_entries e
  on e.pull_id = o.pull_id and e.account_id = o.account_id and e.order_no = o.order_no
    and not e.is_extra
left join special s on s.account_id = o.account_id and s.order_no = o.order_no
left join tieout.verdicts v
  on v.run_id = $1 and v.account_id = o.account_id and v.order_no = o.order_no
