-- Up Migration
-- Is the ledger whole? Control totals that the merchant's own feed may leave beside it, what came
-- of comparing them, and what changed in the ledger from one look to the next.
create table ledger.control_totals (
  account_id text collate "C" not null,
  business_date date not null,
  currency text not null,
  -- orders placed on the date, and the sum of their amounts
  count bigint,
  amount numeric(20, 2),
  -- when the feed had brought all of them; null: not yet
  complete_at timestamptz,
  primary key (account_id, business_date, currency)
);

create table tieout.feed_checks (
  run_id bigint not null references tieout.runs on delete cascade,
  account_id text collate "C" not null,
  business_date date not null,
  -- empty: nothing at all is stated of the date
  currency text not null,
  verdict text not null check (verdict in ('equal', 'absent', 'unfinished', 'different')),
  stated_count bigint,
  stated_amount numeric,
  ledger_count bigint not null,
  ledger_amount numeric not null,
  checked_at timestamptz not null,
  primary key (run_id, account_id, business_date, currency)
);

-- Only rows that changed or left; the others stand in asked_orders as they were.
create table tieout.ledger_changes (
  run_id bigint not null references tieout.runs on delete cascade,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  kind text not null check (kind in ('changed', 'left')),
  before jsonb not null,
  after jsonb,
  noted_at timestamptz not null,
  primary key (account_id, order_no, run_id),
  check ((kind = 'left') = (after is null))
);
create index ledger_changes_by_run on tieout.ledger_changes (run_id);

-- Down Migration
drop table tieout.ledger_changes, tieout.feed_checks, ledger.control_totals;
