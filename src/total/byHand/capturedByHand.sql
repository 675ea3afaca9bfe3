-- Orders of which a person captured (`tieout gateway capture`) another amount than the ledger asks
-- for, as the gateway took it, or may have (an answer that took some of a call): where it goes on
-- showing the authorised amount, nothing else tells.
-- What an open or waived break of the amount tells already is left out. The newest call first, so
-- many of each account and how many more there are. $1 accounts, $2 limit.
with called as materialized (
  select c.account_id, e ->> 'order_no' as order_no, e ->> 'currency' as currency,
    max(c.at) as newest,
    -- one that was refused in a call of several is called once more: the two are no sum
    coalesce(sum(tieout.amount_called(e ->> 'amount')) filter (where c.outcome = 'accepted'),
      sum(tieout.amount_called(e ->> 'amount'))) as by_hand,
    bool_and(c.outcome = 'accepted') as is_sure
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  where c.account_id = any ($1::text[]) and c.operation = 'capture'
    and c.outcome in ('accepted', 'mixed')
    and tieout.amount_called(e ->> 'amount') is not null
  group by 1, 2, 3
)
select *, case when place = $2 then found - place else 0 end as more
from (
select c.account_id, c.order_no, c.currency, c.by_hand::text as by_hand, c.is_sure,
  asked.currency as asked_currency, asked.amount::text as asked,
  count(*) over (partition by c.account_id) as found,
  row_number() over (partition by c.account_id order by c.newest desc, c.order_no, c.currency)
    as place
from called c
cross join lateral (
  select l.currency, round(coalesce(l.capture_amount, l.amount), 2) as amount
  from tieout.ledger_orders('{}', '{}', '') l
  where l.account_id collate "C" = c.account_id and l.order_no collate "C" = c.order_no
    and l.expected = 'captured'
  -- a look into the index for each of the few, where a join would read the whole ledger
  offset 0
) asked
where asked.amount is not null
  and (asked.currency, asked.amount) is distinct from (c.currency, c.by_hand)
  -- what tieout captured afterwards had been refused
  and (c.is_sure or not exists (
    select from tieout.instructions i
    where i.account_id = c.account_id and i.order_no = c.order_no and i.operation = 'capture'
      and i.state = 'confirmed' and not i.is_void))
  and not exists (
    select from tieout.breaks b
    where b.account_id = c.account_id and b.order_no = c.order_no
      and b.kind in ('amount_mismatch', 'currency_mismatch') and b.state <> 'resolved')
) told
where place <= $2
order by account_id, place
