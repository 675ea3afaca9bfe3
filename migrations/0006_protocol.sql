-- Up Migration
-- What may stop the sending of an account, as facts that all workers share: the canary and the
-- breaker of a run, and the brake that a person pulls.

-- untried: the next batch is a canary of one; canary: it is on its way, the rest waits for its
-- answer; open: that answer was understood; stopped: two batches in a row were not.
alter table tieout.run_accounts
  add sending text not null default 'untried'
    check (sending in ('untried', 'canary', 'open', 'stopped')),
  add canary_batch_id bigint references tieout.batches,
  add unclean_batches int not null default 0,
  add sending_reason text,
  add check ((sending = 'canary') = (canary_batch_id is not null)),
  add check ((sending = 'stopped') = (sending_reason is not null));

create function tieout.guard_sending() returns trigger language plpgsql as $$
begin
  if old.sending <> new.sending and not exists (
    select from (values
      ('untried', 'canary'), ('untried', 'stopped'),
      ('canary', 'untried'), ('canary', 'open'), ('canary', 'stopped'),
      ('open', 'stopped'),
      ('stopped', 'untried')
    ) as sending_move (from_state, to_state)
    where sending_move.from_state = old.sending and sending_move.to_state = new.sending
  ) then
    raise exception 'sending of account %: no move from % to %',
      old.account_id, old.sending, new.sending using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_sending before update of sending on tieout.run_accounts
  for each row execute function tieout.guard_sending();

create function tieout.guard_batch() returns trigger language plpgsql as $$
begin
  if old.state <> new.state and not exists (
    select from (values
      ('queued', 'sending'), ('queued', 'dropped'),
      ('sending', 'queued'), ('sending', 'answered'), ('sending', 'unanswered')
    ) as batch_move (from_state, to_state)
    where batch_move.from_state = old.state and batch_move.to_state = new.state
  ) then
    raise exception 'batch %: no move from % to %', old.batch_id, old.state, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_batch before update of state on tieout.batches
  for each row execute function tieout.guard_batch();

-- The account's newest run when the batch was claimed: its canary and breaker are judged by it.
alter table tieout.attempts add sending_run_id bigint references tieout.runs;

-- The journals of permits, each a local file of one host, and how far they were held against this
-- database. What a person released is no reason to stop any more.
create table tieout.journals (
  journal_id uuid primary key,
  host text not null,
  place text not null,
  opened_at timestamptz not null default clock_timestamp(),
  verified_at timestamptz,
  verified_bytes bigint not null default 0,
  verified_system text,
  verified_timeline text,
  released_at timestamptz
);
alter table tieout.attempts add journal_id uuid references tieout.journals;
create index attempts_by_journal on tieout.attempts (journal_id, claimed_at);

-- Whether the process that sent could still write: null while it is at it.
alter table tieout.attempts add is_sender_gone boolean;

-- An unknown capture or cancel that two complete looks did not show may be sent again, once
-- (resendAfterHours). Until that send is on its way it may still turn out to have happened, so that
-- whoever would hold or withdraw it makes it unknown again instead. That was its one chance: from
-- then on a person decides, and it is not planned and taken back night after night.
alter table tieout.instructions add resends int not null default 0 check (resends in (0, 1));

create function tieout.back_to_unknown() returns trigger language plpgsql as $$
begin
  if old.state = 'unknown' and new.state = 'planned' and (new.resends <> old.resends + 1
      or old.is_disputed or old.operation not in ('capture', 'cancel')) then
    raise exception 'instruction %: it is not sent again', old.instruction_id
      using errcode = 'check_violation';
  end if;
  if old.resends > 0 and old.state in ('planned', 'queued')
    and new.state in ('held', 'withdrawn') then
    new.reason := 'it was to be sent again, but: '
      || coalesce(new.hold_reason, new.reason, 'no reason');
    new.state := 'unknown';
    new.hold_reason := null;
    new.settled_at := null;
    new.settled_run_id := null;
  end if;
  return new;
end $$;
-- Its name puts it before the guards, which see what it has made of the row.
create trigger back_to_unknown before update of state on tieout.instructions
  for each row when (old.state = 'unknown' or old.resends > 0)
  execute function tieout.back_to_unknown();

-- Pulled and let go, each time a row of its own: who, when, why. `brake`: by a person; `freeze`: by
-- tieout, because the database and the journals of permits do not agree; `breaker`: that of an
-- account, let go by a person before its time. No account: all of them.
create table tieout.brakes (
  seq bigint generated always as identity primary key,
  kind text not null check (kind in ('brake', 'freeze', 'breaker')),
  account_id text collate "C",
  is_on boolean not null,
  reason text not null check (btrim(reason) <> ''),
  by text not null check (btrim(by) <> ''),
  -- a name that nobody checked: given on a command line
  is_claim boolean not null,
  at timestamptz not null default clock_timestamp(),
  -- what tieout found, for the person who looks into it
  found jsonb
);

create function tieout.guard_brake() returns trigger language plpgsql as $$
begin
  raise exception 'what stopped the sending, and when, is history'
    using errcode = 'check_violation';
end $$;
create trigger guard_brake before update or delete on tieout.brakes
  for each row execute function tieout.guard_brake();

-- What holds now: the newest word on each, where that word is "on".
create view tieout.standing_brakes as
  select * from (
    select distinct on (kind, account_id) * from tieout.brakes order by kind, account_id, seq desc
  ) newest
  where is_on;

-- Down Migration
drop view tieout.standing_brakes;
drop table tieout.brakes;
drop trigger guard_batch on tieout.batches;
drop trigger guard_sending on tieout.run_accounts;
drop function tieout.guard_brake(), tieout.guard_batch(), tieout.guard_sending();
drop trigger back_to_unknown on tieout.instructions;
drop function tieout.back_to_unknown();
alter table tieout.instructions drop resends;
alter table tieout.attempts drop sending_run_id, drop is_sender_gone, drop journal_id;
drop table tieout.journals;
alter table tieout.run_accounts drop sending, drop canary_batch_id, drop unclean_batches,
  drop sending_reason;
