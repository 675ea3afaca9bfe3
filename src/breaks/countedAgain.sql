-- The money of open breaks that may be the same money again: where an order has more than one open
-- break of a currency, all of theirs but the largest. $1 accounts, $2 how many of the orders are
-- named, those with most such breaks first.
with several as (
  select account_id, order_no from tieout.breaks
  where state = 'open' and account_id = any ($1)
  group by account_id, order_no having count(*) > 1
),
beside as (
  select f.account_id, f.order_no, f.currency, count(*) as breaks,
    sum(round(f.stake, 2)) - max(round(f.stake, 2)) as money
  from several s
  join tieout.break_facts f on f.account_id = s.account_id and f.order_no = s.order_no
  where f.state = 'open' and f.stake is not null and f.currency is not null
  group by f.account_id, f.order_no, f.currency having count(*) > 1
),
orders as (
  select account_id, order_no, sum(breaks) as breaks from beside group by account_id, order_no
)
select (select count(*)::int from orders) as orders,
  (select coalesce(jsonb_object_agg(currency, money), '{}') from (
    select currency, sum(money)::text as money from beside
    group by currency having sum(money) > 0) sums) as money,
  (select coalesce(array_agg(order_no order by breaks desc, account_id, order_no), '{}') from (
    select * from orders order by breaks desc, account_id, order_no limit $2) first) as named
