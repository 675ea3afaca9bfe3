-- Instructions as people list them, in the order in which they were made. $1 states, $2 accounts,
-- $3 operation, $4 order: what is null does not matter. $5 limit, $6 offset, $7 open or void: the
-- few that these states are among, where an index has them apart, $8 newest first, $9 by what:
-- what, state, amount, order or account, the largest amount of a currency first, and behind them
-- those of no known unit.
select jsonb_build_object('id', i.instruction_id::text, 'accountId', i.account_id,
  'orderNo', i.order_no, 'operation', i.operation, 'state', i.state,
  'transactionId', i.transaction_id, 'currency', i.currency,
  'amount', coalesce(i.refund_amount, i.amount)::text, 'isInTotals', i.is_in_totals,
  'refundId', i.refund_id, 'reviewDecision', i.review_decision, 'holdReason', i.hold_reason,
  'reason', i.reason, 'askedBy', to_jsonb(i.asked_by), 'businessDate', r.business_date,
  'createdAt', i.created_at, 'since', (
    select max(e.at) from tieout.instruction_events e
    where e.instruction_id = i.instruction_id),
  'isReplanned', i.replan_id is not null) as row
from tieout.instructions i
join tieout.runs r using (run_id)
where ($1::text[] is null or (i.state = any ($1)
    and ($7::text is distinct from 'open' or i.is_open)
    and ($7 is distinct from 'void' or i.is_void)))
  and ($2::text[] is null or i.account_id = any ($2))
  and ($3::text is null or i.operation = $3)
  and ($4::text is null or i.order_no = $4)
order by case $9::text when 'what' then i.operation when 'state' then i.state
    when 'order' then i.order_no when 'account' then i.account_id when 'amount' then i.currency end,
  case when $9 = 'amount' and i.is_in_totals then coalesce(i.refund_amount, i.amount) end desc
    nulls last,
  case when $8::boolean then i.instruction_id end desc, i.instruction_id
limit $5 offset $6
