-- The night of a date, or the newest, with no more of its summary than the reader may see. $1 the
-- accounts of the reader, $2 date or null, $3 whether these are all accounts that
-- there are: such a reader is told all of it, also of those that the configuration does not name.
select r.run_id, r.business_date, r.state as run_state, r.created_at, r.finished_at, r.as_of,
  -- its words may name another account and its money
  case when $3 or tieout.sees_run($1, r.run_id) then r.failure end as failure,
  (select tieout.worst_state(array_agg(tieout.state_in_night(r.state, ra.state)))
    from tieout.run_accounts ra
    where ra.run_id = r.run_id and ra.account_id = any ($1)) as state,
  case when $3::boolean then r.summary
    else jsonb_set(jsonb_set(jsonb_set(r.summary, '{accounts}', coalesce((
      select jsonb_agg(one order by one ->> 'accountId')
      from jsonb_array_elements(r.summary -> 'accounts') one
      where one ->> 'accountId' = any ($1)), '[]')), '{notices}', coalesce((
      select jsonb_agg(one order by at)
      from jsonb_array_elements(r.summary -> 'notices') with ordinality told (one, at)
      where one ->> 'accountId' = any ($1)), '[]')), '{pull,failedPages}', (
      select to_jsonb(count(*)) from tieout.run_accounts ra
      join tieout.pages p using (pull_id, account_id)
      where ra.run_id = r.run_id and ra.account_id = any ($1) and p.state = 'failed'
        and p.page_no >= 0)) end as summary,
  -- who has each account of it by name is not told what is of none of them
  $3::boolean as is_whole
from tieout.runs r
where not r.is_dry and ($2::date is null or r.business_date = $2)
  and exists (select 1 from tieout.run_accounts ra
    where ra.run_id = r.run_id and ra.account_id = any ($1))
order by r.business_date desc limit 1
