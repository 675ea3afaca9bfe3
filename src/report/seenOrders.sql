-- Every order of one account of a run as its reports see it, one row each, by number: the ledger as
-- it stood, the newest snapshot of the run (of several entries the one that counts), the class. $1
-- run, $2 account, $3 its snapshot. Reports read these rows as they are (orderRows in
-- reportRowsStore.ts) and sum them up (currencyRows in reportFiguresStore.ts), so that rows and
-- sums cannot differ in what they see. Orders and entries are walked in the order of their indexes,
-- account by account: nothing large is sorted or hashed.
with special as materialized (
  -- Orders with more than one entry, or looked at again after sending: few. Each half of the
  -- entries has an index of its own. A later snapshot of all orders that was cut short is no
  -- account's.
  select distinct on (order_no) order_no, state, payment_status, currency, amount, amount_text,
    transaction_id, transaction_date
  from (
    select again.* from tieout.pulls p
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = $2::text
        and not is_extra
      offset 0
    ) again
    where p.run_id = $1::bigint and p.pull_id > $3::bigint and p.kind = 'confirm'
    union all
    select extra.* from tieout.pulls p
    cross join lateral (
      select * from tieout.look_entries where pull_id = p.pull_id and account_id = $2 and is_extra
      offset 0
    ) extra
    where p.run_id = $1 and (p.pull_id = $3 or p.pull_id > $3 and p.kind = 'confirm')
    union all
    select plain.* from (
      select distinct order_no from tieout.look_entries
      where pull_id = $3 and account_id = $2 and is_extra
    ) crowded
    cross join lateral (
      select * from tieout.look_entries where pull_id = $3 and account_id = $2
        and order_no = crowded.order_no and not is_extra
      offset 0
    ) plain
  ) e
  order by order_no, pull_id desc, coalesce(state, '') in ('cancelled', 'declined'),
    transaction_at desc nulls last, transaction_id desc
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
from tieout.asked_orders o
left join tieout.look_entries e
  on e.pull_id = $3 and e.account_id = $2 and e.order_no = o.order_no and not e.is_extra
left join special s on s.order_no = o.order_no
left join tieout.verdicts v
  on v.run_id = $1 and v.account_id = $2 and v.order_no = o.order_no
where o.pull_id = $3 and o.account_id = $2
order by o.order_no
