-- Room for the orders that do not match at a glance: the ledger row, whether its page was answered,
-- and the one entry it was asked for. glance.sql fills it, compare.sql reads it.
create temp table if not exists beside (
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  page_no int,
  in_ledger boolean not null,
  ledger_currency text,
  ledger_amount numeric(20, 2),
  expected text,
  named text collate "C",
  capture_amount numeric(20, 2),
  review_decision text,
  placed_at timestamptz,
  ledger_problem text,
  is_answered boolean not null,
  has_entry boolean not null,
  transaction_id text collate "C",
  currency text,
  amount numeric(20, 2),
  amount_text text,
  state text,
  payment_status text,
  is_found boolean,
  query_result text,
  transaction_at timestamptz,
  transaction_date text
) on commit drop;
truncate pg_temp.beside
