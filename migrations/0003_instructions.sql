-- Up Migration
-- Instructions, the batches that carry them, and the attempts to send a batch. The states and legal
-- moves are those of src/core/instruction.ts; a test holds the two equal. Every move of an
-- instruction leaves a row in instruction_events in the same transaction.
create table tieout.batches (
  batch_id bigint generated always as identity primary key,
  run_id bigint not null references tieout.runs,
  account_id text collate "C" not null,
  operation text not null check (operation in ('capture', 'cancel', 'refund', 'review')),
  state text not null check (state in ('queued', 'sending', 'answered', 'unanswered', 'dropped')),
  created_at timestamptz not null,
  -- attempts on record, and tries of the present run that did not end in a send
  attempts int not null default 0,
  tries int not null default 0,
  reason text
);
create index batches_waiting on tieout.batches (account_id) where state in ('queued', 'sending');

create table tieout.instructions (
  instruction_id bigint generated always as identity primary key,
  run_id bigint not null references tieout.runs,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  operation text not null check (operation in ('capture', 'cancel', 'refund', 'review')),
  transaction_id text collate "C" not null check (transaction_id <> ''),
  currency text not null,
  amount numeric(20, 2) not null check (amount > 0),
  refund_id text collate "C",
  refund_amount numeric(20, 2) check (refund_amount > 0 and refund_amount <= amount),
  refund_reason text,
  review_decision text check (review_decision in ('accept', 'reject')),
  -- the state the gateway showed when this was planned, and those that show it done
  from_state text not null,
  done_states text[] not null check (cardinality(done_states) > 0),
  state text not null check (state in ('planned', 'held', 'queued', 'sending', 'accepted',
    'confirmed', 'rejected', 'unknown', 'withdrawn')),
  hold_reason text,
  batch_id bigint references tieout.batches,
  created_at timestamptz not null,
  settled_at timestamptz,
  settled_run_id bigint references tieout.runs,
  -- the gateway's own words, masked
  outcome_code text,
  outcome_message text,
  gateway_reference text,
  -- why it is unknown, withdrawn or rejected, in our words
  reason text,
  -- rejected, yet its new state shows: only a person can say whose effect it is
  is_disputed boolean not null default false,
  changed_by text not null default 'tieout',
  check ((operation = 'refund') = (refund_id is not null and refund_amount is not null)),
  check ((operation = 'review') = (review_decision is not null)),
  check ((state = 'held') = (hold_reason is not null)),
  check (state not in ('queued', 'sending', 'accepted') or batch_id is not null),
  check ((state in ('confirmed', 'rejected', 'withdrawn')) = (settled_at is not null)),
  check ((settled_at is null) = (settled_run_id is null)),
  check (state not in ('unknown', 'withdrawn') or reason is not null)
);
-- An order has at most one open instruction.
create unique index instructions_open_order on tieout.instructions (account_id, order_no)
  where state in ('planned', 'held', 'queued', 'sending', 'accepted', 'unknown');
-- At most one capture, cancel, review a transaction, and one refund a request, that may have had
-- an effect or still can.
create unique index instructions_one_effect
  on tieout.instructions (account_id, transaction_id, operation)
  where operation <> 'refund' and state not in ('rejected', 'withdrawn');
create unique index instructions_one_refund on tieout.instructions (account_id, refund_id)
  where operation = 'refund' and state not in ('rejected', 'withdrawn');
create index instructions_by_order on tieout.instructions (account_id, order_no);
create index instructions_by_batch on tieout.instructions (batch_id);
create index instructions_by_run on tieout.instructions (run_id);
create index instructions_settled on tieout.instructions (settled_run_id)
  where settled_run_id is not null;

create table tieout.instruction_events (
  seq bigint generated always as identity primary key,
  -- Written by the trigger below and by nobody else, and no instruction is ever deleted: a foreign
  -- key would look up, for each move, the row that has just moved.
  instruction_id bigint not null,
  from_state text,
  to_state text not null,
  at timestamptz not null default clock_timestamp(),
  by text not null,
  reason text
);
create index instruction_events_by_instruction on tieout.instruction_events (instruction_id);

-- The conditions stand in the triggers, where they cost a row of a move next to nothing; the
-- function says what was wrong.
create function tieout.guard_instruction() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    raise exception 'an instruction begins planned or held, not %', new.state
      using errcode = 'check_violation';
  elsif tg_name = 'guard_instruction' then
    raise exception 'instruction %: what it moves cannot be changed', old.instruction_id
      using errcode = 'check_violation';
  end if;
  raise exception 'instruction %: no move from % to %',
    old.instruction_id, old.state, new.state using errcode = 'check_violation';
