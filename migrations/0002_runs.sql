-- Up Migration
-- A run is the work for one business date; a pull is one observation of a set of orders, ledger and
-- gateway side by side. Orders are written once a pull by COPY or INSERT ... SELECT and never
-- updated: what a run saw stays what it saw.
create schema tieout;

create table tieout.runs (
  run_id bigint generated always as identity primary key,
  business_date date not null,
  -- a dry run leaves no trace but this row while it works; it is deleted at the end
  is_dry boolean not null default false,
  covers date[] not null check (cardinality(covers) > 0),
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  state text not null check (state in ('running', 'tied_out', 'broken', 'incomplete', 'failed')),
  environment text not null,
  settings jsonb not null,
  settings_sha256 text not null,
  version text not null,
  -- who works on it now; a second starter of the same date joins while this process lives
  runner_id uuid,
  runner_host text,
  runner_boot text,
  runner_pid int,
  runner_started text,
  heartbeat_at timestamptz,
  created_at timestamptz not null,
  as_of timestamptz,
  finished_at timestamptz,
  failure text,
  summary jsonb,
  check ((state = 'running') = (runner_id is not null)),
  check (state in ('running', 'failed') or (finished_at is not null and summary is not null))
);
create unique index runs_by_date on tieout.runs (business_date) where not is_dry;

create table tieout.run_accounts (
  run_id bigint not null references tieout.runs on delete cascade,
  account_id text collate "C" not null,
  business_date date not null,
  merchant_id text not null,
  -- why nothing of this account is sent; null: it may send
  send_block text check (send_block in ('observed', 'no_history')),
  state text not null check (state in ('running', 'tied_out', 'broken', 'incomplete', 'failed')),
  -- breaks open after the run before, and the last event that run had counted
  open_before jsonb not null default '{}',
  events_after bigint not null default 0,
  open_after jsonb,
  -- the same in money, by currency
  stake_before jsonb not null default '{}',
  stake_after jsonb,
  events_until bigint,
  -- instructions open before this run began, by operation
  carried jsonb not null default '{}',
  -- the newest look at all live orders of the account, and the time of it
  pull_id bigint,
  as_of timestamptz,
  primary key (run_id, account_id)
);
create index run_accounts_newest on tieout.run_accounts (account_id, business_date);

create table tieout.pulls (
  pull_id bigint generated always as identity primary key,
  run_id bigint not null references tieout.runs on delete cascade,
  -- night: all live orders; confirm: what was sent; fresh: before a late send
  kind text not null check (kind in ('night', 'confirm', 'fresh')),
  as_of timestamptz not null,
  finished_at timestamptz,
  -- orders without any row in tieout.verdicts, as counted by the statement that compared
  matched jsonb
);
create index pulls_by_run on tieout.pulls (run_id);

-- Why a ledger row cannot be used; null: it can. The ledger may be a view, so that nothing of what
-- our own table checks can be relied on. `currencies` are those that hundredths can express,
-- `whole` those of them without decimals.
create function tieout.ledger_problem(currency text, amount numeric, expected text,
  capture_amount numeric, review_decision text, placed_at timestamptz, currencies text[],
  whole text[])
returns text language sql immutable as $$
  select case
    when amount is null or not (amount > 0 and amount < 1e18) then 'its amount is not above zero'
    when amount <> round(amount, 2) then 'its amount has more than two decimals'
    when currency is null or not currency = any (currencies)
      then 'its currency is unknown, or has more than two decimals and is not in the profile'
    when currency = any (whole) and amount <> trunc(amount) then 'its currency has no decimals'
    when expected is null or expected not in ('authorised', 'captured', 'cancelled', 'declined')
      then 'what it expects is no known state'
    when not coalesce(capture_amount > 0 and capture_amount <= amount
      and capture_amount = round(capture_amount, 2), true)
      then 'its capture_amount is not within its amount'
    when review_decision not in ('accept', 'reject')
      then 'its review_decision is neither accept nor reject'
    when placed_at is null then 'it has no placed_at'
  end
$$;

