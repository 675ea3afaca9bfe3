-- openBefore + new + reopened - waived - resolved = openAfter, by account and kind: the events
-- since the run before, whoever caused them; of a run that has ended, up to its end. $1 run, $2
-- whether it has.
with account as (
  select account_id, open_before, open_after, events_after, events_until
  from :run_accounts where run_id = $1::bigint
),
before as (
  select account_id, key as kind, value::bigint as open_before
  from account, jsonb_each_text(open_before)
),
happened as (
  select b.account_id, b.kind,
    count(*) filter (where e.event = 'opened') as opened,
    count(*) filter (where e.event = 'reopened') as reopened,
    count(*) filter (where e.event = 'waived' and e.from_state = 'open') as waived,
    count(*) filter (where e.event = 'resolved' and e.from_state = 'open') as resolved
  from account a
  join :breaks b using (account_id)
  join :break_events e on e.break_id = b.break_id and e.event_id > a.events_after
    and (not $2::boolean or e.event_id <= a.events_until)
  group by b.account_id, b.kind
),
after as (
  select b.account_id, b.kind, count(*) as open_after
  from account join :breaks b using (account_id)
  where b.state = 'open' and not $2
  group by b.account_id, b.kind
  union all
  select account_id, key, value::bigint from account, jsonb_each_text(open_after) where $2
)
select account_id, kind, coalesce(open_before, 0) as open_before, coalesce(opened, 0) as opened,
  coalesce(reopened, 0) as reopened, coalesce(waived, 0) as waived,
  coalesce(resolved, 0) as resolved, coalesce(open_after, 0) as open_after
from before
full join happened using (account_id, kind)
full join after using (account_id, kind)
order by account_id, kind