end $$;
create trigger guard_new_instruction before insert on tieout.instructions
  for each row when (new.state not in ('planned', 'held'))
  execute function tieout.guard_instruction();
create trigger guard_instruction before update on tieout.instructions
  for each row when (
    (old.account_id, old.order_no, old.operation, old.transaction_id, old.currency, old.amount,
      old.refund_id, old.refund_amount)
    is distinct from
    (new.account_id, new.order_no, new.operation, new.transaction_id, new.currency, new.amount,
      new.refund_id, new.refund_amount))
  execute function tieout.guard_instruction();
create trigger guard_move before update on tieout.instructions
  for each row when (old.state <> new.state and old.state || ' ' || new.state <> all (array[
    'planned held', 'planned queued', 'planned withdrawn',
    'held planned', 'held queued', 'held withdrawn',
    'queued planned', 'queued held', 'queued sending', 'queued withdrawn',
    'sending queued', 'sending accepted', 'sending rejected', 'sending unknown',
    'accepted confirmed', 'accepted unknown',
    'rejected unknown',
    'planned unknown', 'queued unknown',
    'unknown confirmed', 'unknown rejected', 'unknown planned'
  ]))
  execute function tieout.guard_instruction();

-- By statement: a batch of fifty costs one call. Joined without loops, whose cost would be the
-- square of the rows moved: the plan is kept from the first call, which mostly moves few.
create function tieout.record_instruction() returns trigger language plpgsql
set enable_nestloop = off as $$
begin
  if tg_op = 'INSERT' then
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select instruction_id, null, state, changed_by, hold_reason
    from moved order by instruction_id;
  else
    insert into tieout.instruction_events (instruction_id, from_state, to_state, by, reason)
    select n.instruction_id, o.state, n.state, n.changed_by, coalesce(n.reason, n.hold_reason)
    from moved n join stood o using (instruction_id)
    where n.state <> o.state order by n.instruction_id;
  end if;
  return null;
end $$;
create trigger record_instruction after insert on tieout.instructions
  referencing new table as moved for each statement execute function tieout.record_instruction();
create trigger record_move after update on tieout.instructions
  referencing old table as stood new table as moved
  for each statement execute function tieout.record_instruction();

-- One try to send a batch. Committed before the first byte; only its outcome is written later,
-- once.
create table tieout.attempts (
  attempt_id uuid primary key,
  batch_id bigint not null references tieout.batches,
  attempt_no int not null,
  account_id text collate "C" not null,
  entries jsonb not null,
  body_sha256 text not null,
  host text not null,
  boot_id text not null,
  pid int not null,
  process_started text not null,
  claimed_at timestamptz not null,
  send_by timestamptz not null,
  outcome text check (outcome in ('not_sent', 'answered', 'unanswered')),
  finished_at timestamptz,
  reason text,
  unique (batch_id, attempt_no),
  check ((outcome is null) = (finished_at is null))
);
create unique index attempts_open on tieout.attempts (batch_id) where outcome is null;

create function tieout.guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (old.batch_id, old.attempt_no, old.entries, old.body_sha256, old.claimed_at)
      is distinct from
      (new.batch_id, new.attempt_no, new.entries, new.body_sha256, new.claimed_at) then
    raise exception 'attempt %: an attempt is history', old.attempt_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_attempt before update or delete on tieout.attempts
  for each row execute function tieout.guard_attempt();

-- The raw answer, stored before it is interpreted.
create table tieout.answers (
  attempt_id uuid primary key references tieout.attempts,
  received_at timestamptz not null,
  http_status int not null,
  content_type text,
  content_encoding text,
  body bytea not null,
  body_sha256 text not null
);

-- Back to the shop (CONTRACT section 4).
create view tieout.outcomes as
  select e.seq, i.account_id, i.order_no, i.refund_id, i.operation,
    coalesce(i.refund_amount, i.amount) as amount, i.currency, e.to_state as state,
    i.gateway_reference, e.at
  from tieout.instruction_events e
  join tieout.instructions i using (instruction_id)
  where e.to_state in ('accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn');

-- Down Migration
drop view tieout.outcomes;
drop table tieout.answers, tieout.attempts, tieout.instruction_events, tieout.instructions,
  tieout.batches;
drop function tieout.guard_attempt(), tieout.record_instruction(), tieout.guard_instruction();
