-- What was captured and refunded of accounts that the configuration does not name and no settlement
-- line came for, but for what somebody has waived: by account, with its money by currency. One look
-- into the index for each account, however many movements there are. $1 accounts of the
-- configuration.
with recursive known as (
  select min(account_id) as account_id from tieout.movements
  union all
  select (select min(m.account_id) from tieout.movements m where m.account_id > k.account_id)
  from known k where k.account_id is not null
),
of_currency as (
  select m.account_id, m.currency, count(*) as movements,
    count(*) filter (where m.amount is null) as suspense, min(m.business_date) as since,
    coalesce(sum(case m.kind when 'captured' then m.amount else -m.amount end), 0) as amount
  from known k
  join tieout.movements_now m on m.account_id = k.account_id
  join tieout.settlement_awaited w using (movement_id)
  where k.account_id <> all ($1::text[]) and not m.is_history and m.amount is distinct from 0
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
