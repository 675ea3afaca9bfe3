-- Orders of which more went back than the ledger asks for, as far as is known here: by calls of a
-- person (`tieout gateway refund`), made or perhaps made, and by instructions. What an open or
-- waived break of the refunds tells already is left out. The newest call first, so many of each
-- account and how many more there are. $1 accounts, $2 limit.
with called as materialized (
  select c.account_id, e ->> 'order_no' as order_no, min(e ->> 'currency') as currency,
    max(c.at) as newest,
    sum(tieout.amount_called(e ->> 'refund_amount')) as by_hand
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  where c.account_id = any ($1::text[]) and c.operation = 'refund'
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and tieout.amount_called(e ->> 'refund_amount') is not null
    -- of one that was lost with a database nobody knows whether the gateway took it
    and not exists (select from tieout.lost_permits l where l.attempt_id = c.permit_id)
  group by 1, 2
)
select *, case when place = $2 then found - place else 0 end as more
from (
select c.account_id, c.order_no, c.currency, c.by_hand::text as by_hand,
  coalesce(ours.sum, 0)::numeric(20, 2)::text as ours,
  coalesce(asked.sum, 0)::numeric(20, 2)::text as asked,
  count(*) over (partition by c.account_id) as found,
  row_number() over (partition by c.account_id order by c.newest desc, c.order_no) as place
from called c
cross join lateral (
  select sum(i.refund_amount) as sum from tieout.instructions i
  where i.account_id = c.account_id and i.order_no = c.order_no and i.operation = 'refund'
    and i.state in ('sending', 'accepted', 'unknown', 'confirmed') and not i.is_void
) ours
cross join lateral (
  select sum(r.refund_amount) as sum from tieout.ledger_refunds() r
  where r.account_id collate "C" = c.account_id and r.order_no collate "C" = c.order_no
    and r.problem is null
) asked
where c.by_hand + coalesce(ours.sum, 0) > coalesce(asked.sum, 0) and not exists (
  select from tieout.breaks b
  where b.account_id = c.account_id and b.order_no = c.order_no
    and b.kind = 'refund_mismatch' and b.state <> 'resolved')
) told
where place <= $2
order by account_id, place
