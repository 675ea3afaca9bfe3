-- In which state is each instruction that this run carried or created? $1 run, $2 why one is held
-- that no approval frees.
-- Carried: created in an earlier run, and open when this one began, or settled by it or by a person
-- since the run before.
with account as (
  select account_id, created_at from :run_accounts
  join :runs using (run_id) where run_id = $1::bigint
)
select account_id, operation, state, count(*) as count,
  count(*) filter (where state = 'held' and hold_reason = any ($2::text[])) as by_setting
from account
join :instructions i using (account_id)
where i.run_id = $1
  or (i.run_id < $1 and (i.settled_at is null or i.settled_at >= account.created_at
    or i.settled_run_id = $1))
group by account_id, operation, state
union all
select account_id, operation, 'carried', count(*), 0
from account
join :instructions i using (account_id)
where i.run_id < $1 and (i.settled_at is null or i.settled_at >= account.created_at
    or i.settled_run_id = $1)
group by account_id, operation
