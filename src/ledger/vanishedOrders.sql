-- Orders that the newest snapshot found in the ledger and that are there no more, or were
-- gateway-only still awaited then: they are hinted at, so that this snapshot asks for them. Older
-- ones are left alone, since a ledger may forget what is final and past the look-back. Answers
-- their keys. $1 accounts, $2 start of the look-back, $3 time of the hint.
with newest as materialized (
  select distinct on (ra.account_id) ra.account_id, ra.run_id, ra.pull_id
  from tieout.run_accounts ra join tieout.runs r using (run_id)
  where ra.account_id = any ($1::text[]) and ra.pull_id is not null and not r.is_dry
  order by ra.account_id, ra.business_date desc
)
insert into tieout.look_hints (account_id, order_no, hinted_at)
select o.account_id, o.order_no, $3::timestamptz
from newest n
-- The offset keeps this a walk of one partition's index: joined as a whole, all snapshots would be
-- read.
cross join lateral (
  select * from tieout.asked_orders where pull_id = n.pull_id and account_id = n.account_id
  offset 0
) o
left join tieout.ledger_orders('{}', '{}', '') l
  on l.account_id collate "C" = o.account_id and l.order_no collate "C" = o.order_no
where l.account_id is null
  and case when o.in_ledger then o.placed_at >= $2::timestamptz or o.placed_at is null
      or not exists (select from tieout.final_orders f
        where f.account_id = o.account_id and f.order_no = o.order_no)
    else exists (select from tieout.verdicts v
      where v.run_id = n.run_id and v.account_id = o.account_id and v.order_no = o.order_no
        and (v.awaited or v.not_compared is not null)) end
on conflict (account_id, order_no) do nothing
returning account_id, order_no
