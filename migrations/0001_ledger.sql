-- Up Migration
-- The merchant's record of orders (CONTRACT section 4). tieout reads these relations and writes to
-- them only in `tieout import`; a merchant may replace each table by a view of the same columns, so
-- nothing in schema tieout refers to them by a foreign key.
create schema ledger;

create table ledger.orders (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- below 1e18 also refuses NaN and infinity, which sort above every number
  amount numeric(20, 2) not null check (amount > 0 and amount < 1e18),
  expected text not null check (expected in ('authorised', 'captured', 'cancelled', 'declined')),
  transaction_id text collate "C",
  capture_amount numeric(20, 2) check (capture_amount > 0 and capture_amount <= amount),
  review_decision text check (review_decision in ('accept', 'reject')),
  placed_at timestamptz not null,
  updated_at timestamptz,
  primary key (account_id, order_no)
);

create table ledger.refund_requests (
  account_id text collate "C" not null,
  refund_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_amount numeric(20, 2) not null check (refund_amount > 0 and refund_amount < 1e18),
  reason text,
  requested_by text,
  requested_at timestamptz not null,
  primary key (account_id, refund_id)
);
create index refund_requests_by_order on ledger.refund_requests (account_id, order_no);

create table ledger.payout_requests (
  request_id uuid primary key,
  account_id text collate "C" not null,
  payload jsonb not null,
  requested_at timestamptz not null
);

-- Down Migration
drop schema ledger cascade;
