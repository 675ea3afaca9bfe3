-- The orders of a run summed up by account and currency: how many and how much of the date and
-- carried forward, at the gateway, and by class. $1 run. Each order is seen as reportOrders.sql
-- sees it; sums need no order and no text, which would cost as much as reading them.
with account as materialized (
  select account_id, pull_id from tieout.run_accounts
  where run_id = $1::bigint and pull_id is not null
),
-- Orders with more than one entry, or looked at again after sending: few.
special as materialized (
  select distinct on (e.account_id, e.order_no) e.account_id, e.order_no, e.state,
    e.payment_status, e.currency, e.amount, e.amount_text
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
),
seen as (
  select o.account_id, coalesce(o.currency, s.currency, e.currency, '') as currency,
    coalesce(v.class, 'matched') as class, o.expected is null as is_stranger,
    o.placed_at >= r.starts_at as is_of_date, o.amount as ledger,
    case when s.order_no is null then e.amount else s.amount end as gateway,
    case when s.order_no is null
      then e.state is not null or e.payment_status is not null or e.amount is not null
        or e.amount_text is not null
      else s.state is not null or s.payment_status is not null or s.amount is not null
        or s.amount_text is not null end as is_at_gateway
  from account a
  join tieout.runs r on r.run_id = $1
  join tieout.asked_orders o using (pull_id, account_id)
  left join tieout.look_entries e
    on e.pull_id = o.pull_id and e.account_id = o.account_id and e.order_no = o.order_no
      and not e.is_extra
  left join special s on s.account_id = o.account_id and s.order_no = o.order_no
  left join tieout.verdicts v
    on v.run_id = $1 and v.account_id = o.account_id and v.order_no = o.order_no
),
line as (
  select account_id, currency, class,
    count(*) filter (where not is_stranger and is_of_date) as of_date,
    count(*) filter (where not is_stranger and is_of_date is not true) as carried,
    count(*) filter (where is_stranger) as strangers,
    count(*) filter (where is_at_gateway) as at_gateway,
    coalesce(sum(ledger) filter (where is_of_date), 0) as ledger_of_date,
    coalesce(sum(ledger) filter (where is_of_date is not true), 0) as ledger_carried,
    coalesce(sum(gateway), 0) as gateway,
    coalesce(sum(coalesce(ledger, gateway)), 0) as money,
    coalesce(sum(gateway - ledger) filter (where gateway <> ledger), 0) as difference,
    coalesce(sum(abs(gateway - ledger)) filter (where gateway <> ledger), 0) as absolute
  from seen group by account_id, currency, class
)
select account_id, currency, sum(of_date)::bigint as of_date, sum(carried)::bigint as carried,
  sum(strangers)::bigint as strangers, sum(at_gateway)::bigint as at_gateway,
  sum(ledger_of_date)::numeric(30, 2)::text as ledger_of_date,
  sum(ledger_carried)::numeric(30, 2)::text as ledger_carried,
  sum(gateway)::numeric(30, 2)::text as gateway,
  sum(difference)::numeric(30, 2)::text as difference,
  sum(absolute)::numeric(30, 2)::text as absolute,
  jsonb_object_agg(class, of_date + carried + strangers) as classes,
  jsonb_object_agg(class, money::numeric(30, 2)::text) as money
from line group by account_id, currency order by account_id, currency
