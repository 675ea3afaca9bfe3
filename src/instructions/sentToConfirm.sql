-- What is to be looked at again before a run is told? $1 accounts, $2 time of the first snapshot,
-- $3 run. Accepted: always. A worker may send while the first snapshot is made, and the snapshot
-- shows the new state: the order matches plainly then, has no verdict, and its money would be in no
-- total.
select i.instruction_id
from tieout.instructions i
left join tieout.verdicts v
  on v.run_id = $3::bigint and v.account_id = i.account_id and v.order_no = i.order_no
where i.is_open and i.account_id = any ($1) and i.operation <> 'payout' and (
  i.state = 'accepted'
  or i.state = 'unknown' and (
    -- plainly matched, or judged as if it were about to go: nobody is told of it yet
    v.order_no is null or v.need is not null
    or exists (select from tieout.attempts t
      where t.batch_id = i.batch_id and t.claimed_at >= $2::timestamptz)))
union all
select i.instruction_id
from tieout.verdicts v
join tieout.instructions i on i.account_id = v.account_id and i.order_no = v.order_no
where v.run_id = $3 and v.account_id = any ($1) and i.state = 'rejected'
  and i.operation <> 'payout'
  and exists (select from tieout.attempts t
    where t.batch_id = i.batch_id and t.claimed_at >= $2)
order by instruction_id
