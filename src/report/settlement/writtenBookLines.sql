-- A page of the lines of one item of the books of a written statement, with the owner of today of
-- each break. $1 report, $2 account, $3 currency, $4 item, $5 rows, $6 rows before.
select l.order_no as "orderNo", l.transaction_id as "transactionId", l.batch,
  l.break_id::text as "breakId", l.since::text as since, b.owner,
  round(l.captured, 2)::text as captured, round(l.refunded, 2)::text as refunded
from (
  select * from tieout.written_book_lines
  where report_id = $1 and account_id = $2 and currency = $3 and item = $4
  order by line_no limit $5 offset $6
) l
left join tieout.breaks b using (break_id)
order by l.line_no
