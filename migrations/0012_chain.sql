-- Up Migration
-- The chain. A link holds the digest of a set of facts and the digest of the link before it, one
-- chain an account; the chain of the empty account holds what belongs to no single one. Facts are
-- marked with their link when they are sealed; what has none is not sealed yet.
create table tieout.chain_links (
  account_id text collate "C" not null,
  link_no bigint not null check (link_no > 0),
  link_id bigint not null unique,
  business_date date not null,
  what text collate "C" not null,
  facts bigint not null check (facts > 0),
  facts_sha256 text not null,
  previous_sha256 text not null,
  sha256 text not null,
  sealed_at timestamptz not null default clock_timestamp(),
  primary key (account_id, link_no)
);
create sequence tieout.chain_link_ids;
create table tieout.chain_heads (
  account_id text collate "C" primary key,
  link_no bigint not null default 0,
  sha256 text not null default ''
);
create table tieout.look_links (
  pull_id bigint not null,
  account_id text collate "C" not null,
  link_id bigint not null,
  primary key (pull_id, account_id)
);
create index look_links_by_link on tieout.look_links (link_id);

alter table tieout.instruction_events add column link_id bigint;
alter table tieout.attempts add column link_id bigint;
alter table tieout.answers add column link_id bigint;
alter table tieout.break_events add column link_id bigint;
alter table tieout.reports add column link_id bigint;
alter table tieout.decisions add column link_id bigint;
alter table tieout.brakes add column link_id bigint;
do $$
declare fact text;
begin
  foreach fact in array array['instruction_events', 'attempts', 'answers', 'break_events',
    'decisions', 'brakes', 'day_movements', 'day_events', 'reports', 'profiles',
    'run_settings', 'run_ends', 'workings'] loop
    execute format('create index %I on tieout.%I (link_id)', fact || '_by_link', fact);
  end loop;
end $$;

-- A fact never changes; the one thing written later, once, is the link that seals it.
create function tieout.guard_fact() returns trigger language plpgsql as $$
declare
  probe record;
begin
  if tg_op = 'UPDATE' then
    probe := new;
    probe.link_id := old.link_id;
    if old.link_id is null and probe is not distinct from old then
      return new;
    end if;
  end if;
  raise exception '%: what was recorded is history', tg_table_name
    using errcode = 'check_violation';
end $$;
create trigger guard_fact before update or delete on tieout.instruction_events
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.answers
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.break_events
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.profiles
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.run_settings
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.run_ends
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.workings
  for each row execute function tieout.guard_fact();
drop trigger guard_decision on tieout.decisions;
create trigger guard_decision before insert on tieout.decisions
  for each row execute function tieout.guard_decision();
create trigger guard_fact before update or delete on tieout.decisions
  for each row execute function tieout.guard_fact();
drop trigger guard_brake on tieout.brakes;
create trigger guard_fact before update or delete on tieout.brakes
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.day_movements
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.day_events
  for each row execute function tieout.guard_fact();
-- Attempts and reports are finished after they were begun; once sealed they are facts.
create trigger guard_fact before update or delete on tieout.reports
  for each row when (old.link_id is not null) execute function tieout.guard_fact();
drop trigger guard_attempt on tieout.attempts;
create trigger guard_attempt before update on tieout.attempts
  for each row when (new.link_id is not distinct from old.link_id)
  execute function tieout.guard_attempt();
create trigger guard_attempt_kept before delete on tieout.attempts
  for each row execute function tieout.guard_attempt();
create trigger guard_fact before update on tieout.attempts
  for each row when (new.link_id is distinct from old.link_id)
  execute function tieout.guard_fact();

create function tieout.guard_history() returns trigger language plpgsql as $$
begin
  raise exception '%: what was recorded is history', tg_table_name
    using errcode = 'check_violation';
end $$;
-- What was to be moved once stays on record, as its moves and outcomes do.
create trigger guard_history before delete or truncate on tieout.instructions
  for each statement execute function tieout.guard_history();
create trigger guard_history before update or delete on tieout.chain_links
  for each row execute function tieout.guard_history();
create trigger guard_history before update or delete on tieout.look_links
  for each row execute function tieout.guard_history();
create trigger guard_history before update or delete on tieout.carried_breaks
  for each row execute function tieout.guard_history();

-- What looks brought is written by the million, so it is guarded by the statement. It may be
-- deleted until it is sealed (a dry run, a walk that begins again), and never changed.
create function tieout.guard_look() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct pull_id, account_id from gone) as look
    join tieout.look_links using (pull_id, account_id)
  ) then
    raise exception '%: what was recorded is history', tg_table_name
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
do $$
declare looked text;
begin
  foreach looked in array array['asked_orders', 'asked_refunds', 'pages', 'look_entries'] loop
    execute format('create trigger guard_history before update or truncate on tieout.%I
      for each statement execute function tieout.guard_history()', looked);
    execute format('create trigger guard_look after delete on tieout.%I
      referencing old table as gone for each statement execute function tieout.guard_look()',
      looked);
  end loop;
end $$;
-- Nor does a straggler add to a look that was sealed.
create trigger guard_look_new after insert on tieout.pages
  referencing new table as gone for each statement execute function tieout.guard_look();

-- Down Migration
drop trigger guard_look_new on tieout.pages;
drop trigger guard_history on tieout.instructions;
drop trigger guard_attempt_kept on tieout.attempts;
drop trigger guard_attempt on tieout.attempts;
do $$
declare name text;
begin
  foreach name in array array['asked_orders', 'pages', 'look_entries'] loop
    execute format('drop trigger guard_history on tieout.%I', name);
    execute format('drop trigger guard_look on tieout.%I', name);
  end loop;
  foreach name in array array['instruction_events', 'attempts', 'answers', 'break_events',
    'decisions', 'brakes', 'reports'] loop
    execute format('drop trigger guard_fact on tieout.%I', name);
    execute format('alter table tieout.%I drop column link_id', name);
  end loop;
end $$;
create trigger guard_attempt before update or delete on tieout.attempts
  for each row execute function tieout.guard_attempt();
drop table tieout.look_links, tieout.chain_heads, tieout.chain_links;
drop sequence tieout.chain_link_ids;
do $$
declare name text;
begin
  foreach name in array array['profiles', 'run_settings', 'run_ends', 'workings', 'day_movements',
    'day_events'] loop
    execute format('drop trigger guard_fact on tieout.%I', name);
    execute format('drop index tieout.%I', name || '_by_link');
  end loop;
  foreach name in array array['asked_refunds', 'carried_breaks'] loop
    execute format('drop trigger guard_history on tieout.%I', name);
  end loop;
end $$;
drop trigger guard_look on tieout.asked_refunds;
create trigger guard_brake before update or delete on tieout.brakes
  for each row execute function tieout.guard_brake();
drop trigger guard_decision on tieout.decisions;
create trigger guard_decision before insert or update or delete on tieout.decisions
  for each row execute function tieout.guard_decision();
drop function tieout.guard_look(), tieout.guard_history(), tieout.guard_fact();
