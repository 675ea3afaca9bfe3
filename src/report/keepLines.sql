-- The lines of the statement of a workbook, as it has them. $1 report, $2 json.
insert into tieout.written_lines (report_id, account_id, currency, item, line_no, order_no,
  break_id, instruction_id, since, ledger_captured, gateway_captured, ledger_refunded,
  gateway_refunded, moved_captured, moved_refunded)
select $1::bigint, "accountId", coalesce(currency, ''), item, "lineNo", "orderNo", "breakId",
  "instructionId", since, "ledgerCaptured", "gatewayCaptured", "ledgerRefunded", "gatewayRefunded",
  "movedCaptured", "movedRefunded"
from jsonb_to_recordset($2::jsonb) as l ("accountId" text, currency text, item text,
  "lineNo" integer, "orderNo" text, "breakId" bigint, "instructionId" bigint, since timestamptz,
  "ledgerCaptured" numeric, "gatewayCaptured" numeric, "ledgerRefunded" numeric,
  "gatewayRefunded" numeric, "movedCaptured" numeric, "movedRefunded" numeric)
