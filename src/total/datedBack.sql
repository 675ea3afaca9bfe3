-- Refund requests that count as done by their own date, which a look since the last night that told
-- its figures had younger: nothing of ours stands for them, and by the date they bore then they
-- would still have gone. What this run withdrew with them is told by itself
-- (instructions/withdrawnAsHistory.sql). $1 run, $2 accounts as json [{account_id, live_from}], $3
-- how many are named.
with account as (
  select own.account_id, own.pull_id, a.live_from
  from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
  join tieout.run_accounts own
    on own.run_id = $1::bigint and own.account_id = a.account_id collate "C"
),
dated_back as (
  select a.account_id, a.live_from, r.refund_id, r.order_no, r.requested_at,
    max(was.requested_at) as was_at
  from account a
  join tieout.asked_refunds r on r.pull_id = a.pull_id and r.account_id = a.account_id
    and r.requested_at < a.live_from
  join lateral tieout.younger_requests(a.account_id, a.live_from, a.pull_id) was
    on was.refund_id = r.refund_id
  where not exists (
    select from tieout.instructions i
    where i.account_id = r.account_id and i.refund_id = r.refund_id and i.operation = 'refund'
      and (i.state <> 'withdrawn' or i.settled_run_id = $1))
  group by 1, 2, 3, 4, 5
),
placed as (
  select *, row_number() over (partition by account_id order by requested_at, refund_id) as place
  from dated_back
)
select account_id, live_from, count(*) as requests,
  jsonb_agg(jsonb_build_object('requestId', refund_id, 'orderNo', order_no,
    'is', requested_at, 'was', was_at) order by place)
    filter (where place <= $3::bigint) as samples
from placed group by account_id, live_from order by account_id
