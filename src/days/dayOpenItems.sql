-- What is open of an account right now: breaks that nobody settled, with what is at stake now, as
-- the checklist sums it; instructions that have not come to an end. $1 account, $2 how many of them
-- are named at most; `total` counts all.
select *, count(*) over ()::int as total
from (
  select 'break' as what, order_no, kind as detail, currency, round(stake, 2)::text as amount,
    first_seen as since, owner
  from tieout.break_facts where account_id = $1 and state = 'open'
  union all
  select 'instruction', order_no, operation || ' ' || state, currency,
    case when is_in_totals then coalesce(refund_amount, amount)::text end, created_at, null
  from tieout.instructions
  where account_id = $1 and is_open
) as open
order by since, order_no, detail
limit $2::int
