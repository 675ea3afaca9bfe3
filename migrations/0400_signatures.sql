-- Up Migration

-- What stands behind a decision outside of the database: a signature over the fact as the chain
-- digests it, with the session or command line from which it was decided, by a key that only the
-- program has. None is written where no key is configured. A second one for the same fact is from a
-- redaction, which changes its text.
create table tieout.signatures (
  signature_id bigint generated always as identity primary key,
  what text not null check (what in ('decision', 'break', 'day', 'brake', 'redaction')),
  fact_id bigint not null,
  session text not null check (btrim(session) <> ''),
  signature bytea not null check (octet_length(signature) = 64)
);
create index signatures_by_fact on tieout.signatures (what, fact_id);
create trigger guard_history before update or delete on tieout.signatures
  for each row execute function tieout.guard_history();
create trigger guard_emptied before truncate on tieout.signatures
  for each statement execute function tieout.guard_history();

-- Who approves what was held because a decision about it was not signed signs that it may go.
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
      'twin_request', 'over_captured', 'disputed', 'moved_already', 'not_signed') then
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

drop table tieout.signatures;
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
