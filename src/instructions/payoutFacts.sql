-- What is true now of the payouts that wait in a batch. $1 batch, $2 now, $3 by how much later than
-- a request was weighed another may be noted as gone, $4 how long before that it may have left.
with queued as (
  select i.*, p.payload = i.payload and p.copies = 1 as is_there, p.requested_at, (
      select min(before.created_at) from tieout.instructions before
      where before.operation = 'payout' and before.account_id = i.account_id
        and before.transaction_id = i.transaction_id) as weighed_at
  from tieout.instructions i
  left join lateral (
    select p.payload, p.requested_at, count(*) over () as copies
    from tieout.ledger_payouts() p
    where p.account_id collate "C" = i.account_id and p.request_id = i.transaction_id
    limit 1
  ) p on true
  where i.batch_id = $1::bigint and i.state = 'queued'
),
-- Those of the same content whose request has left the ledger by now.
gone as materialized (
  select q.instruction_id, q.requested_at, q.weighed_at, other.account_id,
    other.transaction_id as request_id,
    max(other.created_at) filter (where tieout.bars_twins(other)) as planned_at,
    coalesce(l.left_at, $2::timestamptz) as left_at
  from queued q
  join tieout.instructions other on other.operation = 'payout'
    and other.payload - 'request_id' = q.payload - 'request_id'
    and (other.account_id, other.transaction_id) <> (q.account_id, q.transaction_id)
  left join tieout.payouts_left l
    on l.account_id = other.account_id and l.request_id = other.transaction_id
  -- a ledger that has lost this one, too, tells nothing of the others
  where q.is_there and not exists (select from tieout.ledger_payouts() p
    where p.account_id collate "C" = other.account_id and p.request_id = other.transaction_id)
  group by q.instruction_id, q.requested_at, q.weighed_at, other.account_id,
    other.transaction_id, l.left_at
),
-- Of those that were lost with their requests, as in plan.sql.
lost_twin as materialized (
  select * from tieout.lost_twins((select jsonb_agg(jsonb_build_object('account_id', account_id,
    'request_id', transaction_id, 'currency', currency, 'amount', amount, 'payload', payload))
    from queued), $2::timestamptz)
),
-- What the next plan would say of it (waitingPayouts.sql), whoever noted those that left.
twin as materialized (
  select instruction_id from gone
  group by instruction_id, requested_at, weighed_at
  having max(planned_at) >= requested_at
    or max(planned_at) is not null and bool_or(
      left_at between weighed_at - $4::interval and weighed_at + $3::interval)
),
-- The next plan has to know of it, too.
noted as (
  insert into tieout.payouts_left (account_id, request_id, left_at)
  select distinct account_id, request_id, left_at from gone join twin using (instruction_id)
  order by account_id, request_id
  on conflict do nothing
)
select i.instruction_id, i.order_no, i.transaction_id, i.currency, i.amount::text as amount,
  i.refund_id, i.refund_amount::text as refund_amount, i.refund_reason, i.review_decision,
  i.payload, case when i.approval_id is not null then tieout.approval_lapse(plain) end as lapse,
  i.approval_id is not null as is_approved, i.is_in_totals,
  i.source_currency, i.source_amount::text as source_amount, approved.approved_for,
  coalesce(i.is_there, false) and not exists (
    select from tieout.instructions other
    where other.operation = 'payout' and other.transaction_id = i.transaction_id
      and other.account_id <> i.account_id
      and other.state in ('sending', 'accepted', 'unknown', 'confirmed')
  ) and not exists (select from tieout.calls_by_hand(i.transaction_id))
  -- what the gateway or a person refused is asked for again by whoever has it planned again, or as
  -- something else that a person approves
  and not exists (
    select from tieout.instructions before
    where before.operation = 'payout' and before.transaction_id = i.transaction_id
      and before.account_id = i.account_id and before.instruction_id < i.instruction_id
      and before.replan_id is null and (before.state = 'rejected' or before.is_refused
        and (before.payload = i.payload or i.approval_id is null))
  ) as is_asked, i.requested_at,
  -- a person who approved it as one that may be another had seen that
  (still.doubled is not null or i.doubled is not null
    or exists (select from twin where twin.instruction_id = i.instruction_id)
    or (i.account_id, i.transaction_id) in (select account_id, request_id from lost_twin))
    and tieout.unseen(plain, '{twin_request}') is not null as is_twin,
  (still.restored or coalesce(coalesce(i.requested_at, '-infinity')
    < (select max(at) from tieout.put_backs), false))
    and tieout.unseen(plain, '{restored}') is not null as restored, still.freed, still.left_disputed
from queued i
join tieout.instructions plain using (instruction_id)
cross join lateral (
  select (select d.row_before ->> 'hold_reason' from tieout.decisions d
    where d.decision_id = i.approval_id) as approved_for
) approved
cross join lateral tieout.waits_still(plain) still
order by i.instruction_id
