-- Up Migration
-- A break is one row an order and kind for life; what happened to it is in break_events,
-- append-only.
create table tieout.breaks (
  break_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  kind text not null check (kind in ('missing_at_gateway', 'missing_in_ledger', 'amount_mismatch',
    'currency_mismatch', 'state_mismatch', 'transaction_mismatch', 'duplicate_transaction',
    'refund_mismatch', 'stale_authorisation', 'unknown_status', 'invalid_record',
    'instruction_rejected', 'outcome_unknown')),
  state text not null check (state in ('open', 'resolved', 'waived')),
  first_seen timestamptz not null,
  first_run_id bigint not null,
  last_run_id bigint not null,
  -- expected and actual as the compare saw them, and a digest of both: a waived break reopens
  -- when it changes
  expected jsonb not null,
  actual jsonb not null,
  fingerprint text not null,
  -- the money at stake when it opened or reopened; it stays, so that the open items tie in money
  currency text,
  amount numeric(20, 2),
  owner text,
  note text,
  waived_reason text,
  unique (account_id, order_no, kind),
  check (state <> 'waived' or waived_reason is not null)
);
create index breaks_open on tieout.breaks (account_id, order_no) where state <> 'resolved';

create table tieout.break_events (
  event_id bigint generated always as identity primary key,
  break_id bigint not null references tieout.breaks,
  run_id bigint,
  at timestamptz not null,
  event text not null check (event in ('opened', 'reopened', 'resolved', 'waived', 'changed')),
  -- what it was before: a waived break that resolves was not open, and does not count as resolved
  from_state text check (from_state in ('open', 'resolved', 'waived')),
  by text not null,
  reason text,
  -- the money at stake that this event opens or closes
  currency text,
  amount numeric(20, 2),
  expected jsonb not null,
  actual jsonb not null
);
create index break_events_by_break on tieout.break_events (break_id);

create table tieout.reports (
  report_id bigint generated always as identity primary key,
  run_id bigint not null references tieout.runs,
  kind text not null check (kind in ('reconciliation', 'orders')),
  format text not null check (format in ('xlsx', 'csv', 'ndjson')),
  revision int not null check (revision > 0),
  state text not null check (state in ('queued', 'written', 'failed')),
  created_at timestamptz not null,
  written_at timestamptz,
  path text,
  sha256 text,
  bytes bigint,
  reason text,
  unique (run_id, kind, format, revision),
  check ((state = 'written')
    = (path is not null and sha256 is not null and written_at is not null)),
  check (state <> 'failed' or reason is not null)
);

-- Down Migration
drop table tieout.reports, tieout.break_events, tieout.breaks;
