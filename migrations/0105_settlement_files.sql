-- Up Migration
-- What the acquirer says became of the captured money: the lines of its settlement files, batch by
-- batch, as they were taken. A batch comes whole in one file and is never changed; what was taken
-- stays as it is.
create table tieout.settlement_files (
  file_id bigint generated always as identity primary key,
  name text not null,
  -- of its bytes, and of the map that it was read through
  sha256 text not null,
  map_sha256 text not null,
  -- whose lines were taken from it
  accounts text[] collate "C" not null,
  batches bigint not null check (batches > 0),
  lines bigint not null check (lines > 0),
  -- by settle currency: what the lines that were taken come to
  totals jsonb not null,
  imported_at timestamptz not null default clock_timestamp()
);

create table tieout.settlement_batches (
  account_id text collate "C" not null,
  batch text collate "C" not null,
  -- what the acquirer settles in; a batch in several has a row for each
  currency text collate "C" not null,
  file_id bigint not null references tieout.settlement_files (file_id),
  lines bigint not null check (lines > 0),
  gross numeric not null,
  fees numeric not null,
  -- what leaves the acquirer's account for ours; of a batch without such a line its sum
  payout numeric not null,
  has_payout boolean not null,
  first_booked_at timestamptz not null,
  last_booked_at timestamptz not null,
  -- of its lines, whatever their order
  digest text not null,
  primary key (account_id, batch, currency)
);

create table tieout.settlement_lines (
  settlement_line_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  batch text collate "C" not null,
  -- the acquirer's, else the line's number within the batch
  line_id text collate "C" not null,
  -- in the file
  line_no bigint not null,
  type text not null check (type in ('captured', 'refunded', 'chargeback', 'chargeback_reversed',
    'fee', 'reserve', 'carried', 'adjustment', 'payout')),
  booked_at timestamptz not null,
  order_no text collate "C",
  transaction_id text collate "C",
  reference text collate "C",
  -- as the order was charged
  currency text collate "C" not null,
  amount numeric(20, 2) not null,
  settle_currency text collate "C" not null,
  gross numeric(20, 2) not null,
  fee numeric(20, 2) not null,
  net numeric(20, 2) not null check (net = gross - fee),
  -- Both are written by one statement: to look the batch up for each line took longer than the
  -- rest.
  unique (account_id, batch, line_id)
);
create index settlement_lines_by_order on tieout.settlement_lines (account_id, order_no);
create index settlement_lines_by_transaction
  on tieout.settlement_lines (account_id, transaction_id);

create function tieout.guard_settlement() returns trigger language plpgsql as $$
begin
  raise exception '%: what the acquirer said is history', tg_table_name
    using errcode = 'check_violation';
end $$;
create trigger guard_settlement before update or delete on tieout.settlement_files
  for each statement execute function tieout.guard_settlement();
create trigger guard_settlement before update or delete on tieout.settlement_batches
  for each statement execute function tieout.guard_settlement();
create trigger guard_settlement before update or delete on tieout.settlement_lines
  for each statement execute function tieout.guard_settlement();

-- Down Migration
drop table tieout.settlement_lines;
drop table tieout.settlement_batches;
drop table tieout.settlement_files;
drop function tieout.guard_settlement();
