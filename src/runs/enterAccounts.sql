-- Enters accounts into a run; those already in it stay as they are. What is open before is taken
-- over from the newest earlier run. None where a database that was put back has no such run. $1
-- run, $2 its business date, $3 accounts [{account_id, merchant_id, live_from}].
with account as (
  select * from jsonb_to_recordset($3::jsonb)
    as a (account_id text, merchant_id text, live_from timestamptz)
),
earlier as (
  select distinct on (ra.account_id) ra.account_id, ra.open_after, ra.stake_after,
    ra.events_until
  from tieout.run_accounts ra join tieout.runs r using (run_id)
  where not r.is_dry and ra.run_id <> $1 and ra.business_date < $2::date
    and ra.events_until is not null
  order by ra.account_id, ra.business_date desc
)
insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state,
  open_before, stake_before, events_after)
select $1, a.account_id, $2::date, a.merchant_id, 'running',
  coalesce(e.open_after, '{}'), coalesce(e.stake_after, '{}'), coalesce(e.events_until, 0)
from account a left join earlier e using (account_id)
where exists (select from tieout.runs where run_id = $1)
on conflict (run_id, account_id) do update set state = 'running',
  merchant_id = excluded.merchant_id
