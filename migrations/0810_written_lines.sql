-- Up Migration
-- The lines of the statement of a workbook as they were written: a night later an instruction is no
-- longer under way and a look may be gone, and the figures of the statement are still their sums.
create table tieout.written_lines (
  report_id bigint not null references tieout.reports on delete cascade,
  account_id text collate "C" not null,
  currency text not null,
  item text not null,
  line_no integer not null,
  order_no text collate "C" not null,
  break_id bigint,
  instruction_id bigint,
  since timestamptz,
  ledger_captured numeric,
  gateway_captured numeric,
  ledger_refunded numeric,
  gateway_refunded numeric,
  primary key (report_id, account_id, currency, item, line_no)
);

-- Down Migration
drop table tieout.written_lines;
