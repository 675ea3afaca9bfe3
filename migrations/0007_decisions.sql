-- Up Migration
-- What people decide about instructions. A decision is kept for ever with what the person saw; an
-- approval holds only while exactly that is still so, and not for ever. Who asked for a movement of
-- money cannot approve it: that is refused here, whatever program asks.
create table tieout.decisions (
  decision_id bigint generated always as identity primary key,
  instruction_id bigint not null references tieout.instructions,
  account_id text collate "C" not null,
  decision text not null check (decision in ('approve', 'reject', 'resolve', 'replan')),
  at timestamptz not null default clock_timestamp(),
  -- a name from the command line is a claim; the console knows who has logged in
  decided_by text not null check (btrim(decided_by) <> ''),
  is_claim boolean not null,
  reason text check (btrim(reason) <> ''),
  -- what it rests on outside tieout: a number in the merchant portal, a letter of the acquirer
  reference text check (btrim(reference) <> ''),
  -- of a resolution: what the gateway really did
  finding text check (finding in ('happened', 'not_happened')),
  -- the instruction, the ledger and the gateway as they stood before it, and their digest
  seen jsonb not null,
  seen_sha256 text not null check (seen_sha256 ~ '^[0-9a-f]{64}$'),
  row_before jsonb not null,
  -- of an approval: it holds until then
  expires_at timestamptz,
  check ((decision = 'resolve') = (finding is not null)),
  check ((decision = 'approve') = (expires_at is not null)),
  check (decision in ('approve', 'replan') or reason is not null),
  check (decision <> 'resolve' or reference is not null)
);
create index decisions_by_instruction on tieout.decisions (instruction_id);

alter table tieout.instructions
  -- who asked for it: of the refund request, and who had it planned again
  add column asked_by text[] not null default '{}',
  -- the newest approval; whether it still holds is said by tieout.approval_lapse
  add column approval_id bigint references tieout.decisions,
  -- withdrawn by a person, not by tieout
  add column is_refused boolean not null default false,
  -- a person wants it planned again: it no longer stands in the way
  add column replan_id bigint references tieout.decisions,
  add check (not is_refused or state = 'withdrawn'),
  add check (replan_id is null or state in ('rejected', 'withdrawn'));
create index instructions_replanned on tieout.instructions (replan_id)
  where replan_id is not null;
-- A person settles between two runs: the next one counts it as its own.
do $$
declare name text;
begin
  select conname into strict name from pg_constraint
  where conrelid = 'tieout.instructions'::regclass and contype = 'c'
    and pg_get_constraintdef(oid) like '%((settled_at IS NULL) = (settled_run_id IS NULL))%';
  execute format('alter table tieout.instructions drop constraint %I', name);
end $$;
alter table tieout.instructions add check (settled_run_id is null or settled_at is not null);
create index instructions_settled_between on tieout.instructions (account_id)
  where settled_at is not null and settled_run_id is null;

-- A payout moves money and belongs to no order: the id of its request stands for order and
-- transaction, so that a request has at most one. What is sent is the payload as it was planned.
alter table tieout.batches drop constraint batches_operation_check,
  add constraint batches_operation_check
    check (operation in ('capture', 'cancel', 'refund', 'review', 'payout'));
alter table tieout.instructions drop constraint instructions_operation_check,
  add constraint instructions_operation_check
    check (operation in ('capture', 'cancel', 'refund', 'review', 'payout')),
  drop constraint instructions_amount_check,
  -- zero: a payout request that names no amount, which is held
  add constraint instructions_amount_check check (amount > 0 or operation = 'payout'),
  add column payload jsonb,
  -- whether its amount is money: of a payout nobody knows while the profile has no unit
  add column is_in_totals boolean not null default true,
  add check ((operation = 'payout') = (payload is not null)),
  add check (is_in_totals or operation = 'payout');
create index payouts_by_request on tieout.instructions (account_id, transaction_id)
  where operation = 'payout';

-- Orders whose fraud check says REJECT: few.
create index look_entries_fraud on tieout.look_entries (pull_id, account_id, order_no)
  where fraud_rejected;

-- The refund requests of an order that stands out, as a digest: a waived break of refunds reopens
-- when one is added.
alter table tieout.verdicts add column requests text;

-- Whether two names are one person's: case and blanks do not make another person.
create function tieout.is_same_person(one text, other text) returns boolean
language sql immutable as $$
  select lower(regexp_replace(btrim(one), '\s+', ' ', 'g'))
    = lower(regexp_replace(btrim(other), '\s+', ' ', 'g'))
$$;

-- The newest pull in which the page of an order was answered; a dry run is no look. Pull by pull
-- from the newest on, each by its keys: the first that fits is mostly the first that is tried.
create function tieout.newest_look(account text, "order" text) returns bigint
language sql stable as $$
  select p.pull_id
  from tieout.pulls p
  where not (select r.is_dry from tieout.runs r where r.run_id = p.run_id)
    and (select g.state = 'answered'
      from tieout.asked_orders a
      join tieout.pages g
        on g.pull_id = a.pull_id and g.account_id = a.account_id and g.page_no = a.page_no
      where a.pull_id = p.pull_id and a.account_id = account and a.order_no = "order")
  order by p.pull_id desc limit 1
