-- What the closings of settlementFigures.sql are made of, item by item, oldest first: movements
-- that are not settled to the cent, settled lines that are no movement's of theirs, payouts that
-- have not arrived. $1 accounts, $2 settlement.from, $3 cut-off, $4 timezone.
with since as (select ($2::date + $3::time) at time zone $4 as at),
told as (
  select t.movement_id, sum(l.amount) as amount
  from tieout.settlement_matches t
  join tieout.settlement_lines l using (settlement_line_id)
  join tieout.movements m using (movement_id)
  where m.account_id = any ($1) and l.currency = m.currency
  group by t.movement_id
),
item as (
  select 'atGateway' as book, m.account_id, m.currency,
    coalesce(case m.kind when 'captured' then m.amount else -m.amount end, 0)
      - coalesce(told.amount, 0) as amount,
    m.kind as what, m.order_no, m.transaction_id, null::text as batch, m.business_date as since,
    m.amount is null as suspense
  from tieout.movements_now m
  left join told using (movement_id)
  where m.account_id = any ($1) and not m.is_history and m.amount is distinct from 0
  union all
  select 'atGateway', l.account_id, l.currency, -l.amount, 'settled ' || l.type, l.order_no,
    l.transaction_id, l.batch, tieout.business_date_of(l.booked_at, $3::time, $4), false
  from tieout.settlement_lines l
  left join tieout.settlement_matches t using (settlement_line_id)
  left join tieout.movements m using (movement_id)
  cross join since
  where l.account_id = any ($1) and l.type in ('captured', 'refunded')
    and not coalesce(m.is_history, l.booked_at < since.at)
    and l.currency is distinct from case when m.movement_id is not null
      and exists (select from tieout.movements_now n
        where n.movement_id = m.movement_id and n.amount is distinct from 0)
      then m.currency end
  union all
  select 'bank', b.account_id, b.currency, b.payout, 'payout', null, null, b.batch,
    tieout.business_date_of(b.last_booked_at, $3::time, $4), false
  from tieout.settlement_batches b
  cross join since
  where b.account_id = any ($1) and tieout.is_in_books(b, since.at)
)
select book, account_id as "accountId", currency, round(amount, 2)::text as amount, what,
  order_no as "orderNo", transaction_id as "transactionId", batch, since::text as since, suspense
from item
where amount <> 0 or suspense
order by book, account_id, currency, since, order_no, batch