-- The ledger row of each order of a pull, as it stood then, and the page it is asked in.
create table tieout.asked_orders (
  pull_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  -- null: cannot be asked for (its number contains the separator), or came without being asked
  page_no int,
  in_ledger boolean not null,
  currency text,
  amount numeric(20, 2),
  expected text,
  transaction_id text collate "C",
  capture_amount numeric(20, 2),
  review_decision text,
  placed_at timestamptz,
  -- why the ledger row cannot be compared (tieout.ledger_problem); null: it can
  ledger_problem text,
  primary key (pull_id, account_id, order_no)
);

create table tieout.chunks (
  chunk_id bigint generated always as identity primary key,
  pull_id bigint not null references tieout.pulls on delete cascade,
  account_id text collate "C" not null,
  first_page int not null,
  last_page int not null check (last_page >= first_page),
  state text not null default 'queued' check (state in ('queued', 'running', 'done')),
  token uuid,
  leased_until timestamptz,
  -- how often working on it failed for a reason of our own
  tries int not null default 0,
  check ((state = 'running') = (token is not null and leased_until is not null))
);
create index chunks_by_pull on tieout.chunks (pull_id);

create table tieout.pages (
  pull_id bigint not null,
  account_id text collate "C" not null,
  page_no int not null,
  -- not a page of the gateway: says whether a walk through all pages came to its end
  stands_for_walk boolean not null default false,
  state text not null check (state in ('answered', 'failed')),
  orders int not null,
  entries int,
  unasked int,
  attempts int not null,
  reason text,
  answered_at timestamptz,
  body_gzip bytea,
  body_sha256 bytea,
  primary key (pull_id, account_id, page_no),
  check ((state = 'answered') = (answered_at is not null and entries is not null)),
  check ((state = 'failed') = (reason is not null))
);
-- The bodies are compressed already.
alter table tieout.pages alter column body_gzip set storage external;

-- One row an entry of an answer. `extra`: not the one entry its page was asked for: a second entry
-- of the same order, or one that nobody asked for. Plain orders join one to one on the rest.
create table tieout.look_entries (
  pull_id bigint not null,
  account_id text collate "C" not null,
  page_no int not null,
  position int not null,
  order_no text collate "C" not null,
  is_extra boolean not null,
  is_asked boolean not null,
  transaction_id text collate "C",
  currency text,
  amount numeric(20, 2),
  amount_text text,
  state text,
  payment_status text,
  found boolean not null,
  query_result text,
  transaction_at timestamptz,
  transaction_date text,
  reference_no text,
  fraud_rejected boolean not null
);
create unique index look_entries_plain
  on tieout.look_entries (pull_id, account_id, order_no) where not is_extra;
create index look_entries_extra
  on tieout.look_entries (pull_id, account_id, order_no) where is_extra;

-- What is not plainly matched. An order of the pull without a row here was compared and matched.
create table tieout.verdicts (
  run_id bigint not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  pull_id bigint not null,
  in_ledger boolean not null,
  not_compared text check (not_compared in
    ('no_look', 'contradictory', 'query_result', 'separator')),
  kinds text[] not null,
  need text check (need in ('capture', 'cancel', 'refund', 'review')),
  awaited boolean not null,
  tolerated boolean not null,
  -- what the compare had before it, for the sentence of a break and for planning
  transaction_id text collate "C",
  gateway_state text,
  gateway_currency text,
  gateway_amount numeric(20, 2),
  gateway_amount_text text,
  payment_status text,
  ledger_problem text,
  expected text,
  ledger_currency text,
  ledger_amount numeric(20, 2),
  need_amount numeric(20, 2),
  refund_id text collate "C",
  refund_amount numeric(20, 2),
  completes boolean,
  review_decision text,
  -- filled when the run is classified
  class text check (class in
    ('notCompared', 'broken', 'due', 'awaited', 'explained', 'matched')),
  primary key (run_id, account_id, order_no),
  check (need is null or (transaction_id is not null and need_amount is not null)),
  check (not_compared is null or (cardinality(kinds) = 0 and need is null))
);

-- Orders that need no further look: final, and older than the look-back. The fingerprint is of the
-- ledger row, so that a change brings the order back.
create table tieout.final_orders (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  fingerprint text not null,
  run_id bigint not null,
  primary key (account_id, order_no)
);

-- One bucket a merchant, shared by all workers: the next request may start at free_at. Not logged:
-- nothing of it is worth keeping longer than a second.
create unlogged table tieout.rate_buckets (
  merchant_id text primary key,
  free_at timestamptz not null
);

-- Down Migration
drop schema tieout cascade;
