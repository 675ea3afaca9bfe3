-- Instructions of a state put together by what they share, the largest groups first. $1 accounts,
-- $2 state. A payout in a unit that nobody has set is in no sum.
select account_id as "accountId", operation, hold_reason as "holdReason", currency,
  count(*)::int as count,
  sum(coalesce(refund_amount, amount)) filter (where is_in_totals)::text as money,
  count(*) filter (where not is_in_totals)::int as "withoutAmount",
  min(created_at) as oldest, min(instruction_id) as first
from tieout.instructions
where is_open and state = $2 and account_id = any ($1)
group by account_id, operation, hold_reason, currency
order by count(*) desc, account_id, operation, hold_reason, currency
