-- Up Migration
-- What is kept for others to read and check. First the outcomes for the shop (CONTRACT section 4):
-- one row for each move that says what became of an instruction, as it was told at that moment.
drop view tieout.outcomes;

-- A row is written in the transaction of the move and has no `seq` yet: numbers taken there would
-- become visible in another order than they were given, and a reader that resumes after the
-- highest one it saw would miss a smaller one that commits later. They are given afterwards, by one
-- publisher at a time.
create table tieout.outcome_rows (
  outcome_id bigint generated always as identity primary key,
  seq bigint unique check (seq > 0),
  -- of an instruction; like its moves written by a trigger alone
  instruction_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C",
  refund_id text collate "C",
  operation text not null,
  amount numeric(20, 2),
  currency text,
  state text not null
    check (state in ('accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn')),
  gateway_reference text,
  at timestamptz not null
);
create index outcome_rows_unpublished on tieout.outcome_rows (outcome_id) where seq is null;

-- As with the moves: no loops.
create function tieout.keep_outcomes() returns trigger language plpgsql
set enable_nestloop = off as $$
begin
  insert into tieout.outcome_rows (instruction_id, account_id, order_no, refund_id, operation,
    amount, currency, state, gateway_reference, at)
  select n.instruction_id, n.account_id, n.order_no, n.refund_id, n.operation,
    coalesce(n.refund_amount, n.amount), n.currency, n.state, n.gateway_reference,
    clock_timestamp()
  from moved n
  join stood o using (instruction_id)
  where n.state <> o.state
    and n.state in ('accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn')
  order by n.instruction_id;
  return null;
end $$;
-- By statement: a batch of fifty costs one call.
create trigger keep_outcomes after update on tieout.instructions
  referencing old table as stood new table as moved
  for each statement execute function tieout.keep_outcomes();

-- Gives every committed row that has none the next numbers, without a gap; answers how many. The
-- lock is held until the publisher commits, so that numbers become visible in their order.
create function tieout.publish_outcomes() returns bigint language plpgsql as $$
declare
  published bigint;
begin
  perform pg_advisory_xact_lock(hashtext('tieout.outcomes'));
  update tieout.outcome_rows o set seq = next.seq
  from (
    select outcome_id, coalesce((select max(seq) from tieout.outcome_rows), 0)
      + row_number() over (order by outcome_id) as seq
    from tieout.outcome_rows where seq is null
  ) next
  where o.outcome_id = next.outcome_id;
  get diagnostics published = row_count;
  return published;
end $$;

create function tieout.guard_outcome() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.seq is null
    and to_jsonb(old) - 'seq' = to_jsonb(new) - 'seq' then
    return new;
  end if;
  raise exception 'an outcome that was told stays' using errcode = 'check_violation';
end $$;
create trigger guard_outcome before update or delete on tieout.outcome_rows
  for each row execute function tieout.guard_outcome();

create view tieout.outcomes as
  select seq, account_id, order_no, refund_id, operation, amount, currency, state,
    gateway_reference, at
  from tieout.outcome_rows where seq is not null;


-- What a run used, kept for ever. The settings in force each time somebody took the run; the
-- profile that belongs to them stands once for all runs that used it.
create table tieout.profiles (
  profile_sha256 text primary key,
  profile text not null,
  link_id bigint
);
create table tieout.run_settings (
  settings_id bigint generated always as identity primary key,
  run_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  settings jsonb not null,
  settings_sha256 text not null,
  version text not null,
  link_id bigint
);
create index run_settings_by_run on tieout.run_settings (run_id);
create table tieout.run_ends (
  end_id bigint generated always as identity primary key,
  run_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  state text not null,
  failure text,
  summary jsonb,
  link_id bigint
);
create index run_ends_by_run on tieout.run_ends (run_id);

create function tieout.keep_run() returns trigger language plpgsql as $$
begin
  if new.is_dry then
    return null;
  end if;
  if tg_op = 'INSERT' or new.runner_id is distinct from old.runner_id and new.state = 'running' then
    insert into tieout.run_settings (run_id, settings, settings_sha256, version)
    values (new.run_id, new.settings, new.settings_sha256, new.version);
  elsif old.state = 'running' and new.state <> 'running' then
    insert into tieout.run_ends (run_id, state, failure, summary)
    values (new.run_id, new.state, new.failure, new.summary);
  end if;
  return null;
end $$;
create trigger keep_run after insert or update of state, runner_id on tieout.runs
  for each row execute function tieout.keep_run();

-- The refund requests of the orders of a pull, as they stood when the orders were entered.
create table tieout.asked_refunds (
  pull_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_id text collate "C" not null,
  -- a merchant's view may hold what is no amount
  refund_amount numeric,
  requested_at timestamptz
);
create index asked_refunds_by_pull on tieout.asked_refunds (pull_id, account_id);

