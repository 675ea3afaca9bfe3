-- Up Migration
-- What is to be told to the world outside: a row commits together with what it tells, so that
-- nothing that happened is left untold and nothing is told that did not happen. Delivered at least
-- once. It decides nothing, is no part of the chain, and is deleted when it is old.
create table tieout.outbox (
  message_id uuid primary key default gen_random_uuid(),
  seq bigint generated always as identity,
  -- webhook: notify.webhook; switch: notify.deadMansSwitch, which is only pinged
  channel text not null check (channel in ('webhook', 'switch')),
  event text not null check (event in
    ('night_finished', 'night_did_not_start', 'unknown_waits', 'job_failed')),
  -- what it is about: a business date, an account, a queue
  subject text collate "C" not null,
  -- of what is told; the same is not told again right after itself
  fingerprint text not null,
  -- the instruction events it tells of
  about bigint[] not null default '{}',
  body jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  tries int not null default 0,
  -- while a process is at it, until that one is given up
  next_try_at timestamptz not null default clock_timestamp(),
  problem text,
  ended_at timestamptz,
  check ((state = 'waiting') = (ended_at is null))
);
create index outbox_waiting on tieout.outbox (next_try_at) where state = 'waiting';
create index outbox_by_subject on tieout.outbox (event, subject, seq);

-- Down Migration
drop table tieout.outbox;
