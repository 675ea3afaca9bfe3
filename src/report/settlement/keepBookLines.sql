-- The lines of what is not settled of a workbook, as it has them. $1 report, $2 json.
insert into tieout.written_book_lines (report_id, account_id, currency, item, line_no, order_no,
  transaction_id, batch, break_id, since, captured, refunded)
select $1::bigint, "accountId", currency, item, "lineNo", "orderNo", "transactionId", batch,
  "breakId", since, captured, refunded
from jsonb_to_recordset($2::jsonb) as l ("accountId" text, currency text, item text,
  "lineNo" integer, "orderNo" text, "transactionId" text, batch text, "breakId" bigint,
  since date, captured numeric, refunded numeric)
