-- Requests that count as done since a later liveFrom, though none of ours stands for them: by what
-- was in force before they would still have gone. Of an account without a run before (one that is
-- called otherwise since then, perhaps) what counts is how it was with those of the same merchant
-- that the run before had and the configuration has no more. $1 run, $2 accounts as json
-- [{account_id, live_from}], $3 the accounts of the configuration, $4 how many requests are named.
with before as materialized (
  select ra.account_id, ra.merchant_id, ra.acted_from, ra.business_date
  from tieout.run_accounts ra
  -- one that ended without its figures has told nothing
  join tieout.runs r on r.run_id = ra.run_id and not r.is_dry and r.summary is not null
  where ra.business_date < (select business_date from tieout.runs where run_id = $1::bigint)
    and ra.acted_from is not null
),
change as materialized (
  select a.account_id collate "C" as account_id, a.live_from, coalesce(
    (select b.acted_from from before b where b.account_id = a.account_id collate "C"
      order by b.business_date desc limit 1),
    (select min(b.acted_from) from before b
      where b.business_date = (select max(business_date) from before)
        and b.merchant_id = own.merchant_id and b.account_id <> all ($3::text[]))) as acted_from
  from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
  join tieout.run_accounts own
    on own.run_id = $1::bigint and own.account_id = a.account_id collate "C"
),
request as (
  select c.account_id, c.live_from, r.*
  from change c
  cross join lateral (
    select 'refund' as operation, r.refund_id collate "C" as request_id,
      r.order_no collate "C" as order_no, r.requested_at
    from tieout.ledger_refunds() r
    where r.account_id collate "C" = c.account_id
      and r.requested_at >= c.acted_from and r.requested_at < c.live_from
    union all
    select 'payout', p.request_id collate "C", null, p.requested_at
    from tieout.ledger_payouts() p
    where p.account_id collate "C" = c.account_id
      and p.requested_at >= c.acted_from and p.requested_at < c.live_from
    -- asked for each account by itself: most nights there is none, and nothing is read
    offset 0
  ) r
  where c.acted_from < c.live_from
),
loose as (
  select r.*, row_number() over (
    partition by r.account_id order by r.requested_at, r.request_id) as place
  from request r
  where not exists (
    select from tieout.instructions i
    where i.operation = r.operation
      and case i.operation when 'refund' then i.refund_id else i.transaction_id end = r.request_id
      -- what another account still has open is told with that account
      and (i.account_id = r.account_id
        or i.state in ('sending', 'accepted', 'confirmed', 'unknown')))
)
select account_id, live_from, count(*) as requests,
  jsonb_agg(jsonb_build_object('operation', operation, 'requestId', request_id, 'orderNo', order_no)
    order by place) filter (where place <= $4::bigint) as samples
from loose group by account_id, live_from order by account_id
