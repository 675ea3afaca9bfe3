-- Orders with a refund of which nobody knew the amount at the end of a business date, by account:
-- those that day_sums counts as in suspense. Looked for on the dates alone that have any, and among
-- amounts that became unknown again. $1 accounts, $2 business date, $3 orders named at most.
with again as materialized (
  select movement_id from tieout.movement_amounts where suspense > 0
),
candidate as (
  select m.movement_id, m.account_id, m.order_no, m.amount
  from tieout.day_sums s
  join tieout.movements m on m.account_id = s.account_id and m.business_date = s.posted_to
  where s.account_id = any ($1::text[]) and s.operation = 'suspense' and s.posted_to <= $2::date
    and m.amount is null and not m.is_history
  union
  select m.movement_id, m.account_id, m.order_no, m.amount
  from again join tieout.movements m using (movement_id)
  where m.account_id = any ($1) and m.business_date <= $2 and not m.is_history
)
select c.account_id as "accountId",
  (array_agg(c.order_no order by c.order_no, c.movement_id))[1:$3::int] as "orderNos"
from candidate c
left join lateral (
  select sum(a.suspense) as change from tieout.movement_amounts a
  where a.movement_id = c.movement_id and a.business_date <= $2
) later on true
where (c.amount is null)::int + coalesce(later.change, 0) > 0
group by c.account_id
