-- Subscriptions that a run's snapshot shows ended, and the account's snapshot before did not. One
-- row an account; codes are those that the profile of the night called ended. $1 run.
with code as (
  select w.account_id, array_agg(w.word) as words, ra.pull_id, before.pull_id as pull_before
  from tieout.gateway_words w
  join tieout.run_accounts ra using (run_id, account_id)
  left join lateral (
    select e.pull_id from tieout.run_accounts e join tieout.runs r using (run_id)
    where e.account_id = w.account_id and e.run_id < w.run_id and e.pull_id is not null
      and not r.is_dry
    order by e.run_id desc limit 1
  ) before on true
  where w.run_id = $1::bigint and w.field = 'recurring_status' and w.meaning = 'ended'
  group by w.account_id, ra.pull_id, before.pull_id
)
select c.account_id as "accountId", count(distinct e.order_no) as subscriptions,
  (array_agg(distinct e.order_no order by e.order_no))[1:5] as samples
from code c
join tieout.look_entries e on e.pull_id = c.pull_id and e.account_id = c.account_id
  and e.recurring_status = any (c.words)
  -- each half has an index of its own; without this line every run's snapshot would be read
  and (e.is_extra or not e.is_extra)
where not exists (
  select from tieout.look_entries p
  where p.pull_id = c.pull_before and p.account_id = e.account_id and p.order_no = e.order_no
    and p.recurring_status = any (c.words) and (p.is_extra or not p.is_extra)
)
group by c.account_id order by c.account_id
