-- Transactions that the run saw (movements_shown, of showTransactions.sql) and that the book does
-- not plainly agree with, each with what is booked of it: refunded ones, and those of which a
-- capture or refund made elsewhere is booked that is not just what is shown. $1 json [{account_id,
-- live_from}], $2 settlement.from, $3 cut-off, $4 timezone.
with account as materialized (
  select account_id collate "C" as account_id, live_from
  from jsonb_to_recordset($1::jsonb) as a (account_id text, live_from timestamptz)
),
doubtful as (
  select s.* from movements_shown s
  where s.state in ('partially_refunded', 'refunded')
    or exists (
      select from tieout.movements m
      where m.account_id = s.account_id and m.transaction_id = s.transaction_id
        and m.made = 'elsewhere' and not (s.state = 'captured' and m.kind = 'captured'
          and m.amount = s.amount and m.currency = s.currency
          and not exists (
            select from tieout.movement_amounts a where a.movement_id = m.movement_id)
          and not exists (
            select from tieout.movements ours
            where ours.account_id = m.account_id and ours.transaction_id = m.transaction_id
              and ours.kind = 'captured' and ours.made = 'here')))
)
select distinct on (d.account_id, d.transaction_id) d.account_id, d.order_no, d.transaction_id,
  d.state, d.currency, d.amount::text as amount,
  array(
    select distinct case i.operation when 'capture' then 'captured' else 'refunded' end
    from tieout.instructions i
    where i.account_id = d.account_id and i.order_no = d.order_no and i.is_open
      and i.operation in ('capture', 'refund')
      and i.state in ('sending', 'accepted', 'unknown')) as undecided,
  requested.amount::text as requested,
  coalesce(booked.movements, '[]') as booked,
  coalesce(coalesce(o.placed_at, d.transaction_at)
    < ($2::date + $3::time) at time zone $4, false) as is_old
from doubtful d
left join account on account.account_id = d.account_id
left join tieout.asked_orders o
  on o.pull_id = d.pull_id and o.account_id = d.account_id and o.order_no = d.order_no
cross join lateral (
  -- one that is no amount makes nothing known, nor do requests for another sum than went beside
  select case when d.state = 'partially_refunded' and bool_and(coalesce(
      r.refund_amount > 0 and r.refund_amount = round(r.refund_amount, 2)
        and r.refund_amount < 1e18, false))
      and coalesce(sum(r.refund_amount)
        = tieout.refunded_beside(d.account_id, d.transaction_id, d.pull_id), true)
      and coalesce(sum(r.refund_amount) < 1e18, true)
    then sum(r.refund_amount)::numeric(20, 2) else 0.00 end as amount
  from tieout.asked_refunds r
  where r.pull_id = d.pull_id and r.account_id = d.account_id and r.order_no = d.order_no
    and r.requested_at < account.live_from
    and not exists (
      select from tieout.instructions i
      where i.account_id = r.account_id and i.refund_id = r.refund_id
        and i.operation = 'refund' and i.state = 'confirmed')
) requested
cross join lateral (
  select jsonb_agg(jsonb_build_object('id', m.movement_id::text, 'kind', m.kind, 'made', m.made,
    'currency', m.currency, 'amount', m.amount::text) order by m.movement_id) as movements
  from tieout.movements_now m
  where m.account_id = d.account_id and m.transaction_id = d.transaction_id
) booked
order by d.account_id, d.transaction_id, d.order_no
