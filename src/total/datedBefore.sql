-- Requests of payouts that came after an account's were noted first, and count as done by their
-- date: nothing was planned for them, and the gateway shows no payouts. Each is told by the run
-- that noted it, or by the next that comes to its figures. What a later liveFrom made history is
-- told by itself (becameHistory.sql). $1 run, $2 accounts as json [{account_id, live_from}], $3 how
-- many are named.
with account as (
  select own.account_id, a.live_from, coalesce(before.acted_from, a.live_from) as acted_from,
    coalesce(before.business_date, '-infinity') as told_until
  from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
  join tieout.run_accounts own
    on own.run_id = $1::bigint and own.account_id = a.account_id collate "C"
      -- of one that is only observed all are told together
      and own.send_block is distinct from 'observed'
  left join lateral (
    select b.acted_from, b.business_date from tieout.run_accounts b
    -- one that ended without its figures has told nothing
    join tieout.runs r on r.run_id = b.run_id and not r.is_dry and r.summary is not null
    where b.account_id = own.account_id and b.business_date < own.business_date
      and b.acted_from is not null
    order by b.business_date desc limit 1
  ) before on true
),
later as materialized (
  select a.*, b.request_id
  from account a
  join tieout.payouts_before b on b.account_id = a.account_id and b.came_later
  join tieout.runs noted on noted.run_id = b.run_id and noted.business_date > a.told_until
),
placed as (
  select l.account_id, l.live_from, l.request_id, min(p.requested_at) as requested_at,
    row_number() over (
      partition by l.account_id order by min(p.requested_at), l.request_id) as place
  from later l
  join tieout.ledger_payouts() p
    on p.account_id collate "C" = l.account_id and p.request_id collate "C" = l.request_id
      and p.requested_at < least(l.live_from, l.acted_from)
  where not exists (
    select from tieout.instructions i
    where i.operation = 'payout' and i.transaction_id = l.request_id
      and (i.account_id = l.account_id
        or i.state in ('sending', 'accepted', 'confirmed', 'unknown')))
  group by 1, 2, 3
)
select account_id, live_from, count(*) as requests,
  jsonb_agg(jsonb_build_object('requestId', request_id, 'is', requested_at) order by place)
    filter (where place <= $3::bigint) as samples
from placed group by account_id, live_from order by account_id