-- Each time orders were compared or added up: by which settings, and how far history had come, so
-- that it can be done again from what was there then.
create table tieout.workings (
  working_id bigint generated always as identity primary key,
  run_id bigint not null,
  kind text not null check (kind in ('night', 'again', 'gaps', 'total')),
  settings_id bigint not null references tieout.run_settings,
  account_ids text[] not null,
  pull_id bigint,
  -- gaps: the later pull whose failed pages are judged by this one
  failed_in bigint,
  at timestamptz not null default clock_timestamp(),
  last_instruction_event bigint not null,
  last_break_event bigint not null,
  link_id bigint,
  check ((kind = 'total') = (pull_id is null)),
  check ((kind = 'gaps') = (failed_in is not null))
);
create index workings_by_run on tieout.workings (run_id);
-- The breaks that a night began with.
create table tieout.carried_breaks (
  working_id bigint not null references tieout.workings,
  break_id bigint not null references tieout.breaks,
  account_id text collate "C" not null,
  state text not null,
  expected jsonb not null,
  actual jsonb not null,
  fingerprint text not null,
  currency text,
  amount numeric(20, 2),
  last_run_id bigint not null,
  primary key (working_id, break_id)
);

-- Business days. A movement of money is posted once, to the day of the run that sent it, or, when
-- that day was closed by then, to the first open day after it, as an adjustment that names its own.
create table tieout.day_movements (
  movement_id bigint generated always as identity primary key,
  instruction_id bigint not null unique references tieout.instructions,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  operation text not null check (operation in ('capture', 'cancel', 'refund')),
  currency text not null,
  amount numeric(20, 2) not null check (amount > 0),
  belongs_to date not null,
  posted_to date not null check (posted_to >= belongs_to),
  -- in which run it was known to be done
  settled_run_id bigint,
  posted_at timestamptz not null default clock_timestamp(),
  link_id bigint
);
create index day_movements_by_day on tieout.day_movements (account_id, posted_to);
create index day_movements_by_run on tieout.day_movements (account_id, settled_run_id);

-- Closed, locked, reopened: who, when, why, with the figures and the open items of that moment.
create table tieout.day_events (
  event_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  business_date date not null,
  event text not null check (event in ('closed', 'locked', 'reopened')),
  at timestamptz not null default clock_timestamp(),
  by text not null check (btrim(by) <> ''),
  is_claim boolean not null,
  reason text not null check (btrim(reason) <> ''),
  figures jsonb not null,
  open_items jsonb not null,
  link_id bigint
);
create index day_events_by_day on tieout.day_events (account_id, business_date, event_id);

create function tieout.day_state(account text, day date) returns text language sql stable as $$
  select coalesce((
    select case event when 'reopened' then 'open' else event end from tieout.day_events
    where account_id = account and business_date = day order by event_id desc limit 1), 'open')
$$;

-- The newest closed day of an account; null: none is. Days close in their order.
create function tieout.closed_until(account text) returns date language sql stable as $$
  select max(business_date) from (
    select distinct on (business_date) business_date, event from tieout.day_events
    where account_id = account order by business_date, event_id desc
  ) newest
  where event <> 'reopened'
$$;

create function tieout.guard_day() returns trigger language plpgsql as $$
declare
  state text := tieout.day_state(new.account_id, new.business_date);
  closed date := tieout.closed_until(new.account_id);
  problem text;
begin
  problem := case
    when new.event = 'closed' and state <> 'open' then 'is ' || state || ' already'
    when new.event = 'closed' and new.business_date < closed then 'lies before a closed day'
    when new.event = 'locked' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and state <> 'closed' then 'is ' || state || ', not closed'
    when new.event = 'reopened' and new.business_date < closed
      then 'is followed by a closed day, ' || closed
  end;
  if problem is not null then
    raise exception 'day % of account % %', new.business_date, new.account_id, problem
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_day before insert on tieout.day_events
  for each row execute function tieout.guard_day();

create function tieout.guard_movement() returns trigger language plpgsql as $$
begin
  if new.posted_to <= tieout.closed_until(new.account_id) then
    raise exception 'day % of account % is closed', new.posted_to, new.account_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_movement before insert on tieout.day_movements
  for each row execute function tieout.guard_movement();

-- The request of an attempt, compressed and without what looks like a card number; its
-- body_sha256 is of what really went out.
alter table tieout.attempts add column request_gzip bytea;
alter table tieout.attempts alter column request_gzip set storage external;

-- Down Migration
alter table tieout.attempts drop column request_gzip;
drop table tieout.day_events, tieout.day_movements;
drop function tieout.guard_day(), tieout.guard_movement(), tieout.day_state(text, date),
  tieout.closed_until(text);
drop trigger keep_run on tieout.runs;
drop table tieout.carried_breaks, tieout.workings, tieout.asked_refunds, tieout.run_ends,
  tieout.run_settings, tieout.profiles;
drop function tieout.keep_run();
drop view tieout.outcomes;
drop trigger keep_outcomes on tieout.instructions;
drop table tieout.outcome_rows;
drop function tieout.keep_outcomes(), tieout.publish_outcomes(), tieout.guard_outcome();
create view tieout.outcomes as
  select e.seq, i.account_id, i.order_no, i.refund_id, i.operation,
    coalesce(i.refund_amount, i.amount) as amount, i.currency, e.to_state as state,
    i.gateway_reference, e.at
  from tieout.instruction_events e
  join tieout.instructions i using (instruction_id)
  where e.to_state in ('accepted', 'confirmed', 'rejected', 'unknown', 'withdrawn');
