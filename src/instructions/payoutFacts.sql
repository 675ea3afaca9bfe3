-- What is true now of the payouts that wait in a batch. $1 batch.
select i.instruction_id, i.order_no, i.transaction_id, i.currency, i.amount::text as amount,
  i.refund_id, i.refund_amount::text as refund_amount, i.refund_reason, i.review_decision,
  i.payload, case when i.approval_id is not null then tieout.approval_lapse(i) end as lapse,
  i.approval_id is not null as is_approved, i.is_in_totals,
  coalesce(p.payload = i.payload and p.copies = 1, false) and not exists (
    select from tieout.instructions other
    where other.operation = 'payout' and other.transaction_id = i.transaction_id
      and other.account_id <> i.account_id
      and other.state in ('sending', 'accepted', 'unknown', 'confirmed')
  ) and not exists (select from tieout.calls_by_hand(i.transaction_id)) as is_asked, p.requested_at
from tieout.instructions i
left join lateral (
  select p.payload, p.requested_at, count(*) over () as copies
  from tieout.ledger_payouts() p
  where p.account_id collate "C" = i.account_id and p.request_id = i.transaction_id
  limit 1
) p on true
where i.batch_id = $1 and i.state = 'queued' order by i.instruction_id
