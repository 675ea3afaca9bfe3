-- What becomes of each line of a file of orders. A column that the line does not have keeps what
-- the ledger holds. $1 whether older lines are taken, too.
create temp table import_fate on commit drop as
select file_no, line_no, account_id, order_no, currency, amount, expected, transaction_id,
  capture_amount, review_decision, placed_at, updated_at,
  line_time, held_expected, held_updated_at,
  case
    when held is null then 'inserted'
    when line_time < (held).updated_at and not $1::boolean then 'skipped'
    when (currency, amount, expected, transaction_id, capture_amount, review_decision,
          placed_at, updated_at)
      is not distinct from
      ((held).currency, (held).amount, (held).expected, (held).transaction_id,
       (held).capture_amount, (held).review_decision, (held).placed_at, (held).updated_at)
      then 'unchanged'
    else 'updated'
  end as fate
from (
  select l.file_no, l.line_no, l.account_id, l.order_no, l.currency, l.amount, l.expected,
    case when l.given & 1 = 0 then o.transaction_id else l.transaction_id end as transaction_id,
    case when l.given & 2 = 0 then o.capture_amount else l.capture_amount end as capture_amount,
    case when l.given & 4 = 0 then o.review_decision else l.review_decision end
      as review_decision,
    l.placed_at,
    case when l.given & 8 = 0 then o.updated_at else l.updated_at end as updated_at,
    l.updated_at as line_time, o.expected as held_expected, o.updated_at as held_updated_at,
    case when o.account_id is not null then o end as held
  from import_line l
  left join ledger.orders o on o.account_id = l.account_id and o.order_no = l.order_no
) merged
