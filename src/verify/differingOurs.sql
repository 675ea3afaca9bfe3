-- What a run booked as ours and the business days or instructions say otherwise, or the other way
-- round. $1 run, $2 accounts, $3 how many.
with ours as materialized (
  select * from tieout.movements
  where run_id = $1 and account_id = any ($2) and made = 'here'
),
reached as (
  select account_id, min(day_movement_id) as first, max(day_movement_id) as last
  from ours group by 1
),
posted as (
  select d.movement_id, d.account_id, d.order_no, i.transaction_id, d.currency, d.amount,
    case d.operation when 'capture' then 'captured' else 'refunded' end as kind
  from reached
  join tieout.day_movements d on d.account_id = reached.account_id
    and d.movement_id between reached.first and reached.last
  join tieout.instructions i using (instruction_id)
  where d.operation in ('capture', 'refund')
)
select coalesce(m.account_id, p.account_id) as account_id, coalesce(m.order_no, p.order_no)
    as order_no, 'movement of ours' as what,
  m.kind || ' ' || m.amount || ' ' || m.currency || ' of ' || m.transaction_id as then_value,
  p.kind || ' ' || p.amount || ' ' || p.currency || ' of ' || p.transaction_id as now_value
from ours m
full join posted p on p.movement_id = m.day_movement_id
where (m.order_no, m.transaction_id, m.kind, m.currency, m.amount)
  is distinct from (p.order_no, p.transaction_id, p.kind, p.currency, p.amount)
order by 1, 2
limit $3::int
