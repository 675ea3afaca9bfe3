-- Instructions that wait for a person, oldest first, with what the person would decide about. $1
-- accounts, $2 limit, $3 offset, $4 by what, where not by age: what, amount (those of no known unit
-- last), order or account. By age those that no approval frees ($5, by why they wait) are last.
select h.instruction_id as id, h.account_id as "accountId", h.order_no as "orderNo",
  h.operation, h.transaction_id as "transactionId", h.currency,
  coalesce(h.refund_amount, h.amount)::text as amount, h.refund_id as "refundId",
  h.review_decision as "reviewDecision", h.is_in_totals as "isInTotals",
  h.hold_reason as "holdReason", h.asked_by as "askedBy", h.created_at as since, s.seen,
  case when h.operation = 'payout' then tieout.payee(h.whole) end as payee,
  tieout.shown_sha256(h.whole, s.seen) as "seenSha256",
  (select p.as_of from tieout.pulls p where p.pull_id = h.newest) as "snapshotAt"
from (select i.*, i as whole, case when operation <> 'payout' then
    tieout.newest_look(account_id, order_no) end as newest
  from tieout.instructions i
  where is_open and state = 'held' and account_id = any ($1)
  order by $4::text = 'age' and hold_reason = any ($5::text[]),
    case $4 when 'what' then operation when 'order' then order_no
      when 'account' then account_id when 'amount' then currency end,
    case when $4 = 'amount' and is_in_totals then coalesce(refund_amount, amount) end desc
      nulls last, instruction_id
  limit $2 offset $3) h
cross join lateral (select tieout.seen_at(h.whole, h.newest) as seen offset 0) s
order by $4 = 'age' and h.hold_reason = any ($5),
  case $4 when 'what' then h.operation when 'order' then h.order_no
    when 'account' then h.account_id when 'amount' then h.currency end,
  case when $4 = 'amount' and h.is_in_totals then coalesce(h.refund_amount, h.amount) end desc
    nulls last, h.instruction_id
