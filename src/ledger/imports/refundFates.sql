-- What becomes of each line of a file of refund requests. A column that the line does not have
-- keeps what the ledger holds.
create temp table import_fate on commit drop as
select file_no, line_no, account_id, refund_id, order_no, refund_amount, reason, requested_by,
  requested_at, held_amount, held_order_no, held_requested_at,
  case
    when held_amount is null then 'inserted'
    when (order_no, refund_amount, reason, requested_by, requested_at)
      is not distinct from
      (held_order_no, held_amount, held_reason, held_requested_by, held_requested_at)
      then 'unchanged'
    else 'updated'
  end as fate
from (
  select l.file_no, l.line_no, l.account_id, l.refund_id, l.order_no, l.refund_amount,
    case when l.given & 1 = 0 then r.reason else l.reason end as reason,
    case when l.given & 2 = 0 then r.requested_by else l.requested_by end as requested_by,
    -- the first time told stays: one that counts as history is not made younger
    least(l.requested_at, r.requested_at) as requested_at,
    r.order_no as held_order_no, r.refund_amount as held_amount, r.reason as held_reason,
    r.requested_by as held_requested_by, r.requested_at as held_requested_at
  from import_line l
  left join ledger.refund_requests r
    on r.account_id = l.account_id and r.refund_id = l.refund_id
) merged
