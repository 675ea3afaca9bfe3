-- Refund requests that are not sent since gateway and ledger differ in their order's money, and the
-- tolerance or a waiver keeps that difference from being a break: nothing else would tell of them.
-- Of each order the oldest, and how many there are. $1 run, $2 accounts as json [{accountId,
-- liveFrom}].
select v.account_id as "accountId", v.order_no as "orderNo", count(*)::int as requests,
  (array_agg(r.refund_id order by r.requested_at, r.refund_id))[1] as "refundId",
  (array_agg(r.refund_amount order by r.requested_at, r.refund_id))[1]::text as amount,
  v.ledger_currency as currency
from jsonb_to_recordset($2::jsonb) as a ("accountId" text, "liveFrom" timestamptz)
join tieout.verdicts v on v.run_id = $1::bigint and v.account_id = a."accountId" collate "C"
  and v.class = 'explained' and v.expected in ('captured', 'cancelled')
  and v.gateway_state in ('captured', 'partially_refunded')
  -- a waived one of these tells of the refund itself
  and not v.kinds && array['refund_mismatch', 'instruction_rejected', 'outcome_unknown']
join tieout.asked_refunds r on r.pull_id = v.pull_id and r.account_id = v.account_id
  and r.order_no = v.order_no and r.requested_at >= a."liveFrom"
where not exists (
  select from tieout.instructions i
  where i.account_id = r.account_id and i.refund_id = r.refund_id and i.operation = 'refund'
    and i.state = 'confirmed' and not i.is_void)
group by v.account_id, v.order_no, v.ledger_currency
order by min(r.requested_at), v.account_id, v.order_no