$$;

create function tieout.seen_sha256(seen jsonb) returns text language sql immutable as $$
  select encode(sha256(convert_to(seen::text, 'UTF8')), 'hex')
$$;

-- What a person sees of an instruction before deciding, and what the decision is bound to: what it
-- moves, the order and its refund requests in the ledger, the look of the gateway in this pull.
create function tieout.seen_at(i tieout.instructions, pull bigint) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', l.amount::numeric(20, 2)::text,
        'captureAmount', l.capture_amount::numeric(20, 2)::text,
        'transaction', nullif(l.transaction_id, ''), 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from ledger.orders l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', r.refund_id,
        'amount', r.refund_amount::numeric(20, 2)::text, 'reason', r.reason,
        'requestedBy', r.requested_by, 'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from ledger.refund_requests r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
      from ledger.payout_requests p
      where p.account_id collate "C" = i.account_id
        and p.request_id::text collate "C" = i.transaction_id)) else '{}' end
$$;

-- The same by the newest complete look.
create function tieout.seen_of(i tieout.instructions) returns jsonb language sql stable as $$
  select tieout.seen_at(i, tieout.newest_look(i.account_id, i.order_no))
$$;

-- Why an approval no longer holds; null: it does, or there is none.
create function tieout.approval_lapse(i tieout.instructions) returns text language sql stable as $$
  select case
    when d.expires_at <= clock_timestamp() then 'approval_expired'
    when d.seen_sha256 <> tieout.seen_sha256(tieout.seen_of(i)) then 'approval_void'
  end
  from tieout.decisions d where d.decision_id = i.approval_id
$$;

create function tieout.guard_decision() returns trigger language plpgsql as $$
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
      'over_limit_of_run', 'fraud_rejected', 'approval_expired', 'approval_void') then
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
create trigger guard_decision before insert or update or delete on tieout.decisions
  for each row execute function tieout.guard_decision();

-- What an instruction may say about decisions on it. An approval that lapsed frees nothing, not
-- even in the last moment: the claim of a batch moves its instructions through here.
create function tieout.guard_decided() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and old.replan_id is not null then
    new.replan_id := null;
  end if;
  if new.approval_id is distinct from old.approval_id then
    perform from tieout.decisions d where d.decision_id = new.approval_id
      and d.instruction_id = new.instruction_id and d.decision = 'approve';
    if not found then
      raise exception 'instruction %: that is no approval of it', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if new.payload is distinct from old.payload then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.replan_id is not null and new.replan_id is distinct from old.replan_id then
    perform from tieout.decisions d where d.decision_id = new.replan_id
      and d.instruction_id = new.instruction_id and d.decision = 'replan';
    if not found then
      raise exception 'instruction %: nobody had it planned again', old.instruction_id
        using errcode = 'check_violation';
    end if;
  end if;
  if old.state = 'held' and new.state = 'queued' and new.approval_id is null then
    raise exception 'instruction %: nobody approved it', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if new.state = 'sending' and old.state <> 'sending' and new.approval_id is not null
    and tieout.approval_lapse(new) is not null then
    raise exception 'instruction %: its approval holds no more', old.instruction_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
-- Most moves are of what nobody had to decide, and are spared the call.
create trigger guard_decided before update on tieout.instructions
  for each row when (old.replan_id is not null or new.replan_id is not null
    or new.approval_id is distinct from old.approval_id
    or new.payload is distinct from old.payload
    or (old.state = 'held' and new.state = 'queued')
    or (new.state = 'sending' and new.approval_id is not null))
  execute function tieout.guard_decided();

-- Down Migration
drop trigger guard_decided on tieout.instructions;
drop function tieout.guard_decided();
drop function tieout.approval_lapse(tieout.instructions);
drop function tieout.seen_of(tieout.instructions), tieout.seen_at(tieout.instructions, bigint);
alter table tieout.verdicts drop column requests;
drop index tieout.look_entries_fraud, tieout.instructions_settled_between,
  tieout.instructions_replanned;
alter table tieout.instructions drop column payload, drop column is_in_totals,
  drop constraint instructions_operation_check, drop constraint instructions_amount_check,
  add constraint instructions_operation_check
    check (operation in ('capture', 'cancel', 'refund', 'review')) not valid,
  add constraint instructions_amount_check check (amount > 0) not valid;
alter table tieout.batches drop constraint batches_operation_check,
  add constraint batches_operation_check
    check (operation in ('capture', 'cancel', 'refund', 'review')) not valid;
alter table tieout.instructions drop column asked_by, drop column approval_id,
  drop column is_refused, drop column replan_id;
update tieout.instructions set settled_run_id = run_id
  where settled_at is not null and settled_run_id is null;
alter table tieout.instructions add check ((settled_at is null) = (settled_run_id is null));
drop table tieout.decisions;
drop function tieout.guard_decision(), tieout.newest_look(text, text),
  tieout.seen_sha256(jsonb), tieout.is_same_person(text, text);
