-- Refund requests that are not sent since gateway and ledger differ in their order, and the
-- tolerance or a waiver keeps that difference from being a break: nothing else would tell of them.
-- Of each order the oldest, and how many there are. Put below one another and grouped: joined, the
-- planner takes what was explained for one, and reads all requests for each. $1 run, $2 accounts as
-- json [{accountId, liveFrom}].
with account as (
  select "accountId" collate "C" as account_id, "liveFrom" as live_from
  from jsonb_to_recordset($2::jsonb) as a ("accountId" text, "liveFrom" timestamptz)
),
explained as materialized (
  select v.account_id, v.order_no, v.pull_id, v.ledger_currency as currency,
    v.kinds <@ array['amount_mismatch', 'currency_mismatch'] as is_money
  from tieout.verdicts v join account using (account_id)
  where v.run_id = $1::bigint and v.class = 'explained'
    and v.expected in ('captured', 'cancelled')
    and v.gateway_state in ('captured', 'partially_refunded')
    -- a waived one of these tells of the refund itself
    and not v.kinds && array['refund_mismatch', 'instruction_rejected', 'outcome_unknown']
),
request as materialized (
  select r.account_id, r.order_no, r.pull_id, r.refund_id, r.refund_amount, r.requested_at
  from (select distinct account_id, pull_id from explained) e
  join account a using (account_id)
  join tieout.asked_refunds r on r.pull_id = e.pull_id and r.account_id = e.account_id
    and r.requested_at >= a.live_from
  where not exists (
    select from tieout.instructions i
    where i.account_id = r.account_id and i.refund_id = r.refund_id and i.operation = 'refund'
      and i.state = 'confirmed' and not i.is_void)
)
select account_id as "accountId", order_no as "orderNo", count(refund_id)::int as requests,
  (array_agg(refund_id order by requested_at, refund_id)
    filter (where refund_id is not null))[1] as "refundId",
  (array_agg(refund_amount order by requested_at, refund_id)
    filter (where refund_id is not null))[1]::text as amount,
  max(currency) as currency, bool_and(is_money) as "isMoney"
from (
  select account_id, order_no, pull_id, currency, is_money, null as refund_id,
    null::numeric as refund_amount, null::timestamptz as requested_at
  from explained
  union all
  select account_id, order_no, pull_id, null, null, refund_id, refund_amount, requested_at
  from request
) both_of
group by account_id, order_no, pull_id
having bool_or(is_money is not null) and count(refund_id) > 0
order by min(requested_at), account_id, order_no
