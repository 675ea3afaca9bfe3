-- What is true now of the payouts that wait in a batch. $1 batch, $2 now, $3 by how much later than
-- a request was weighed another may be noted as gone.
with queued as (
  select i.*, p.payload = i.payload and p.copies = 1 as is_there, p.requested_at
  from tieout.instructions i
  left join lateral (
    select p.payload, p.requested_at, count(*) over () as copies
    from tieout.ledger_payouts() p
    where p.account_id collate "C" = i.account_id and p.request_id = i.transaction_id
    limit 1
  ) p on true
  where i.batch_id = $1::bigint and i.state = 'queued'
),
-- One that was paid, may have been or was refused, and whose request has left the ledger since the
-- plan: what the next plan would say of it (waitingPayouts.sql), who noted those that left before.
twin as materialized (
  select q.instruction_id, other.account_id, other.transaction_id as request_id
  from queued q
  join tieout.instructions other on other.operation = 'payout'
    and other.payload - 'request_id' = q.payload - 'request_id'
    and (other.account_id, other.transaction_id) <> (q.account_id, q.transaction_id)
  -- a ledger that has lost this one, too, tells nothing of the others
  where q.is_there and (other.state in ('sending', 'accepted', 'unknown', 'confirmed')
      or other.replan_id is null and (other.state = 'rejected' or other.is_refused)
      or exists (select from tieout.calls_by_hand(other.transaction_id)))
    and (other.created_at >= q.requested_at or not exists (
      select from tieout.instructions before
      where before.operation = 'payout' and before.transaction_id = q.transaction_id
        and before.account_id = q.account_id
        and before.created_at < $2::timestamptz - $3::interval))
    and not exists (select from tieout.payouts_left l
      where l.account_id = other.account_id and l.request_id = other.transaction_id)
    and not exists (select from tieout.ledger_payouts() p
      where p.account_id collate "C" = other.account_id and p.request_id = other.transaction_id)
),
-- The next plan has to know of it, too.
noted as (
  insert into tieout.payouts_left (account_id, request_id, left_at)
  select distinct account_id, request_id, $2::timestamptz from twin
  on conflict do nothing
)
select i.instruction_id, i.order_no, i.transaction_id, i.currency, i.amount::text as amount,
  i.refund_id, i.refund_amount::text as refund_amount, i.refund_reason, i.review_decision,
  i.payload, case when i.approval_id is not null then (
    select tieout.approval_lapse(plain) from tieout.instructions plain
    where plain.instruction_id = i.instruction_id) end as lapse,
  i.approval_id is not null as is_approved, i.is_in_totals,
  i.source_currency, i.source_amount::text as source_amount, approved.approved_for,
  coalesce(i.is_there, false) and not exists (
    select from tieout.instructions other
    where other.operation = 'payout' and other.transaction_id = i.transaction_id
      and other.account_id <> i.account_id
      and other.state in ('sending', 'accepted', 'unknown', 'confirmed')
  ) and not exists (select from tieout.calls_by_hand(i.transaction_id)) as is_asked, i.requested_at,
  -- a person who approved it as one that may be another had seen that
  exists (select from twin where twin.instruction_id = i.instruction_id)
    and approved.approved_for is distinct from 'twin_request' as is_twin
from queued i
cross join lateral (
  select (select d.row_before ->> 'hold_reason' from tieout.decisions d
    where d.decision_id = i.approval_id) as approved_for
) approved
order by i.instruction_id
