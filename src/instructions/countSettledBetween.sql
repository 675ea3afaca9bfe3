-- What is settled and in no night's figures counts in the run that adds up now, of every account
-- whose newest night it is: their figures are told anew, whichever of them it works on. $1 run.
-- People and `tieout send` settle between two runs, and what the gateway refuses or takes at once
-- is counted here alone; and a run that its process left, and that a later one covers, may have
-- settled more than it ever told of.
with account as (
  select ra.account_id from tieout.run_accounts ra
  where ra.run_id = $1::bigint and not exists (
    select from tieout.run_accounts later join tieout.runs r using (run_id)
    where later.account_id = ra.account_id and later.business_date > ra.business_date
      and not r.is_dry)
)
update tieout.instructions i set settled_run_id = $1
where i.account_id in (select account_id from account) and i.settled_at is not null and (
  i.settled_run_id is null
  or i.instruction_id in (
    select late.instruction_id
    from tieout.runs r
    cross join lateral (
      select max(w.last_instruction_event) as until from tieout.workings w
      where w.run_id = r.run_id and w.kind = 'total' and r.summary is not null
    ) told
    join tieout.instructions late on late.settled_run_id = r.run_id
    cross join lateral (
      select max(e.seq) as settled from tieout.instruction_events e
      where e.instruction_id = late.instruction_id
    ) last
    where r.state = 'failed' and not r.is_dry and r.run_id <> $1
      and (told.until is null or last.settled > told.until)))
