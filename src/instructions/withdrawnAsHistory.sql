-- What was withdrawn since the run before because its request became history, by account and
-- setting. $1 run, $2 how the reason of such an instruction begins, $3 how many are named.
with gone as (
  select i.*, i.approval_id is not null as is_approved,
    substr(i.reason, length($2) + 3) as setting,
    row_number() over (partition by i.account_id, i.reason order by i.instruction_id) as place
  from tieout.instructions i
  join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = i.account_id
  -- in between two runs: this one is to count it
  where (i.settled_run_id = $1 or i.settled_at is not null and i.settled_run_id is null)
    and i.state = 'withdrawn' and starts_with(i.reason, $2)
)
select account_id, setting, count(*) as instructions,
  count(*) filter (where is_approved) as approved,
  jsonb_agg(jsonb_build_object('operation', operation,
      'orderNo', coalesce(order_no, transaction_id), 'refundId', refund_id,
      'amount', coalesce(refund_amount, amount)::text, 'currency', currency,
      'isInTotals', is_in_totals, 'isApproved', is_approved)
    order by instruction_id) filter (where place <= $3) as samples
from gone group by account_id, setting order by account_id, setting
