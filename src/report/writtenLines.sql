-- A page of the lines of one item of a written statement, with the owner of today of each break.
-- What moved after the night and is in that revision stands beside the line that shows the order at
-- the gateway, as in the workbook. $1 report, $2 account, $3 currency, $4 item, $5 rows, $6 rows
-- before.
with moved as materialized (
  select m.order_no,
    round(sum(m.amount) filter (where m.operation = 'capture'), 2)::text as captured,
    round(sum(m.amount) filter (where m.operation = 'refund'), 2)::text as refunded
  from tieout.reports p
  join tieout.runs r using (run_id)
  cross join lateral tieout.moved_after(r.run_id, $2) m
  where p.report_id = $1 and m.belongs_to = r.business_date and m.currency = $3
    and m.posted_at <= least(p.created_at, p.written_at)
  group by m.order_no
)
select l.order_no as "orderNo", l.break_id::text as "breakId",
  l.instruction_id::text as "instructionId", l.since, b.owner,
  round(l.ledger_captured, 2)::text as "ledgerCaptured",
  round(l.gateway_captured, 2)::text as "gatewayCaptured",
  round(l.ledger_refunded, 2)::text as "ledgerRefunded",
  round(l.gateway_refunded, 2)::text as "gatewayRefunded",
  round(coalesce(l.gateway_captured, 0) - coalesce(l.ledger_captured, 0), 2)::text as captured,
  round(coalesce(l.gateway_refunded, 0) - coalesce(l.ledger_refunded, 0), 2)::text as refunded,
  m.captured as "movedCaptured", m.refunded as "movedRefunded"
from (
  select * from tieout.written_lines
  where report_id = $1 and account_id = $2 and currency = $3 and item = $4
  order by line_no limit $5 offset $6
) l
left join tieout.breaks b using (break_id)
left join moved m on m.order_no = l.order_no
  and (l.gateway_captured is not null or l.gateway_refunded is not null)
order by l.line_no
