-- What was captured and refunded of accounts and no settlement line came for, but for what somebody
-- has waived: by account, with its money by currency. $1 accounts.
with of_currency as (
  select m.account_id, m.currency, count(*) as movements,
    count(*) filter (where m.amount is null) as suspense, min(m.business_date) as since,
    coalesce(sum(case m.kind when 'captured' then m.amount else -m.amount end), 0) as amount
  from tieout.movements_now m
  join tieout.settlement_awaited w using (movement_id)
  where m.account_id = any ($1::text[]) and not m.is_history and m.amount is distinct from 0
    and not exists (select from tieout.settlement_unmatched u where u.told_of = m.movement_id)
    and not exists (select from tieout.breaks b
      where b.account_id = m.account_id and b.order_no = m.order_no and b.kind = 'not_settled'
        and b.state = 'waived')
  group by m.account_id, m.currency
)
select account_id as "accountId", sum(movements)::int as movements,
  sum(suspense)::int as suspense, min(since)::text as since,
  jsonb_agg(jsonb_build_object('currency', currency, 'amount', round(amount, 2)::text)
    order by currency) as money
from of_currency
group by account_id
order by account_id
