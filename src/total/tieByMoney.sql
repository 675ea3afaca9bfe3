-- openBefore + new + reopened - waived - resolved = openAfter in money, by account and currency:
-- what each break opened with, since the run before, whoever caused it; of a run that has ended, up
-- to its end. $1 run, $2 whether it has.
with account as (
  select account_id, stake_before, stake_after, events_after, events_until
  from :run_accounts where run_id = $1::bigint
),
before as (
  select account_id, key as currency, value::numeric as open_before
  from account, jsonb_each_text(stake_before)
),
happened as (
  select b.account_id, e.currency,
    sum(e.amount) filter (where e.event = 'opened') as opened,
    sum(e.amount) filter (where e.event = 'reopened') as reopened,
    sum(e.amount) filter (where e.event = 'waived' and e.from_state = 'open') as waived,
    sum(e.amount) filter (where e.event = 'resolved' and e.from_state = 'open') as resolved
  from account a
  join :breaks b using (account_id)
  join :break_events e on e.break_id = b.break_id and e.event_id > a.events_after
    and (not $2::boolean or e.event_id <= a.events_until)
  where e.currency is not null
  group by b.account_id, e.currency
),
after as (
  select b.account_id, b.currency, sum(b.amount) as open_after
  from account join :breaks b using (account_id)
  where b.state = 'open' and b.currency is not null and not $2
  group by b.account_id, b.currency
  union all
  select account_id, key, value::numeric from account, jsonb_each_text(stake_after) where $2
)
select account_id, currency, round(coalesce(open_before, 0), 2)::text as open_before,
  round(coalesce(opened, 0), 2)::text as opened,
  round(coalesce(reopened, 0), 2)::text as reopened,
  round(coalesce(waived, 0), 2)::text as waived,
  round(coalesce(resolved, 0), 2)::text as resolved,
  round(coalesce(open_after, 0), 2)::text as open_after
from before
full join happened using (account_id, currency)
full join after using (account_id, currency)
order by account_id, currency
