-- The lines of the statement of a run, account by account. What moved of its date after the night
-- stands on the line that shows the order at the gateway, and on no other. $1 run, $2 why an
-- instruction is held that no approval frees.
with account as materialized (
  select * from tieout.run_accounts where run_id = $1::bigint and pull_id is not null
),
moved as materialized (
  select a.account_id, m.order_no, m.currency,
    round(sum(m.amount) filter (where m.operation = 'capture'), 2)::text as captured,
    round(sum(m.amount) filter (where m.operation = 'refund'), 2)::text as refunded
  from account a cross join lateral tieout.moved_after($1, a.account_id) m
  where m.belongs_to = a.business_date
  group by a.account_id, m.order_no, m.currency
)
select l.account_id as "accountId", l.currency, l.order_no as "orderNo",
  case when l.item = 'held' and l.hold_reason = any ($2) then 'kept' else l.item end as item,
  l.break_id::text as "breakId", i.instruction_id::text as "instructionId",
  coalesce(l.first_seen, i.created_at, (
    -- nothing is open about it: since the order is placed
    select o.placed_at from tieout.asked_orders o
    where o.pull_id = a.pull_id and o.account_id = l.account_id and o.order_no = l.order_no
  )) as since, l.owner,
  l.transaction_id as "transactionId",
  round(l.ledger_captured, 2)::text as "ledgerCaptured",
  round(l.gateway_captured, 2)::text as "gatewayCaptured",
  round(l.ledger_refunded, 2)::text as "ledgerRefunded",
  round(l.gateway_refunded, 2)::text as "gatewayRefunded",
  round(coalesce(l.gateway_captured, 0) - coalesce(l.ledger_captured, 0), 2)::text as captured,
  round(coalesce(l.gateway_refunded, 0) - coalesce(l.ledger_refunded, 0), 2)::text as refunded,
  m.captured as "movedCaptured", m.refunded as "movedRefunded"
from account a
cross join lateral tieout.statement_lines($1, a.account_id, a.pull_id) with ordinality l
left join moved m on m.account_id = l.account_id and m.order_no = l.order_no
  and m.currency = l.currency
  and (l.gateway_captured is not null or l.gateway_refunded is not null)
-- the instruction that explains the line
left join lateral (
  select i.instruction_id, i.created_at from tieout.instructions i
  where l.item in ('due', 'held', 'refused', 'moved_later') and i.account_id = l.account_id
    and i.order_no = l.order_no
    and case l.item when 'refused' then i.is_refused and i.replan_id is null
      when 'moved_later' then i.state = 'confirmed' and i.operation in ('capture', 'refund')
      else i.is_open end
  order by i.instruction_id desc limit 1
) i on true
order by a.account_id, l.ordinality
