-- Up Migration
-- What we captured or cancelled is neither any more. Where the gateway shows it as reserved, it
-- shows what was; and where the ledger wants the contrary by now, a person looks first: a gateway
-- that does as it is told would capture what was let go. The same of what a person did by hand.
create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric) returns table (reason text)
language sql stable rows 1 as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select 'moved_already'
  from tieout.instructions i
  where of_operation in ('capture', 'cancel') and i.account_id = of_account
    and i.order_no = of_order and i.transaction_id = by and i.state = 'confirmed'
    and i.operation in ('capture', 'cancel')
  union all
  select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
  from tieout.instructions i
  where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
    and (i.account_id = of_account) <> (i.order_no = of_order)
    and case when i.account_id <> of_account
        then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
      when of_operation = 'refund' then i.operation = 'refund'
      else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
  union all
  select 'by_hand'
  from tieout.gateway_calls c
  where c.account_id = of_account
    and replace(c.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    -- the contrary of it only of this very transaction: the other of two may be let go by hand
    and c.entries @> any (array[
      case when c.operation = of_operation
        then jsonb_build_array(jsonb_build_object('order_no', of_order)) end,
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and i.refund_id <> of_refund
    and case when i.state = 'rejected' then i.replan_id is null
        and (i.refund_amount = money or lower(btrim(i.refund_id)) = lower(btrim(of_refund)))
      else not i.is_void and lower(btrim(i.refund_id)) = lower(btrim(of_refund)) end
  union all
  select 'over_captured'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
    and i.amount < money + coalesce((
      select sum(paid.refund_amount) from tieout.instructions paid
      where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = 'refund' and not paid.is_void and paid.refund_id <> of_refund), 0)
  limit 1
$$;

-- Who has looked at it may have it done all the same.
create or replace function tieout.guard_decision()
 returns trigger
 language plpgsql
as $function$
declare
  i tieout.instructions;
begin
  if tg_op <> 'INSERT' then
    raise exception 'decision %: a decision is history', old.decision_id
      using errcode = 'check_violation';
  end if;
  select * into strict i from tieout.instructions
  where instruction_id = new.instruction_id for update;
  if new.account_id <> i.account_id or not i.state = any (case new.decision
      when 'approve' then array['held']
      when 'reject' then array['planned', 'held', 'queued']
      when 'resolve' then array['unknown', 'accepted']
      when 'replan' then array['rejected', 'withdrawn'] end) then
    raise exception 'instruction %: no % while it is %', i.instruction_id, new.decision, i.state
      using errcode = 'check_violation';
  end if;
  if i.state = 'accepted' and not tieout.is_pending(i) then
    raise exception 'instruction %: its answer stands, and a snapshot confirms it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and i.hold_reason not in ('approval', 'above_limit',
      'over_limit_of_run', 'fraud_rejected', 'approval_expired', 'approval_void', 'restored',
      'second_capture', 'shared_refund', 'newly_freed', 'shared_transaction', 'by_hand',
      'twin_request', 'over_captured', 'disputed', 'moved_already') then
    raise exception 'instruction %: no approval helps against %', i.instruction_id, i.hold_reason
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and (
    exists (select from unnest(i.asked_by) as asker
      where tieout.is_same_person(asker, new.decided_by))
    or exists (select from ledger.refund_requests r
      where i.operation = 'refund' and r.account_id collate "C" = i.account_id
        and r.refund_id collate "C" = i.refund_id
        and tieout.is_same_person(r.requested_by, new.decided_by))) then
    raise exception 'instruction %: who asked for it cannot approve it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'replan' and i.operation in ('refund', 'payout') and i.state = 'rejected'
    and exists (
    select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.finding = 'not_happened'
      and tieout.is_same_person(d.decided_by, new.decided_by)) then
    raise exception 'instruction %: a second person has to have it planned again', i.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;

-- Down Migration
create or replace function tieout.doubled(of_account text, of_order text, of_operation text,
  by text, of_refund text, money numeric) returns table (reason text)
language sql stable rows 1 as $$
  select 'second_capture'
  from tieout.instructions i
  where of_operation = 'capture' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id <> by
  union all
  select case of_operation when 'refund' then 'shared_refund' else 'shared_transaction' end
  from tieout.instructions i
  where i.transaction_id = by and i.operation <> 'payout' and not i.is_void
    and (i.account_id = of_account) <> (i.order_no = of_order)
    and case when i.account_id <> of_account
        then replace(i.operation, 'cancel', 'capture') = replace(of_operation, 'cancel', 'capture')
      when of_operation = 'refund' then i.operation = 'refund'
      else (of_operation, i.operation) in (('capture', 'cancel'), ('cancel', 'capture')) end
  union all
  select 'by_hand'
  from tieout.gateway_calls c
  where c.account_id = of_account and c.operation = of_operation
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('order_no', of_order)),
      jsonb_build_array(jsonb_build_object('transaction_id', by))])
  union all
  select 'twin_request'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'refund' and i.refund_id <> of_refund
    and case when i.state = 'rejected' then i.replan_id is null
        and (i.refund_amount = money or lower(btrim(i.refund_id)) = lower(btrim(of_refund)))
      else not i.is_void and lower(btrim(i.refund_id)) = lower(btrim(of_refund)) end
  union all
  select 'over_captured'
  from tieout.instructions i
  where of_operation = 'refund' and i.account_id = of_account and i.order_no = of_order
    and i.operation = 'capture' and i.state = 'confirmed' and i.transaction_id = by
    and i.amount < money + coalesce((
      select sum(paid.refund_amount) from tieout.instructions paid
      where paid.account_id = of_account and paid.transaction_id = by
        and paid.operation = 'refund' and not paid.is_void and paid.refund_id <> of_refund), 0)
  limit 1
