-- Codes of a run that no earlier run of the account has shown, as `newCodes` answers them. One
-- without a meaning is told while the newest look that the account was compared with, or one made
-- since, shows it: a run that looks again keeps what its first look had, and its orders stop no
-- more. What an answer to a batch bore is of no look. $1 run.
with fresh as materialized (
  select w.account_id, w.field, w.word, w.meaning, w.samples, w.entries, w.money,
    w.meaning is null and w.field in ('payment_status', 'query_result', 'recurring_status')
      as is_looked_for
  from tieout.gateway_words w
  where w.run_id = $1
    and not exists (select from tieout.gateway_words e
      where e.account_id = w.account_id and e.field = w.field and e.word = w.word
        and e.run_id < w.run_id)
    and (w.meaning is null or exists (select from tieout.run_accounts a
      join tieout.runs r using (run_id)
      where a.account_id = w.account_id and a.run_id < w.run_id and not r.is_dry))
),
-- Each look once, and only where there is something to look for.
shown as materialized (
  select distinct e.account_id, code.field, left(code.word, 200) as word
  from tieout.run_accounts a
  join tieout.pulls p on p.run_id = a.run_id and p.pull_id >= a.pull_id
  join tieout.look_entries e on e.pull_id = p.pull_id and e.account_id = a.account_id
    -- each half has an index of its own; without this line neither is used
    and (e.is_extra or not e.is_extra)
  cross join lateral (values ('payment_status', e.payment_status),
    ('query_result', e.query_result), ('recurring_status', e.recurring_status)) code (field, word)
  where a.run_id = $1 and code.word is not null
    and a.account_id in (select account_id from fresh where is_looked_for)
)
select account_id as "accountId", field, word, meaning, samples, entries, money
from fresh
where not is_looked_for or (account_id, field, word) in (
  select account_id, field, word from shown)
order by meaning is not null, account_id, field, word
