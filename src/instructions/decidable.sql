-- What is to be known of instructions that a person decides about, held still until the decision is
-- written. $1 ids, $2 null or the accounts that the person may see.
select i.instruction_id, i.account_id, i.order_no, i.operation, i.state, i.hold_reason,
  i.transaction_id, i.currency, i.amount::text as amount, i.refund_id,
  i.refund_amount::text as refund_amount, i.review_decision, i.is_in_totals,
  array_remove(i.asked_by || (
    select r.requested_by from tieout.ledger_refunds() r
    where i.operation = 'refund' and r.account_id collate "C" = i.account_id
      and r.refund_id collate "C" = i.refund_id
    -- a view may have it twice
    limit 1) || case when i.hold_reason = 'twin_request' then array(
    -- who found that the one it may be did not happen is no second person either
    select d.decided_by
    from tieout.instructions other
    join tieout.decisions d using (instruction_id)
    where d.finding = 'not_happened' and other.replan_id is null
      and case i.operation when 'payout' then other.operation = 'payout'
          and (other.transaction_id = i.transaction_id
            or other.payload - 'request_id' = i.payload - 'request_id')
        else other.operation = i.operation and (other.refund_id = i.refund_id
          or other.account_id = i.account_id and other.order_no = i.order_no) end) end, null)
    as asked_by,
  (select d.decided_by from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.finding = 'not_happened'
    order by d.decision_id desc limit 1) as disproved_by,
  i.replan_id is not null as is_replanned,
  (select r.business_date from tieout.runs r where r.run_id = i.run_id) as planned_for,
  exists (
    select from tieout.instructions later
    where later.account_id = i.account_id and later.order_no = i.order_no
      and later.instruction_id > i.instruction_id and later.operation = i.operation
      and later.transaction_id = i.transaction_id
      and later.refund_id is not distinct from i.refund_id
      -- one that asked for something else, and is void, stands in the way of nothing
      and (not later.is_void or (later.currency, later.amount, later.refund_amount,
          later.review_decision, later.payload) is not distinct from (i.currency, i.amount,
          i.refund_amount, i.review_decision, i.payload))
  ) as is_superseded,
  i.operation = 'refund' and tieout.has_dispute(i.account_id, i.order_no, i.transaction_id)
    as has_dispute,
  tieout.is_pending(i) as is_pending,
  case when i.operation = 'payout' then tieout.payee(i) end as payee,
  i.created_at, seen.seen, tieout.shown_sha256(i, seen.seen) as seen_sha256
from tieout.instructions i
cross join lateral (select tieout.seen_of(i) as seen) as seen
where i.instruction_id = any ($1::bigint[])
  and ($2::text[] is null or i.account_id = any ($2))
order by i.instruction_id
for update of i
