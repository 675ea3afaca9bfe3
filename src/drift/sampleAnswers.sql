-- The newest answers to batches of each account since it was looked at before, a few of each
-- operation; whoever approves after a run has its answers seen by the next.
-- $1 accounts, $2 run, $3 how many at most of each.
select newest.account_id as "accountId", newest.operation as answer, a.body
from unnest($1::text[]) as account (account_id)
left join lateral (
  select max(s.run_id) as run_id, max(s.looked_at) as looked_at
  from tieout.answer_shapes s where s.account_id = account.account_id and s.run_id < $2::bigint
) before on true
cross join lateral (
  select b.account_id, b.operation, n.attempt_id,
    row_number() over (partition by b.operation order by n.received_at desc) as place
  from tieout.batches b
  join tieout.attempts t using (batch_id)
  join tieout.answers n using (attempt_id)
  where b.account_id = account.account_id and b.run_id >= coalesce(before.run_id, $2::bigint)
    and n.received_at > coalesce(before.looked_at, '-infinity') and n.http_status = 200
) newest
join tieout.answers a using (attempt_id)
where newest.place <= $3::bigint
order by newest.account_id, newest.operation, a.received_at
