-- Of each order that does not match by the fast match, its ledger row and its entry side by side, until
-- the transaction ends; and by account the number of those that do. What the number of an account
-- stands on says fastMatch.sql, which fills it.
create temp table unmatched (
  account_id text collate "C",
  matched bigint,
  order_no text collate "C",
  page_no int,
  in_ledger boolean,
  ledger_currency text,
  ledger_amount numeric(20, 2),
  expected text,
  named text collate "C",
  capture_amount numeric(20, 2),
  review_decision text,
  placed_at timestamptz,
  ledger_problem text,
  is_answered boolean,
  has_entry boolean,
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
) on commit drop
