-- A page of the lines of one item of a written statement, with the owner of today of each break.
-- $1 report, $2 account, $3 currency, $4 item, $5 rows, $6 rows before.
select l.order_no as "orderNo", l.break_id::text as "breakId",
  l.instruction_id::text as "instructionId", l.since, b.owner,
  round(l.ledger_captured, 2)::text as "ledgerCaptured",
  round(l.gateway_captured, 2)::text as "gatewayCaptured",
  round(l.ledger_refunded, 2)::text as "ledgerRefunded",
  round(l.gateway_refunded, 2)::text as "gatewayRefunded",
  round(coalesce(l.gateway_captured, 0) - coalesce(l.ledger_captured, 0), 2)::text as captured,
  round(coalesce(l.gateway_refunded, 0) - coalesce(l.ledger_refunded, 0), 2)::text as refunded,
  round(l.moved_captured, 2)::text as "movedCaptured",
  round(l.moved_refunded, 2)::text as "movedRefunded"
from (
  select * from tieout.written_lines
  where report_id = $1 and account_id = $2 and currency = $3 and item = $4
  order by line_no limit $5 offset $6
) l
left join tieout.breaks b using (break_id)
order by l.line_no
