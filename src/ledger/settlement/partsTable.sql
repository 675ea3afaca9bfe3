-- Parts of batches, as they were added up while the lines went by.
create temp table settlement_parts (
  account_id text collate "C", batch text collate "C", currency text collate "C", type text,
  file_no int, last_file_no int, line_no bigint, last_line_no bigint, lines bigint,
  amount numeric, gross numeric, fee numeric, net numeric,
  first_booked_at timestamptz, last_booked_at timestamptz, history bigint, ahead bigint
) on commit drop
