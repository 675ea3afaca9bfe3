-- The lines of a file of disputes, as they were read.
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  account_id text collate "C" not null,
  dispute_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C",
  currency text not null,
  amount numeric(20, 2) not null,
  stage text not null,
  at timestamptz not null
) on commit drop
