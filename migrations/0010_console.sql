-- Up Migration
-- Who may use the web console, who is signed in, and what was done there. No secret is stored: a
-- password as its scrypt hash, a session and a one-time link as the digest of what the browser
-- holds.
create table tieout.users (
  user_id bigint generated always as identity primary key,
  name text not null,
  name_key text not null generated always as (lower(name)) stored unique,
  -- null until the person has chosen one by a one-time link
  password_hash text,
  state text not null check (state in ('active', 'disabled')),
  created_at timestamptz not null,
  created_by text not null
);

-- What a person may do, for one account or (null) for all of them.
create table tieout.user_roles (
  user_id bigint not null references tieout.users,
  role text not null check (role in ('viewer', 'finance', 'operator', 'approver', 'admin')),
  account_id text collate "C"
);
create unique index user_roles_once
  on tieout.user_roles (user_id, role, coalesce(account_id, ''));

-- A link that works once: it makes the first administrator (user_id null) or sets a password.
create table tieout.sign_in_links (
  link_sha256 bytea primary key,
  user_id bigint references tieout.users,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table tieout.sessions (
  session_sha256 bytea primary key,
  user_id bigint not null references tieout.users,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  -- when the person last gave the password; approvals ask for a recent one
  confirmed_at timestamptz not null,
  address text not null
);
create index sessions_by_user on tieout.sessions (user_id);

-- Sign-ins of the last while that did not succeed, by the name that was tried and the address.
-- Written before the password is checked, so that guessing in parallel is counted too.
create table tieout.sign_in_failures (
  failure_id bigint generated always as identity primary key,
  at timestamptz not null,
  name_key text not null,
  address text not null
);
create index sign_in_failures_by_name on tieout.sign_in_failures (name_key, at);
create index sign_in_failures_by_address on tieout.sign_in_failures (address, at);

-- What people did in the console: sign-ins, downloads, decisions. Append-only.
create table tieout.console_events (
  event_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  who text not null,
  action text not null,
  account_id text collate "C",
  subject text not null default '',
  outcome text not null,
  address text not null
);
create index console_events_by_subject on tieout.console_events (action, subject);

create function tieout.guard_console_event() returns trigger language plpgsql as $$
begin
  raise exception 'what was done in the console is history' using errcode = 'check_violation';
end $$;
create trigger guard_console_event before update or delete on tieout.console_events
  for each row execute function tieout.guard_console_event();

-- The lists of the console: open breaks by age, and the nights of an account.
create index breaks_by_age on tieout.breaks (first_seen, break_id) where state = 'open';

-- Down Migration
drop index tieout.breaks_by_age;
drop table tieout.console_events, tieout.sign_in_failures, tieout.sessions, tieout.sign_in_links,
  tieout.user_roles, tieout.users;
drop function tieout.guard_console_event();
