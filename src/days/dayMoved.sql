-- Orders on both sides of the cut-off: placed before the day's end, but the gateway dates what it
-- shows after it. $1 account, $2 business date, $3 how many are named at most; `total` counts all.
select a.order_no, e.state, e.currency, e.amount::text as amount, a.placed_at,
  e.transaction_at as moved_at, count(*) over ()::int as total
from tieout.run_accounts ra
join tieout.runs r using (run_id)
join tieout.look_entries e on e.pull_id = ra.pull_id and e.account_id = ra.account_id
join tieout.asked_orders a
  on a.pull_id = e.pull_id and a.account_id = e.account_id and a.order_no = e.order_no
where ra.account_id = $1 and r.business_date = $2::date and not r.is_dry
  -- each half has an index of its own; without this line every run's snapshot would be read
  and (e.is_extra or not e.is_extra)
  and e.transaction_at >= r.ends_at and a.placed_at < r.ends_at
order by e.transaction_at, a.order_no
limit $3::int
