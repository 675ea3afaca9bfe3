-- Instructions that wait for a person, oldest first, with what the person would decide about. $1
-- accounts, $2 limit, $3 offset.
select h.instruction_id as id, h.account_id as "accountId", h.order_no as "orderNo",
  h.operation, h.transaction_id as "transactionId", h.currency,
  coalesce(h.refund_amount, h.amount)::text as amount, h.refund_id as "refundId",
  h.review_decision as "reviewDecision", h.hold_reason as "holdReason",
  h.asked_by as "askedBy", h.created_at as since, s.seen,
  tieout.seen_sha256(s.seen) as "seenSha256",
  (select p.as_of from tieout.pulls p where p.pull_id = h.newest) as "snapshotAt"
from (select i.*, i as whole, case when operation <> 'payout' then
    tieout.newest_look(account_id, order_no) end as newest
  from tieout.instructions i
  where is_open and state = 'held' and account_id = any ($1)
  order by instruction_id limit $2 offset $3) h
cross join lateral (select tieout.seen_at(h.whole, h.newest) as seen offset 0) s
order by h.instruction_id
