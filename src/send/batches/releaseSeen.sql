-- Accounts that the breaker stopped in their newest run begin again with a canary, where each entry
-- of which nobody could say what became of it has been seen to have happened: the gateway did its
-- work, and only its answers were lost. One that is not settled, or did not happen, keeps its
-- account stopped.
-- $1 accounts. One row an account that begins again, with what had stopped it.
with stopped as materialized (
  select ra.run_id, ra.account_id, ra.sending_reason
  from unnest($1::text[]) as wanted (account_id)
  cross join lateral (
    select newest.* from tieout.run_accounts newest join tieout.runs r using (run_id)
    where newest.account_id = wanted.account_id collate "C" and not r.is_dry
      and newest.merchant_id is not null
    order by newest.business_date desc limit 1
  ) ra
  where ra.sending = 'stopped'
),
-- also what was planned anew since, and is in another batch by now: the attempt names it
doubted as materialized (
  select distinct stopped.run_id, stopped.account_id, i.instruction_id, i.state
  from stopped
  join tieout.attempts t
    on t.sending_run_id = stopped.run_id and t.account_id = stopped.account_id
  cross join lateral jsonb_array_elements_text(t.entries) as entry (id)
  join tieout.instructions i on i.instruction_id = entry.id::bigint
  where t.outcome in ('answered', 'unanswered') and exists (
    select from tieout.instruction_events e
    where e.instruction_id = i.instruction_id
      and e.from_state = 'sending' and e.to_state = 'unknown')
),
seen as (
  select run_id, account_id from doubted
  group by run_id, account_id having bool_and(state = 'confirmed')
)
update tieout.run_accounts ra
set sending = 'untried', sending_reason = null, unclean_batches = 0
from seen join stopped using (run_id, account_id)
where ra.run_id = seen.run_id and ra.account_id = seen.account_id and ra.sending = 'stopped'
returning ra.account_id, stopped.sending_reason as reason
