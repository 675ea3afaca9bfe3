-- The breaks of settlement that are open or waived now and that a run up to this business date
-- began, oldest first. $1 accounts, $2 date.
select b.account_id, b.order_no, b.kind, b.state, b.first_seen, b.owner, b.note, b.expected,
  b.actual, b.currency,
  -- what its sentence tells of today, as in every list of breaks
  round(coalesce(tieout.break_money(b.kind, b.currency, b.expected, b.actual), b.amount), 2)::text
    as stake,
  case b.state when 'waived' then b.waived_reason end as waived_reason
from tieout.breaks b
join tieout.runs r on r.run_id = b.first_run_id
where b.account_id = any ($1) and b.state <> 'resolved' and tieout.is_settlement_kind(b.kind)
  and r.business_date <= $2
order by b.first_seen, b.account_id, b.order_no, b.kind
