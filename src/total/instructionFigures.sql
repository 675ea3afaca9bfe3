-- In which state is each instruction that this run carried or created? $1 run, $2 why one is held
-- that no approval frees.
-- Carried: created in an earlier run, and settled in the figures of none before this one, which
-- counts what people settled since. Told by the numbers of runs: the clock of a host may be off.
with account as (
  select account_id from :run_accounts where run_id = $1::bigint
)
select account_id, operation, state, count(*) as count,
  count(*) filter (where state = 'held' and hold_reason = any ($2::text[])) as by_setting
from account
join :instructions i using (account_id)
where i.run_id = $1
  or (i.run_id < $1 and (i.settled_at is null or coalesce(i.settled_run_id, $1) >= $1))
group by account_id, operation, state
union all
select account_id, operation, 'carried', count(*), 0
from account
join :instructions i using (account_id)
where i.run_id < $1 and (i.settled_at is null or coalesce(i.settled_run_id, $1) >= $1)
group by account_id, operation
