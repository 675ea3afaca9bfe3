-- How many orders of each kind did the newest snapshot of each account of a run bring? $1 run.
with account as materialized (
  select account_id, pull_id from :run_accounts
  where run_id = $1::bigint and pull_id is not null
),
asked as (
  select account_id, sum(asked)::bigint as asked, sum(ledger)::bigint as ledger,
    -- an invalid record may have none
    array_agg(currency order by currency) filter (where ledger > 0 and currency <> '')
      as currencies
  from (
    select a.account_id, o.currency, count(*) filter (where o.page_no is not null) as asked,
      count(*) filter (where o.in_ledger) as ledger
    from account a
    join :asked_orders o using (pull_id, account_id)
    group by a.account_id, o.currency
  ) as by_currency
  group by account_id
),
page as (
  -- below 0: orders that left their page, which was answered (leaveUnread.sql)
  select a.account_id, count(*) filter (where not p.stands_for_walk and p.page_no >= 0) as pages,
    count(*) filter (where p.state = 'failed' and p.page_no >= 0) as failed_pages,
    coalesce(sum(p.orders) filter (where p.state = 'failed'), 0) as unanswered,
    coalesce(sum(p.unasked), 0) as unasked
  from account a
  join :pages p using (pull_id, account_id)
  group by a.account_id
),
entry as materialized (
  select a.account_id, count(*) as plain, count(*) filter (where e.is_asked) as asked_plain
  from account a
  join :look_entries e using (pull_id, account_id)
  -- the index is of these alone; without it the snapshots of every run would be read
  where not e.is_extra
  group by a.account_id
),
-- Orders known only from extra entries: few.
extra as materialized (
  select a.account_id, count(distinct e.order_no) as orders
  from account a
  join :look_entries e using (pull_id, account_id)
  where e.is_extra and not exists (
    select from :look_entries plain
    where plain.pull_id = e.pull_id and plain.account_id = e.account_id
      and plain.order_no = e.order_no and not plain.is_extra)
  group by a.account_id
),
-- Not in the ledger: with an entry, or not looked at. One that is gone on both sides is no order.
gateway_only as (
  select a.account_id, count(*) as gateway_only
  from account a
  join :asked_orders o using (pull_id, account_id)
  left join :pages p
    on p.pull_id = o.pull_id and p.account_id = o.account_id and p.page_no = o.page_no
  where not o.in_ledger and (
    p.state is distinct from 'answered' and (o.page_no is not null or o.ledger_problem is null)
    or exists (select from :look_entries e
      where e.pull_id = o.pull_id and e.account_id = o.account_id and e.order_no = o.order_no
        and (e.is_extra or not e.is_extra)))
  group by a.account_id
)
select account.account_id, coalesce(pages, 0) as pages, coalesce(failed_pages, 0) as failed_pages,
  coalesce(asked, 0) as asked, coalesce(currencies, '{}') as currencies,
  coalesce(plain, 0) as answered, coalesce(asked_plain, 0) as asked_answered,
  coalesce(unanswered, 0)::bigint as unanswered,
  coalesce(unasked, 0)::bigint as unasked, coalesce(ledger, 0) as ledger,
  coalesce(gateway_only, 0) as gateway_only,
  coalesce(plain, 0) + coalesce(extra.orders, 0) as gateway
from account
left join asked using (account_id)
left join page using (account_id)
left join entry using (account_id)
left join extra using (account_id)
left join gateway_only using (account_id)
order by account.account_id