$$;

create or replace function tieout.guard_decision()
 returns trigger
 language plpgsql
as $function$
declare
  i tieout.instructions;
begin
  if tg_op <> 'INSERT' then
    raise exception 'decision %: a decision is history', old.decision_id
      using errcode = 'check_violation';
  end if;
  select * into strict i from tieout.instructions
  where instruction_id = new.instruction_id for update;
  if new.account_id <> i.account_id or not i.state = any (case new.decision
      when 'approve' then array['held']
      when 'reject' then array['planned', 'held', 'queued']
      when 'resolve' then array['unknown', 'accepted']
      when 'replan' then array['rejected', 'withdrawn'] end) then
    raise exception 'instruction %: no % while it is %', i.instruction_id, new.decision, i.state
      using errcode = 'check_violation';
  end if;
  if i.state = 'accepted' and not tieout.is_pending(i) then
    raise exception 'instruction %: its answer stands, and a snapshot confirms it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and i.hold_reason not in ('approval', 'above_limit',
      'over_limit_of_run', 'fraud_rejected', 'approval_expired', 'approval_void', 'restored',
      'second_capture', 'shared_refund', 'newly_freed', 'shared_transaction', 'by_hand',
      'twin_request', 'over_captured', 'disputed') then
    raise exception 'instruction %: no approval helps against %', i.instruction_id, i.hold_reason
      using errcode = 'check_violation';
  end if;
  if new.decision = 'approve' and (
    exists (select from unnest(i.asked_by) as asker
      where tieout.is_same_person(asker, new.decided_by))
    or exists (select from ledger.refund_requests r
      where i.operation = 'refund' and r.account_id collate "C" = i.account_id
        and r.refund_id collate "C" = i.refund_id
        and tieout.is_same_person(r.requested_by, new.decided_by))) then
    raise exception 'instruction %: who asked for it cannot approve it', i.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.decision = 'replan' and i.operation in ('refund', 'payout') and i.state = 'rejected'
    and exists (
    select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.finding = 'not_happened'
      and tieout.is_same_person(d.decided_by, new.decided_by)) then
    raise exception 'instruction %: a second person has to have it planned again', i.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $function$;
