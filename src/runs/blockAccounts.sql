-- What forbids the sending of each account of a run, as runAccountsStore.ts explains it. $1 run, $2
-- its business date, $3 accounts [{account_id, merchant_id, live_from}], $4 now, $5 the days after
-- which a liveFrom without a history smells of a lost database. A run that looked before, and could
-- send then by the same liveFrom, is a history of its own when it is run again.
with account as (
  select * from jsonb_to_recordset($3::jsonb)
    as a (account_id text, merchant_id text, live_from timestamptz)
)
update tieout.run_accounts ra set send_block = case
  when a.live_from is null or a.live_from > $4 then 'observed'
  when a.live_from < $4::timestamptz - make_interval(days => $5)
    and not (ra.pull_id is not null and ra.send_block is null
      and tieout.is_history(ra, a.live_from))
    and not exists (
    select from tieout.run_accounts e join tieout.runs r using (run_id)
    where e.account_id = a.account_id and not r.is_dry and e.run_id <> $1
      and e.business_date < $2::date and tieout.is_history(e, a.live_from))
    then 'no_history' end
from account a
where ra.run_id = $1 and ra.account_id = a.account_id
