-- How many instructions of each account of a run were accepted and are in none of its complete
-- snapshots that began after they were sent? $1 run. A payout shows in no snapshot.
select i.account_id, count(*) as count
from :run_accounts account
join :instructions i using (account_id)
where account.run_id = $1::bigint and i.is_open and i.state = 'accepted'
  and i.operation <> 'payout'
  and not exists (
    select from :pulls l
    join :asked_orders a
      on a.pull_id = l.pull_id and a.account_id = i.account_id and a.order_no = i.order_no
    join :pages p
      on p.pull_id = l.pull_id and p.account_id = a.account_id and p.page_no = a.page_no
        and p.state = 'answered'
    where l.run_id = $1 and l.as_of > (
      select max(t.claimed_at) from :attempts t where t.batch_id = i.batch_id))
group by i.account_id
