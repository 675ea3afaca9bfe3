-- Orders that only the gateway is known to have this transaction of: as the newest nights were
-- shown it, or as a break of any night says. $1 accounts, $2 the number in the cases in which it
-- may be spelled, $3 at most so many, $4 how many nights.
with nights as (
  select run_id from tieout.runs where not is_dry order by business_date desc limit $4
),
found as (
  select a.account_id, e.order_no
  from nights join tieout.pulls p using (run_id)
  cross join unnest($1::text[]) a (account_id)
  cross join lateral (
    -- An index each: by none of them alone are all entries of a snapshot found.
    select order_no, transaction_id from tieout.look_entries
    where pull_id = p.pull_id and account_id = a.account_id and not is_extra
    union all
    select order_no, transaction_id from tieout.look_entries
    where pull_id = p.pull_id and account_id = a.account_id and is_extra
  ) e
  where e.transaction_id = any ($2::text[])
  union
  select b.account_id, b.order_no from tieout.breaks b
  where b.account_id = any ($1)
    and (b.actual ->> 'transaction' = any ($2) or b.expected ->> 'transaction' = any ($2))
)
select account_id as "accountId", order_no as "orderNo", 'shown' as by
from found order by account_id, order_no limit $3
