-- Orders by a number that somebody has of them: their own, of a transaction that moved, of a
-- refund, or what the gateway calls the refund. $1 accounts, $2 the number in the cases in which
-- it may be spelled, $3 at most so many. Each way has an index.
with wanted as (
  select account_id, spelled from unnest($1::text[]) account_id, unnest($2::text[]) spelled
),
found as (
  select w.account_id, w.spelled as order_no, 'order' as by, 1 as rank from wanted w
  where exists (select from tieout.ledger_orders('{}', '{}', '') o
      where o.account_id = w.account_id and o.order_no = w.spelled)
    or exists (select from tieout.breaks b
      where b.account_id = w.account_id and b.order_no = w.spelled)
    or exists (select from tieout.instructions i
      where i.account_id = w.account_id and i.order_no = w.spelled)
  union all
  select i.account_id, i.order_no, 'transaction', 2 from tieout.instructions i
  where i.transaction_id = any ($2) and i.operation <> 'payout' and not i.is_void
  union all
  select w.account_id, m.order_no, 'transaction', 2 from wanted w
  join tieout.movements m on m.account_id = w.account_id and m.transaction_id = w.spelled
  union all
  select i.account_id, i.order_no, 'refund', 3 from tieout.instructions i
  where i.refund_id = any ($2) and i.operation = 'refund'
  union all
  select w.account_id, r.order_no::text, 'refund', 3 from wanted w
  join ledger.refund_requests r
    on r.account_id::text collate "C" = w.account_id
    and r.refund_id::text collate "C" = w.spelled and r.order_no is not null
  union all
  select i.account_id, i.order_no, 'refund_reference', 4 from tieout.instructions i
  where i.refund_reference = any ($2)
  union all
  select i.account_id, i.order_no, 'gateway_reference', 5 from tieout.instructions i
  where i.operation = 'refund' and i.gateway_reference = any ($2)
)
select account_id as "accountId", order_no as "orderNo", (array_agg(by order by rank))[1] as by
from found where account_id = any ($1)
group by account_id, order_no order by min(rank), account_id, order_no limit $3
