-- The refund requests of the orders of a pull, as they stand now: the compare reads them here, so
-- that it can be done again from what it saw. $1 pull, $2 to $5 of which orders ($10 to $13 of
-- askNight.sql).
insert into tieout.asked_refunds (pull_id, account_id, order_no, refund_id, refund_amount,
  requested_at)
select a.pull_id, a.account_id, a.order_no, r.refund_id collate "C", r.refund_amount,
  r.requested_at
from ledger.refund_requests r
join tieout.asked_orders a on a.pull_id = $1::bigint
  and a.account_id = r.account_id collate "C" and a.order_no = r.order_no collate "C"
where ($2::text is null or a.account_id = $2 and a.order_no > $3::text)
  and ($4::text is null or a.account_id <> $4 or a.order_no <= $5::text)
