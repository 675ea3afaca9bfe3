-- What becomes of each line of a file of disputes. A transaction that the line does not have stays
-- as the ledger holds it. $1 whether older lines are taken, too.
create temp table import_fate on commit drop as
select file_no, line_no, account_id, dispute_id, order_no, transaction_id, currency, amount, stage,
  at,
  case
    when held is null then 'inserted'
    when at < (held).at and not $1::boolean then 'skipped'
    when (order_no, transaction_id, currency, amount, stage, at)
      is not distinct from ((held).order_no, (held).transaction_id, (held).currency,
        (held).amount, (held).stage, (held).at)
      then 'unchanged'
    else 'updated'
  end as fate
from (
  select l.file_no, l.line_no, l.account_id, l.dispute_id, l.order_no,
    case when l.given & 1 = 0 then d.transaction_id else l.transaction_id end as transaction_id,
    l.currency, l.amount, l.stage, l.at, case when d.account_id is not null then d end as held
  from import_line l
  left join ledger.disputes d on d.account_id = l.account_id and d.dispute_id = l.dispute_id
) merged
