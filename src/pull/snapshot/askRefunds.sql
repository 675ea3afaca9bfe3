-- The refund requests of the orders of a pull, as they stand now: the compare reads them here, so
-- that it can be done again from what it saw. One that cannot be used is no part of it: it is the
-- problem of its order. $1 pull, $2 to $5 of which orders ($10 to $13 of askLive.sql). A refund of
-- ours whose request the ledger has no more stands here without an amount: such an order never
-- matches by the fast match, and what was paid of it is not forgotten.
insert into :asked_refunds (pull_id, account_id, order_no, refund_id, refund_amount,
  requested_at)
select a.pull_id, a.account_id, a.order_no, r.refund_id collate "C", r.refund_amount,
  r.requested_at
from tieout.ledger_refunds() r
join :asked_orders a on a.pull_id = $1::bigint
  and a.account_id = r.account_id collate "C" and a.order_no = r.order_no collate "C"
where r.problem is null and ($2::text is null or a.account_id = $2 and a.order_no > $3::text)
  and ($4::text is null or a.account_id <> $4 or a.order_no <= $5::text)
union all
select a.pull_id, a.account_id, a.order_no, i.refund_id, null, null
from tieout.instructions i
join :asked_orders a on a.pull_id = $1
  and a.account_id = i.account_id and a.order_no = i.order_no
where i.operation = 'refund' and i.state = 'confirmed' and not i.is_void
  and ($2 is null or a.account_id = $2 and a.order_no > $3)
  and ($4 is null or a.account_id <> $4 or a.order_no <= $5)
  and not exists (
    select from tieout.ledger_refunds() r
    where r.account_id collate "C" = i.account_id and r.refund_id collate "C" = i.refund_id
      and r.order_no collate "C" = i.order_no)
