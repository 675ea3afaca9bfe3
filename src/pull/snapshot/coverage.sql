-- What did the gateway say of each order that was looked at? Only what is not plainly "asked,
-- answered with one entry": unanswered, not asked, answered without being asked, answered twice,
-- answered with a query_result that says that it was not found, and, where $4 says so, answered
-- that there is no such order.
-- $1 run: its newest snapshot of each account; else null and $2 pulls, $3 account and order as an
-- array of two. $4 orders without an entry too. $5 only how many by account.
-- Expects: one row an order and pull, the first of the cases that fits; or one an account and case.
with snapshot as materialized (
  select account_id, pull_id from :run_accounts
  where run_id = $1::bigint and pull_id is not null
  union all
  select ($3::text[])[1], pull_id from unnest($2::bigint[]) as pull_id
),
-- Orders with more than one entry, and entries that nobody asked for: few.
crowded as materialized (
  select distinct e.pull_id, e.account_id, e.order_no
  from snapshot join :look_entries e using (pull_id, account_id)
  where e.is_extra and ($3 is null or e.order_no = $3[2])
),
crowd as materialized (
  select pull_id, account_id, order_no, bool_or(is_asked) as is_asked, count(*) as entries,
    count(distinct coalesce(transaction_id, '')) as transactions, count(distinct content) as sights
  from (
    select e.*, row(e.transaction_id, e.currency, e.amount, e.amount_text, e.state,
      e.payment_status, e.found, e.query_result, e.transaction_date)::text as content
    from crowded join :look_entries e using (pull_id, account_id, order_no)
    where e.is_extra
    union all
    select e.*, row(e.transaction_id, e.currency, e.amount, e.amount_text, e.state,
      e.payment_status, e.found, e.query_result, e.transaction_date)::text as content
    from crowded join :look_entries e using (pull_id, account_id, order_no)
    where not e.is_extra
  ) as entry
  group by pull_id, account_id, order_no
),
-- Pages without an answer: mostly none, and then no order is looked through for them.
gap as materialized (
  select p.pull_id, p.account_id, p.page_no, p.reason
  from snapshot join :pages p using (pull_id, account_id)
  where p.state = 'failed'
  union all
  select c.pull_id, c.account_id, page.no, 'the page has no answer yet'
  from snapshot
  join :chunks c using (pull_id, account_id)
  cross join generate_series(c.first_page, c.last_page) as page (no)
  where c.state <> 'done' and not exists (
    select from :pages p
    where p.pull_id = c.pull_id and p.account_id = c.account_id and p.page_no = page.no)
),
unanswered as (
  select o.pull_id, o.account_id, o.order_no, o.page_no, 'unanswered' as how, gap.reason
  from gap join :asked_orders o using (pull_id, account_id, page_no)
  where $3 is null or o.order_no = $3[2]
),
unaskable as (
  select o.pull_id, o.account_id, o.order_no, null::int as page_no,
    case when o.in_ledger then 'not_asked' else 'unasked' end as how,
    case when o.in_ledger then 'its number contains the separator of the order list' end as reason
  from snapshot join :asked_orders o using (pull_id, account_id)
  where o.page_no is null and (o.in_ledger or exists (
      select from crowd c where c.pull_id = o.pull_id and c.account_id = o.account_id
        and c.order_no = o.order_no)
    or exists (
      select from :look_entries e where e.pull_id = o.pull_id
        and e.account_id = o.account_id and e.order_no = o.order_no and not e.is_extra))
    and ($3 is null or o.order_no = $3[2])
),
-- Of the ledger, but not of this snapshot: its entry is kept and left alone.
unread as (
  select c.pull_id, c.account_id, c.order_no, null::int as page_no, 'unasked' as how,
    'no order of this look: in the ledger, or from before the look-back' as reason
  from crowd c
  where not exists (select from :asked_orders o where o.pull_id = c.pull_id
    and o.account_id = c.account_id and o.order_no = c.order_no)
),
twice as (
  select c.pull_id, c.account_id, c.order_no, o.page_no,
    case when c.sights > c.transactions then 'twice_different' else 'twice_same' end as how,
    c.entries || ' entries' as reason
  from crowd c
  join :asked_orders o using (pull_id, account_id, order_no)
  left join :pages p using (pull_id, account_id, page_no)
  where o.page_no is not null and p.state = 'answered' and c.entries > c.transactions
),
-- Compare found them, and walking through all entries once more would find no others.
unfound as (
  select v.pull_id, v.account_id, v.order_no from snapshot s
  join :verdicts v on v.run_id = $1 and v.pull_id = s.pull_id and v.account_id = s.account_id
  where v.not_compared = 'query_result'
  union
  select e.pull_id, e.account_id, e.order_no
  from snapshot join :look_entries e using (pull_id, account_id)
  -- each half has an index of its own
  where $3 is not null and e.order_no = $3[2] and not e.found and (e.is_extra or not e.is_extra)
    and not exists (select from twice t where t.pull_id = e.pull_id
      and t.how = 'twice_different')
),
other_result as not materialized (
  select u.pull_id, u.account_id, u.order_no, o.page_no, 'other_result' as how,
    (select 'query_result ' || string_agg(distinct query_result, ', ') from :look_entries e
      where e.pull_id = u.pull_id and e.account_id = u.account_id and e.order_no = u.order_no
        and not e.found and (e.is_extra or not e.is_extra)) as reason
  from unfound u
  join :asked_orders o using (pull_id, account_id, order_no)
  where o.page_no is not null
),
empty as (
  select o.pull_id, o.account_id, o.order_no, o.page_no, 'no_entry' as how, null as reason
  from snapshot
  join :asked_orders o using (pull_id, account_id)
  join :pages p using (pull_id, account_id, page_no)
  where $4::boolean and p.state = 'answered' and ($3 is null or o.order_no = $3[2])
    and not exists (select from :look_entries e where e.pull_id = o.pull_id
      and e.account_id = o.account_id and e.order_no = o.order_no and not e.is_extra)
    and not exists (select from crowd c where c.pull_id = o.pull_id
      and c.account_id = o.account_id and c.order_no = o.order_no)
),
covered as not materialized (
  select pull_id, account_id, order_no, page_no, how, reason from unanswered
  union all select pull_id, account_id, order_no, page_no, how, reason from unaskable
  union all select pull_id, account_id, order_no, page_no, how, reason from unread
  union all select pull_id, account_id, order_no, page_no, how, reason from other_result
  union all select t.pull_id, t.account_id, t.order_no, t.page_no, t.how, t.reason from twice t
    where not exists (select from unfound u where u.pull_id = t.pull_id
      and u.account_id = t.account_id and u.order_no = t.order_no)
  union all select pull_id, account_id, order_no, page_no, how, reason from empty
)
select pull_id, account_id, order_no, page_no, how, reason, 1 as orders
from covered where not $5::boolean
union all
select null, account_id, null, null, how, null, count(*)
from covered where $5 group by account_id, how
order by account_id, how, order_no, pull_id
