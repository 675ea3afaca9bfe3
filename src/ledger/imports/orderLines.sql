-- The lines of files of orders. Collations as in the ledger, or the two could not be compared.
-- `given` has a bit for each nullable column of the line.
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  currency text not null,
  amount numeric(20, 2) not null,
  expected text not null,
  transaction_id text collate "C",
  capture_amount numeric(20, 2),
  review_decision text,
  placed_at timestamptz not null,
  updated_at timestamptz
) on commit drop
