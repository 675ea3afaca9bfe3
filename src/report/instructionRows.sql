-- Instructions as reports list them. $1 run, $2 false: those that were confirmed in it; true: those
-- that wait for somebody, open ones of its accounts and the refusals that this run counts, or none
-- has counted yet: `tieout send` brought them since.
select i.instruction_id, i.account_id, i.order_no, i.refund_id, i.operation, i.state, i.currency,
  case when i.is_in_totals then coalesce(i.refund_amount, i.amount)::text end as amount,
  i.transaction_id, i.gateway_reference, i.refund_reference,
  -- what a person typed is no message: it stands with their decision
  coalesce(i.outcome_message, case when not exists (select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.reason = i.reason)
    then i.reason end) as message,
  i.payout_answer,
  i.hold_reason,
  case when i.hold_reason = 'disputed' then tieout.disputes_seen(i) -> 'disputes' end as disputes,
  -- what a decision about it is bound to, and why it waits
  case when $2 and i.state in ('planned', 'held', 'queued')
    then tieout.shown_sha256(i, tieout.seen_of(i)) end as seen_sha256,
  case when $2 then (select max(decision_id) from tieout.decisions d
    where d.instruction_id = i.instruction_id) end as last_decision,
  -- of a payout to whom it goes, as far as others than its approvers are shown it
  case when i.operation = 'payout' then tieout.seen_of(i) -> 'payout' end as payout,
  case when i.operation = 'payout'
    then (tieout.payee(i) ->> 'isKnown')::boolean end as is_known_payee,
  (select max(at) from tieout.instruction_events e
    where e.instruction_id = i.instruction_id) as at
from tieout.instructions i
where case when $2::boolean
  then i.account_id in (select account_id from tieout.run_accounts where run_id = $1::bigint)
    and (i.is_open or i.state = 'rejected' and (i.settled_run_id = $1
      or i.settled_at is not null and i.settled_run_id is null))
  else i.state = 'confirmed' and i.settled_run_id = $1 end
order by i.account_id, i.operation, i.instruction_id
