-- Where the sending of each account stands: its newest run, that run's block, canary and breaker,
-- and every brake that holds for it.
-- $1 accounts. One row an account.
-- Asked so often that its plan is kept: of a subselect the planner supposes the same number of
-- accounts whether it plans for these or for any.
select wanted.account_id, newest.run_id, newest.send_block, newest.sending,
  newest.canary_batch_id, newest.sending_reason, newest.environment,
  newest.settings_sha256,
  coalesce((
    select jsonb_agg(jsonb_build_object('kind', b.kind, 'account_id', b.account_id,
      'reason', b.reason, 'by', b.by, 'at', b.at) order by b.seq)
    from tieout.standing_brakes b
    where b.account_id is null or b.account_id = wanted.account_id
  ), '[]') as brakes
from unnest((select $1::text[])) as wanted (account_id)
left join lateral (
  select ra.*, r.environment, r.settings_sha256
  from tieout.run_accounts ra
  join tieout.runs r using (run_id)
  where ra.account_id = wanted.account_id collate "C" and not r.is_dry
  order by ra.business_date desc
  limit 1
) newest on true
order by wanted.account_id
