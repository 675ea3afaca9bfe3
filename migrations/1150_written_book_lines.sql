-- Up Migration
-- What a workbook lists as not settled, as it was written: the part of the statement that goes on
-- to the settlement is the sum of these lines, and the console lists them, too.
create table tieout.written_book_lines (
  report_id bigint not null references tieout.reports on delete cascade,
  account_id text collate "C" not null,
  currency text not null,
  item text not null,
  line_no integer not null,
  order_no text collate "C",
  transaction_id text collate "C",
  batch text collate "C",
  break_id bigint,
  since date,
  captured numeric not null,
  refunded numeric not null,
  primary key (report_id, account_id, currency, item, line_no)
);

-- Down Migration
drop table tieout.written_book_lines;
