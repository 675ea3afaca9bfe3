-- Orders that only the gateway is known to have this transaction of: as the newest nights were
-- shown it, or as a break of any night says. $1 accounts, $2 the number in the cases in which it
-- may be spelled, $3 at most so many, $4 how many nights.
with nights as (
  select run_id from tieout.runs where not is_dry order by business_date desc limit $4
),
found as (
  select e.account_id, e.order_no from tieout.look_entries e
  where e.pull_id in (select p.pull_id from tieout.pulls p join nights using (run_id))
    and e.account_id = any ($1) and e.transaction_id = any ($2)
  union
  select b.account_id, b.order_no from tieout.breaks b
  where b.account_id = any ($1)
    and (b.actual ->> 'transaction' = any ($2) or b.expected ->> 'transaction' = any ($2))
)
select account_id as "accountId", order_no as "orderNo", 'shown' as by
from found order by account_id, order_no limit $3
