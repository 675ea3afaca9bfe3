-- Up Migration
-- What the gateway said of a payout, kept with it: its status, what that means by the profile of
-- then, and its fees. One that is not done yet waits as accepted until a person settles it.
alter table tieout.instructions add column payout_answer jsonb
  check (payout_answer is null or operation = 'payout');
-- What a payout takes from the payer's account, where its request names that: limits hold for it.
alter table tieout.instructions add column source_currency text;
alter table tieout.instructions add column source_amount numeric(20, 2);

create function tieout.is_pending(i tieout.instructions) returns boolean
language sql immutable parallel safe as $$
  select i.operation = 'payout' and i.state = 'accepted'
    and coalesce(i.payout_answer ->> 'meaning' = 'pending', false)
$$;

create function tieout.guard_payout_answer() returns trigger language plpgsql as $$
begin
  raise exception 'instruction %: what was answered is history', old.instruction_id
    using errcode = 'check_violation';
end $$;
create trigger guard_payout_answer before update on tieout.instructions for each row
  when (old.payout_answer is not null and new.payout_answer is distinct from old.payout_answer)
  execute function tieout.guard_payout_answer();

create or replace trigger guard_move before update on tieout.instructions for each row
  when (old.state <> new.state and old.state || ' ' || new.state not in (
    'planned held', 'planned queued', 'planned withdrawn', 'held planned', 'held queued',
    'held withdrawn', 'queued planned', 'queued held', 'queued sending', 'queued withdrawn',
    'sending queued', 'sending accepted', 'sending rejected', 'sending unknown',
    'accepted confirmed', 'accepted unknown', 'accepted rejected', 'rejected unknown',
    'planned unknown', 'queued unknown', 'unknown confirmed', 'unknown rejected',
    'unknown planned'))
  execute function tieout.guard_instruction();

create or replace function tieout.guard_decision()
 returns trigger
 language plpgsql
as $$
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
end $$;

-- Down Migration
create or replace function tieout.guard_decision()
 returns trigger
 language plpgsql
as $$
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
      when 'resolve' then array['unknown']
      when 'replan' then array['rejected', 'withdrawn'] end) then
    raise exception 'instruction %: no % while it is %', i.instruction_id, new.decision, i.state
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
end $$;

create or replace trigger guard_move before update on tieout.instructions for each row
  when (old.state <> new.state and old.state || ' ' || new.state not in (
    'planned held', 'planned queued', 'planned withdrawn', 'held planned', 'held queued',
    'held withdrawn', 'queued planned', 'queued held', 'queued sending', 'queued withdrawn',
    'sending queued', 'sending accepted', 'sending rejected', 'sending unknown',
    'accepted confirmed', 'accepted unknown', 'rejected unknown', 'planned unknown',
    'queued unknown', 'unknown confirmed', 'unknown rejected', 'unknown planned'))
  execute function tieout.guard_instruction();

drop trigger guard_payout_answer on tieout.instructions;
drop function tieout.guard_payout_answer();
drop function tieout.is_pending(tieout.instructions);
alter table tieout.instructions drop column source_amount;
alter table tieout.instructions drop column source_currency;
alter table tieout.instructions drop column payout_answer;
